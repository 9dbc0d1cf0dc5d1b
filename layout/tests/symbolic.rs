//! Symbolic extents: whatever an operation answers holds for every value of the name.

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use tilefold_layout::symbolic::{Extent, SymLayout, Symbol};
use tilefold_layout::{Basis, Layout, Nest, Rule, Tiler};

fn sym(text: &str) -> SymLayout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn plain(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The right side of a composition has a symbolic extent.
#[test]
fn composition_with_a_symbolic_extent() {
    let a = sym("(4096,8192):(1,4096)");
    let b: SymLayout<Basis> = "(32,N/8,8,128):(1@0,8@1,1@1,32@0)".parse().unwrap();
    let c = a.compose(&b).unwrap();
    assert_eq!(c.to_string(), "(32,N/8,8,128):(1,32768,4096,32)");
    let bound = c.bind("N", 64).unwrap().to_static().unwrap();
    let direct = plain("(4096,8192):(1,4096)");
    let direct = direct
        .compose(&b.bind("N", 64).unwrap().to_static().unwrap())
        .unwrap();
    assert_eq!(bound, direct);
}

#[test]
fn right_inverse_with_a_symbolic_extent() {
    assert_eq!(
        sym("(16,N):(1,16)").right_inverse().unwrap().to_string(),
        "16*N:1"
    );
    assert_eq!(
        sym("(16,N):(1,32)").right_inverse().unwrap().to_string(),
        "16:1"
    );
    assert_eq!(
        sym("(4,8,N):(8,1,32)").right_inverse().unwrap().to_string(),
        "(8,4,N):(4,1,32)"
    );
    let error = sym("(N,16):(16,1)").right_inverse().unwrap_err();
    assert!(
        matches!(&error.rule, Rule::NeedsStatic { extent, .. } if &**extent == "N"),
        "{error}"
    );
    assert_eq!(error.mode.unwrap().0, [0]);
}

#[test]
fn divides_need_divisibility() {
    let n = Symbol::new("N").unwrap().multiple_of(64).unwrap();
    let a = SymLayout::<i64>::parse("(N,128):(128,1)", std::slice::from_ref(&n)).unwrap();
    let divided = a.divide_mode(0, &plain("64:1")).unwrap();
    assert_eq!(divided.to_string(), "((64,N/64),128):((128,8192),1)");
    let refused = a.divide_mode(0, &plain("128:1")).unwrap_err();
    assert_eq!(
        refused.rule,
        Rule::NeedsMultiple {
            extent: "N".into(),
            divisor: 128
        }
    );
    assert_eq!(refused.mode.as_ref().unwrap().0, [0]);
    let whole = SymLayout::<i64>::parse("(16,N):(1,16)", &[n]).unwrap();
    let divided = whole.logical_divide(plain("(4,8):(1,16)")).unwrap();
    assert_eq!(divided.to_string(), "((4,8),(4,N/8)):((1,16),(4,128))");
}

/// Divides mode by mode leave the name where it is, in each arrangement of tiles and rests.
#[test]
fn divides_go_by_mode() {
    let n = Symbol::new("N").unwrap().multiple_of(64).unwrap();
    let a = SymLayout::<i64>::parse("(128,N):(1,128)", &[n]).unwrap();
    let tiler: Tiler = "<32, 64>".parse().unwrap();
    let text = |divided: tilefold_layout::Result<SymLayout>| divided.unwrap().to_string();
    assert_eq!(
        text(a.logical_divide(&tiler)),
        "((32,4),(64,N/64)):((1,32),(128,8192))"
    );
    assert_eq!(
        text(a.zipped_divide(&tiler)),
        "((32,64),(4,N/64)):((1,128),(32,8192))"
    );
    assert_eq!(
        text(a.tiled_divide(&tiler)),
        "((32,64),4,N/64):((1,128),32,8192)"
    );
    assert_eq!(
        text(a.flat_divide(&tiler)),
        "(32,64,4,N/64):(1,128,32,8192)"
    );
    assert_eq!(text(a.compose_by(&tiler)), "(32,64):(1,128)");
    let left: Tiler = "<32, _>".parse().unwrap();
    assert_eq!(text(a.compose_by(&left)), "(32,N):(1,128)");
    assert_eq!(text(a.logical_divide(&left)), "((32,4),N):((1,32),128)");
    // A mode that the tiler does not reach is a rest.
    let rows: Tiler = "<32>".parse().unwrap();
    assert_eq!(text(a.zipped_divide(&rows)), "((32),(4,N)):((1),(32,128))");
    let error = a.zipped_divide(&left).unwrap_err();
    assert_eq!(
        (error.rule, error.mode.unwrap().0),
        (Rule::NothingToZip, vec![1])
    );
    let wide: Tiler = "<32, 128>".parse().unwrap();
    let error = a.flat_divide(&wide).unwrap_err();
    assert_eq!(
        error.to_string(),
        "flat_divide((128,N):(1,128), <32:1, 128:1>): mode 1: N would have to be known as a \
         multiple of 128"
    );
}

/// The mode named is that of the layout as given, not of its simplest form.
#[test]
fn faults_name_the_mode_of_the_name() {
    let a = sym("((2,2),1,(N,3),16):((16,32),7,(64,1),1)");
    let error = a.right_inverse().unwrap_err();
    assert_eq!(error.mode.unwrap().0, [2, 0]);
    let error = a.logical_divide(plain("24:1")).unwrap_err();
    assert!(
        matches!(&error.rule, Rule::NeedsMultiple { extent, divisor: 24 } if &**extent == "4*N"),
        "{error}"
    );
    assert_eq!(error.mode.unwrap().0, [2, 0]);
    let error = sym("(2,N,4,M):(1,2,64,1024)")
        .logical_divide(plain("2:1"))
        .unwrap_err();
    assert!(
        matches!(&error.rule, Rule::NeedsStatic { extent, .. } if &**extent == "M"),
        "{error}"
    );
    assert_eq!(error.mode.unwrap().0, [3]);
}

#[test]
fn names_are_bound_within_what_is_known() {
    let n = Symbol::new("N")
        .unwrap()
        .multiple_of(8)
        .unwrap()
        .within(16, Some(64))
        .unwrap();
    let a = SymLayout::<i64>::parse("(4,N/8):(1,4)", &[n]).unwrap();
    assert_eq!(a.bind("N", 32).unwrap().to_string(), "(4,4):(1,4)");
    for wrong in [8, 20, 72] {
        let error = a.bind("N", wrong).unwrap_err();
        assert_eq!(
            error.rule,
            Rule::SymbolValue {
                symbol: "N".into(),
                value: wrong
            }
        );
    }
    assert!(a.to_static().is_err());
    assert!(SymLayout::<i64>::parse("N/8:1", &[Symbol::new("N").unwrap()]).is_err());
    let implied = sym("(N/8,M):(1,3)");
    assert!(implied.bind("N", 12).is_err());
    assert_eq!(implied.bind("N", 16).unwrap().to_string(), "(2,M):(1,3)");
    for text in ["(4,):(1,1)", "4*:1", "N/0:1", "(4,N:1", "0*N:1", "N"] {
        assert!(text.parse::<SymLayout>().is_err(), "{text}");
    }
}

/// A range alone can decide: at most 8 rows stay within a mode of 8.
#[test]
fn ranges_keep_a_mode_whole() {
    let a = sym("(8,8):(1,100)");
    let few = SymLayout::parse(
        "N:1",
        &[Symbol::new("N").unwrap().within(1, Some(8)).unwrap()],
    )
    .unwrap();
    assert_eq!(a.compose::<i64>(&few).unwrap().to_string(), "N:1");
    let many = SymLayout::parse("N:1", &[Symbol::new("N").unwrap()]).unwrap();
    let error = a.compose::<i64>(&many).unwrap_err();
    assert_eq!(
        error.rule,
        Rule::NeedsMultiple {
            extent: "N".into(),
            divisor: 8
        }
    );
    let left: SymLayout = SymLayout::parse("(N,8):(1,100)", &[Symbol::new("N").unwrap()]).unwrap();
    let error = left.compose(&sym("4:2")).unwrap_err();
    assert!(matches!(error.rule, Rule::NeedsStatic { .. }), "{error}");
}

/// A flat layout of up to three modes, of which one may be `factor * N / over`.
fn layout() -> impl Strategy<Value = SymLayout> {
    let extent = prop_oneof![
        4 => prop::sample::select(vec![1i64, 2, 3, 4, 8, 16]).prop_map(Extent::Static),
        1 => (prop::sample::select(vec![1i64, 2, 3]), prop::sample::select(vec![1i64, 2, 4, 8]))
            .prop_map(|(times, over)| {
                let n = Extent::from(Symbol::new("N").unwrap().multiple_of(8).unwrap());
                n.times(times).and_then(|n| n.divided(over)).expect("8 is a multiple of it")
            }),
    ];
    let stride = prop::sample::select(vec![0i64, 1, 2, 3, 4, 8, 12, 16, 32, 64, -1]);
    prop::collection::vec((extent, stride), 1..4).prop_map(|modes| {
        let (n, d) = modes
            .into_iter()
            .map(|(n, d)| (Nest::Int(n), Nest::Int(d)))
            .unzip();
        SymLayout::new(Nest::Tuple(n), Nest::Tuple(d)).expect("small layouts are valid")
    })
}

fn at(layout: &SymLayout, n: i64) -> Layout {
    layout.bind("N", n).unwrap().to_static().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(0),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn answers_hold_for_every_value(a in layout(), b in layout()) {
        let composed = a.compose(&b);
        let coalesced = a.coalesce().unwrap();
        let inverse = a.right_inverse();
        for n in [8, 16, 24, 40] {
            let (pa, pb) = (at(&a, n), at(&b, n));
            let c = at(&coalesced, n);
            prop_assert_eq!(c.size(), pa.size());
            prop_assert!((0..pa.size()).all(|i| c.at(i) == pa.at(i)), "{} as {}", a, coalesced);
            if let Ok(composed) = &composed {
                let c = at(composed, n);
                prop_assert_eq!(c.size(), pb.size());
                prop_assert!(
                    (0..pb.size()).all(|i| c.at(i) == pa.at(pb.at(i))),
                    "{} o {} = {} with N = {}", a, b, composed, n
                );
            }
            if let Ok(inverse) = &inverse {
                let r = at(inverse, n);
                prop_assert!((0..r.size()).all(|i| pa.at(r.at(i)) == i));
            }
        }
    }

    /// Division agrees with the plain one for every value.
    #[test]
    fn divides_hold_for_every_value(a in layout(), t in layout()) {
        let Ok(tile) = t.to_static() else { return Ok(()) };
        // Cut as one, the name is divided or refused alike in each arrangement.
        let zipped = a.zipped_divide(&tile);
        prop_assert_eq!(a.logical_divide(&tile).ok(), zipped.clone().ok());
        prop_assert_eq!(a.tiled_divide(&tile).is_ok(), zipped.is_ok());
        let Ok(divided) = zipped else { return Ok(()) };
        for n in [8, 16, 24] {
            let d = at(&divided, n);
            let plain = at(&a, n).logical_divide(&tile);
            if let Ok(plain) = plain {
                prop_assert_eq!(d.size(), plain.size(), "{} by {}", a, tile);
                prop_assert!((0..d.size()).all(|i| d.at(i) == plain.at(i)), "{} by {}", a, tile);
            }
        }
    }
}

fn extent(text: &str) -> Extent {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Factors and divisors cancel, and what is known bounds what may be taken.
#[test]
fn extents_know_their_multiples_and_bounds() {
    assert_eq!(extent("4*N").divided(2).unwrap().to_string(), "2*N");
    assert_eq!(extent("N/8").times(8).unwrap().to_string(), "N");
    assert_eq!(extent("N/8").times(4).unwrap().to_string(), "N/2");
    assert!(!extent("N/8").is_multiple_of(2) && extent("2*N/8").is_multiple_of(1));
    // Of 2*N/4 it follows that N is even, not that 4 divides it.
    let even = sym("(2*N/4,3):(1,5)");
    assert_eq!(even.bind("N", 2).unwrap(), sym("(1,3):(1,5)"));
    assert!(even.bind("N", 3).is_err());
    let n = Symbol::new("N").unwrap().multiple_of(8).unwrap();
    let n = n.within(9, Some(30)).unwrap();
    assert_eq!((n.min(), n.max()), (16, Some(24)));
    let low = Symbol::new("N").unwrap().within(-5, None).unwrap();
    assert_eq!((low.min(), low.takes(0), low.takes(1)), (1, false, true));
    let nothing = "0*N:1".parse::<SymLayout>();
    let rule = Rule::PositiveExtent { extent: 0 };
    assert!(matches!(nothing, Err(tilefold_layout::ParseError::Rule(e)) if e.rule == rule));
}

/// What is known of a name at one place is known at all.
#[test]
fn knowledge_of_a_name_is_shared() {
    let known = |multiple, min, max| {
        let n = Symbol::new("N").unwrap().multiple_of(multiple).unwrap();
        Nest::Int(Extent::from(n.within(min, Some(max)).unwrap()))
    };
    let shape = vec![known(4, 1, 100), known(6, 20, 200), known(2, 2, 90)];
    let stride = [1, 1000, 1_000_000].map(Nest::Int).to_vec();
    let layout = SymLayout::new(Nest::Tuple(shape), Nest::Tuple(stride)).unwrap();
    for (extent, _) in layout.flat_modes() {
        let n = extent.symbol().unwrap();
        assert_eq!((n.multiple(), n.min(), n.max()), (12, 24, Some(84)));
    }
}

/// A symbolic mode is the last of an inverse, and the last mode of a left operand goes on.
#[test]
fn last_modes_are_last() {
    let inverse = sym("(4,N,2):(1,4,4)").right_inverse().unwrap();
    assert_eq!(inverse.to_string(), "4*N:1");
    let inverse = sym("(N,2):(1,1)").right_inverse().unwrap();
    assert_eq!(inverse.to_string(), "N:1");
    let composed = sym("(4,1):(1,8)").compose(&sym("4*N:1")).unwrap();
    assert_eq!(composed.to_string(), "(4,N):(1,8)");
}

/// Compositions and divides are refused where the plain ones are.
#[test]
fn refusals_are_those_of_plain_layouts() {
    for (left, right) in [
        ("(4,N):(1,8)", "(2,2):(-2,-2)"),
        ("(4,N):(1,8)", "(2,2):(-1,4)"),
        ("(4,4):(1,8)", "(2,N):(-1,4)"),
    ] {
        let error = sym(left).compose(&sym(right)).unwrap_err();
        assert!(matches!(error.rule, Rule::Carry { .. }), "{error}");
    }
    let a = sym("(4,N):(1,4)");
    let wide: Tiler = "<2, 1, 2>".parse().unwrap();
    let rule = Rule::TooManyModes { found: 3, rank: 2 };
    for refused in [
        a.logical_divide(&wide),
        a.zipped_divide(&wide),
        a.compose_by(&wide),
    ] {
        assert_eq!(refused.unwrap_err().rule, rule);
    }
    let error = sym("(6,N):(1,7)")
        .logical_divide(plain("(2,4):(1,4)"))
        .unwrap_err();
    assert_eq!(error.mode.as_ref().unwrap().0, [1], "{error}");
}
