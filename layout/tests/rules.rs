//! Every rule is broken by some operation, and the error names the mode and shows the operands.

use tilefold_layout::symbolic::{Extent, SymLayout, Symbol};
use tilefold_layout::{
    Basis, ComposedLayout, CopyAtom, IntTuple, Layout, LayoutError, MAX_DEPTH, Nest, Rule,
    SliceCoord, Swizzle, Tiler, domain_distribute, draw::Drawing, make_layout, make_layout_tv,
    max_common_layout, zip,
};

fn l(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn basis(text: &str) -> Layout<Basis> {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn sw(text: &str) -> ComposedLayout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn tiler(text: &str) -> Tiler {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn tuple(text: &str) -> IntTuple {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn coord(text: &str) -> SliceCoord {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn sym(text: &str) -> SymLayout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn name() -> Symbol {
    Symbol::new("N").unwrap()
}

fn refusal<T: std::fmt::Debug>(result: Result<T, LayoutError>) -> LayoutError {
    result.expect_err("the operands break a rule")
}

/// A layout of text that is well formed and breaks a rule.
fn unread(text: &str) -> LayoutError {
    match text.parse::<Layout>() {
        Err(tilefold_layout::ParseError::Rule(error)) => error,
        other => panic!("{text}: {other:?}"),
    }
}

/// One refusal, and the mode and the operands that it names.
struct Case {
    error: LayoutError,
    mode: &'static [usize],
    shown: [&'static str; 2],
}

fn case(
    error: LayoutError,
    mode: &'static [usize],
    left: &'static str,
    right: &'static str,
) -> Case {
    let shown = [left, right];
    Case { error, mode, shown }
}

/// The cases of each rule. The match has no wildcard, so that a new rule needs cases to compile.
macro_rules! rules {
    ($($rule:ident { $($error:expr, $mode:expr, $left:expr, $right:expr;)+ })+) => {
        fn name_of(rule: &Rule) -> &'static str {
            match rule {
                $(Rule::$rule { .. } => stringify!($rule),)+
            }
        }

        fn cases() -> Vec<(&'static str, Vec<Case>)> {
            vec![$((stringify!($rule), vec![$(case($error, &$mode, $left, $right)),+])),+]
        }
    };
}

rules! {
    Congruence {
        unread("(4,8):1"), [], "(4,8)", "1";
        unread("(4,(2,2)):(1,4)"), [1], "(4,(2,2))", "(1,4)";
        unread("(4,(2,(3,3))):(1,(4,(8,8,8)))"), [1, 1], "(4,(2,(3,3)))", "(1,(4,(8,8,8)))";
    }
    PositiveExtent {
        unread("(0,4):(1,1)"), [0], "(0,4)", "(1,1)";
        unread("(4,(2,-1)):(1,(4,8))"), [1, 1], "(4,(2,-1))", "(1,(4,8))";
        refusal(l("4:1").complement(0)), [], "4:1", "0";
        refusal(l("4:1").complement_shape(&tuple("(4,(2,0))"))), [1, 1], "4:1", "(4,(2,0))";
        refusal(domain_distribute(&tuple("(4,0)"), 4)), [1], "(4,0)", "4";
        refusal(CopyAtom::per_lane(0)), [1], "(1,0)", "(0,1)";
    }
    EmptyTuple {
        refusal(make_layout::<i64>(&[])), [], "()", "()";
        refusal(Layout::row_major(&[])), [], "()", "()";
        refusal(l("(4,8):(1,4)").select(&[])), [], "(4,8):(1,4)", "[]";
        refusal(l("(4,8):(1,4)").zipped_divide(Tiler::Modes(vec![]))), [], "(4,8):(1,4)", "<>";
    }
    Depth {
        refusal(nested(MAX_DEPTH + 1)), [0; MAX_DEPTH + 1], "(...)", "(...)";
    }
    Overflow {
        unread("(4294967296,4294967296):(1,1)"), [], "(4294967296,4294967296)", "(1,1)";
        refusal(l("2:4611686018427387903").at_coord(&5.into())), [], "2:4611686018427387903", "5";
        refusal(l("(2,2):(1,4611686018427387903)").at_coord(&tuple("(1,3)"))), [1],
            "(2,2):(1,4611686018427387903)", "(1,3)";
        refusal(l("(4,8):(1,3037000500)").compose(&l("(2,2):(1,37000000000)"))), [1],
            "(4,8):(1,3037000500)", "(2,2):(1,37000000000)";
        refusal(l("(2,2):(1,4611686018427387904)").complement(8)), [1],
            "(2,2):(1,4611686018427387904)", "8";
        refusal(l("4611686018427387904:1").logical_product(l("4:1"))), [],
            "4611686018427387904:1", "4:1";
        refusal(l("(2,4):(1,3037000500)").downcast(3037000500)), [1],
            "(2,4):(1,3037000500)", "3037000500";
        refusal(sym("(4,N):(1,4)").bind("N", 4611686018427387904)), [], "(4,4611686018427387904)",
            "(1,4)";
    }
    StrideDivisibility {
        refusal(l("(6,4):(1,7)").compose(&l("(2,4):(1,4)"))), [1], "(6,4):(1,7)", "(2,4):(1,4)";
        refusal(l("((6,4),8):((1,7),50)").compose_by(&tiler("<(2,4):(1,4), 2:1>"))), [0, 1],
            "((6,4),8):((1,7),50)", "<(2,4):(1,4), 2:1>";
        refusal(l("(8,(6,4)):(50,(1,7))").logical_divide(tiler("<4, (2,4):(1,4)>"))), [1, 1],
            "(8,(6,4)):(50,(1,7))", "<4:1, (2,4):(1,4)>";
        refusal(sym("(6,N):(1,7)").compose(&sym("(2,4):(1,4)"))), [1], "(6,N):(1,7)", "(2,4):(1,4)";
        refusal(max_common_layout(&l("(6,4):(1,7)"), &l("(4,4):(4,1)"))), [], "(6,4):(1,7)",
            "(4,4):(4,1)";
    }
    ShapeDivisibility {
        refusal(l("(4,6):(1,10)").compose(&l("6:1"))), [], "(4,6):(1,10)", "6:1";
        refusal(l("(4,6):(1,10)").with_shape(tuple("((6,2),2)"))), [0, 0], "(4,6):(1,10)",
            "((6,2),2)";
        refusal(sw("Sw<2,0,3> o 0 o (4,6):(1,10)").compose(&l("(1,6):(0,1)"))), [1],
            "Sw<2,0,3> o 0 o (4,6):(1,10)", "(1,6):(0,1)";
    }
    Carry {
        refusal(l("(4,4):(1,8)").compose(&l("(2,2):(2,2)"))), [1], "(4,4):(1,8)", "(2,2):(2,2)";
        refusal(l("(4,4):(1,8)").compose(&l("(4,(2,2)):(4,(2,3))"))), [1, 1], "(4,4):(1,8)",
            "(4,(2,2)):(4,(2,3))";
        refusal(l("(4,4):(1,8)").compose(&l("(2,2):(-1,4)"))), [1], "(4,4):(1,8)", "(2,2):(-1,4)";
        refusal(sym("(4,N):(1,8)").compose(&sym("(2,2):(2,2)"))), [1], "(4,N):(1,8)", "(2,2):(2,2)";
    }
    Injective {
        refusal(l("(2,2):(1,1)").complement(8)), [1], "(2,2):(1,1)", "8";
        refusal(l("(4,(2,3)):(1,(2,64))").complement(64)), [1, 0], "(4,(2,3)):(1,(2,64))", "64";
        refusal(l("(4,(2,3)):(1,(2,64))").complement_self()), [1, 0], "(4,(2,3)):(1,(2,64))",
            "134";
        refusal(l("(8,8):(1,8)").zipped_divide(tiler("<4, ((2,2),2):((1,2),3)>"))), [1, 1],
            "(8,8):(1,8)", "<4:1, ((2,2),2):((1,2),3)>";
        refusal(l("(8,(4,2)):(1,(8,9))").tiled_product(tiler("<2, 2>"))), [1, 1],
            "(8,(4,2)):(1,(8,9))", "<2:1, 2:1>";
    }
    NonNegativeStride {
        refusal(l("(4,(2,3)):(1,(-8,64))").complement(64)), [1, 0], "(4,(2,3)):(1,(-8,64))", "64";
        refusal(l("(2,4):(1,-2)").left_inverse()), [1], "(2,4):(1,-2)", "";
        refusal(l("(4,(2,2)):(8,(4,-2))").upcast(4)), [1, 1], "(4,(2,2)):(8,(4,-2))", "4";
    }
    LeftInverseDivisibility {
        refusal(l("(2,3):(3,4)").left_inverse()), [1], "(2,3):(3,4)", "";
        refusal(l("(2,(3,2)):(9,(1,4))").left_inverse()), [0], "(2,(3,2)):(9,(1,4))", "";
        refusal(sw("Sw<1,0,3> o 0 o (2,3):(3,4)").left_inverse()), [1],
            "Sw<1,0,3> o 0 o (2,3):(3,4)", "";
    }
    Invertible {
        refusal(l("(4,2,2):(1,2,16)").left_inverse()), [1], "(4,2,2):(1,2,16)", "";
        refusal(sw("Sw<2,0,3> o 1 o (4,8):(1,4)").right_inverse()), [],
            "Sw<2,0,3> o 1 o (4,8):(1,4)", "";
    }
    TooManyModes {
        refusal(l("(4,8):(1,4)").coalesce_by(&tuple("(1,1,1)"))), [], "(4,8):(1,4)", "(1,1,1)";
        refusal(l("(4,(8,2)):(1,(4,32))").filter_by(&tuple("(1,(1,1,1))"))), [1],
            "(4,(8,2)):(1,(4,32))", "(1,(1,1,1))";
        refusal(l("(4,8):(1,4)").compose_by(&tiler("<2, <2, 2>>"))), [1], "(4,8):(1,4)",
            "<2:1, <2:1, 2:1>>";
        refusal(l("(4,8):(1,4)").flat_divide(tiler("<2, 2, 2>"))), [], "(4,8):(1,4)",
            "<2:1, 2:1, 2:1>";
        refusal(l("(4,8):(1,4)").divide_evenly(tiler("<2, <2, 2>>"))), [1], "(4,8):(1,4)",
            "<2:1, <2:1, 2:1>>";
        refusal(l("(4,8):(1,4)").logical_product(tiler("<2, 2, 2>"))), [], "(4,8):(1,4)",
            "<2:1, 2:1, 2:1>";
    }
    Rank {
        refusal(l("(4,(2,3)):(1,(4,8))").slice(&coord("(_,(1))"))), [1], "(4,(2,3)):(1,(4,8))",
            "(_,(1))";
        refusal(l("(4,(2,3)):(1,(4,8))").dice(&coord("(1,(_))"))), [1], "(4,(2,3)):(1,(4,8))",
            "(1,(_))";
        refusal(l("(4,(2,3)):(1,(4,8))").at_coord(&tuple("(1,(2,3,4))"))), [1],
            "(4,(2,3)):(1,(4,8))", "(1,(2,3,4))";
        refusal(sw("Sw<2,0,3> o 0 o (4,8):(1,4)").at_coord(&tuple("(1,2,3)"))), [],
            "Sw<2,0,3> o 0 o (4,8):(1,4)", "(1,2,3)";
        refusal(l("(4,4):(4,1)").tile_to_shape(&8.into(), None)), [], "(4,4):(4,1)", "8";
        refusal(zip(&l("(4,4):(4,1)"), &l("4:1"))), [], "(4,4):(4,1)", "4:1";
    }
    NoSuchModes {
        refusal(l("(4,8):(1,4)").group(1..1)), [1], "(4,8):(1,4)", "1..1";
        refusal(sw("Sw<1,0,3> o 0 o (4,8):(1,4)").map_inner(|inner| inner.group(1..3))), [1],
            "Sw<1,0,3> o 0 o (4,8):(1,4)", "1..3";
    }
    NoSuchMode {
        refusal(l("(4,8):(1,4)").mode(2)), [2], "(4,8):(1,4)", "2";
        refusal(l("(4,8):(1,4)").select(&[0, 3])), [3], "(4,8):(1,4)", "[0, 3]";
        refusal(l("(4,4):(1,8)").compose(&basis("(2,2):(1@0,1@2)"))), [1], "(4,4):(1,8)",
            "(2,2):(1@0,1@2)";
        refusal(sym("(4,N):(1,4)").divide_mode(2, &l("4:1"))), [2], "(4,N):(1,4)", "4:1";
    }
    NothingToZip {
        refusal(l("(4,8):(1,4)").zipped_divide(tiler("<2, _>"))), [1], "(4,8):(1,4)", "<2:1, _>";
        refusal(l("(4,8):(1,4)").hier_unzip_product(tiler("<_>"))), [0], "(4,8):(1,4)", "<_>";
    }
    Divisibility {
        refusal(l("(12,8):(8,1)").divide_evenly(tiler("<4, 3>"))), [1], "(12,8):(8,1)",
            "<4:1, 3:1>";
        refusal(l("(4,8):(1,3)").upcast(2)), [1], "(4,8):(1,3)", "2";
        refusal(sw("Sw<1,2,3> o 2 o 4:4").upcast(4)), [], "Sw<1,2,3> o 2 o 4:4", "4";
        refusal(l("(4,4):(4,1)").tile_to_shape(&[8, 6].into(), None)), [1], "(4,4):(4,1)", "(8,6)";
    }
    SwizzleFields {
        refusal(Swizzle::new(3, 0, 2)), [], "Sw<3,0,2>", "";
        refusal(sw("Sw<3,50,9> o 0 o 4:1").downcast(8)), [], "Sw<3,50,9> o 0 o 4:1", "8";
    }
    Swizzle {
        refusal(Swizzle::new(2, 1, 3).unwrap().upcast(4)), [], "Sw<2,1,3>", "4";
        refusal(sw("Sw<2,1,3> o 0 o 4:4").upcast(4)), [], "Sw<2,1,3> o 0 o 4:4", "4";
        refusal(Swizzle::new(2, 1, 3).unwrap().compose(Swizzle::new(2, 1, 4).unwrap())), [],
            "Sw<2,1,3>", "Sw<2,1,4>";
        refusal(Swizzle::from_masks(0b101, 0b110)), [], "0b101", "0b110";
        refusal(sw("Sw<1,3,-3> o 0 o (2,(2,4)):(8,(4,1))").right_inverse()), [],
            "Sw<1,3,-3> o 0 o (2,(2,4)):(8,(4,1))", "";
        refusal(l("(3,8):(8,1)").compose_swizzled(&sw("Sw<1,0,3> o 0 o (3,8):(1,3)"))), [],
            "(3,8):(8,1)", "Sw<1,0,3> o 0 o (3,8):(1,3)";
    }
    PositiveFactor {
        refusal(l("(4,8):(1,4)").upcast(0)), [], "(4,8):(1,4)", "0";
        refusal(sw("Sw<1,0,3> o 0 o (4,8):(1,4)").downcast(-1)), [],
            "Sw<1,0,3> o 0 o (4,8):(1,4)", "-1";
        refusal(domain_distribute(&[4, 4].into(), 0)), [], "(4,4)", "0";
        refusal(name().multiple_of(0)), [], "N", "";
    }
    AdjacentElements {
        refusal(l("(4,8):(2,8)").downcast(2)), [], "(4,8):(2,8)", "2";
        refusal(l("(4,(2,2)):(1,(4,1))").downcast(2)), [1, 1], "(4,(2,2)):(1,(4,1))", "2";
        refusal(l("(4,2):(-1,4)").downcast(2)), [0], "(4,2):(-1,4)", "2";
    }
    OutOfRange {
        refusal(tilefold_layout::TiledCopy::over(
            CopyAtom::per_lane(1).unwrap(), vec![4, 4], l("(4,4):(1,5)"))), [],
            "(1,1):(0,1) -> (1,1):(0,1)", "(4,4):(1,5)";
    }
    TooLarge {
        refusal(Drawing::offsets(l("(1024,1024):(1,1024)"))), [], "(1024,1024):(1,1024)", "";
    }
    NeedsStatic {
        refusal(sym("(N,16):(16,1)").right_inverse()), [0], "(N,16):(16,1)", "";
        refusal(sym("(N,16):(16,1)").compose(&sym("(2,2):(1,4)"))), [0], "(N,16):(16,1)",
            "(2,2):(1,4)";
    }
    NeedsMultiple {
        refusal(sym("(4,N):(1,8)").compose(&sym("(2,M):(4,1)"))), [1], "(4,N):(1,8)",
            "(2,M):(4,1)";
        refusal(sym("(4,(N,2)):(1,(8,4))").divide_mode(1, &l("8:1"))), [1, 0],
            "(4,(N,2)):(1,(8,4))", "8:1";
    }
    SymbolValue {
        refusal(sym("(4,N/8):(1,4)").bind("N", 12)), [1], "(4,N/8):(1,4)", "N = 12";
    }
    SymbolRange {
        refusal(name().multiple_of(8).unwrap().within(9, Some(15))), [], "N", "";
        refusal(name().multiple_of(i64::MAX).unwrap().multiple_of(2)), [], "N", "";
        refusal(contradiction()), [1], "(N,N)", "(1,8)";
    }
    SymbolName {
        refusal(Symbol::new("2N")), [], "2N", "";
    }
    Unsupported {
        refusal(sym("(4,(2,N)):(1,(4,8))").to_static()), [1, 1], "(4,(2,N)):(1,(4,8))", "";
        refusal(sym("(N,4):(1,4)").plain_for("complement")), [0], "(N,4):(1,4)", "";
    }
    OrderProfile {
        refusal(Layout::ordered([4, 4], &[0, 1, 2].into())), [], "(4,4)", "(0,1,2)";
        refusal(l("(4,4):(4,1)").tile_to_shape(&[8, 8].into(), Some(&tuple("(0,1,2)")))), [],
            "(4,4):(4,1)", "(8,8)";
    }
    Mismatch {
        refusal(make_layout_tv(&l("4:2"), &l("2:1"))), [], "4:2", "2:1";
        refusal(basis("(2,2):(1@0,1@0@0)").coord_at(3)), [], "(2,2):(1@0,1@0@0)", "";
        refusal(l("(4,(2,3)):(1,(4,8))").divide_evenly(tiler("<(2,2):(1,3)>"))), [0],
            "(4,(2,3)):(1,(4,8))", "<(2,2):(1,3)>";
        refusal(l("(4,(2,4)):(8,(1,1))").upcast(4)), [1, 1], "(4,(2,4)):(8,(1,1))", "4";
        refusal(CopyAtom::new(l("(4,2):(1,4)"), l("(2,4):(1,2)"), tilefold_layout::Side::Source)),
            [0], "(4,2):(1,4)", "(2,4):(1,2)";
    }
}

/// `4:1` in this many parentheses.
fn nested(depth: usize) -> Result<Layout, LayoutError> {
    let wrap = |n: i64| (0..depth).fold(Nest::Int(n), |nest, _| Nest::Tuple(vec![nest]));
    Layout::new(wrap(4), wrap(1))
}

/// One name that is at most 4 in one place and at least 8 in another.
fn contradiction() -> Result<SymLayout, LayoutError> {
    let few = Extent::from(name().within(1, Some(4)).unwrap());
    let many = Extent::from(name().within(8, None).unwrap());
    let shape = Nest::Tuple(vec![Nest::Int(few), Nest::Int(many)]);
    SymLayout::new(shape, tuple("(1,8)"))
}

#[test]
fn every_rule_is_explained() {
    let mut messages = Vec::new();
    let mut wrong = Vec::new();
    for (rule, cases) in cases() {
        for Case { error, mode, shown } in cases {
            let found = error.mode.clone().unwrap_or_default().0;
            let same = name_of(&error.rule) == rule
                && found == mode
                && [&*error.left, &*error.right] == shown;
            if !same {
                wrong.push(format!("{rule} {mode:?} {shown:?}, but {error}"));
            }
            // Whoever reads the message alone sees the operands too.
            assert!(
                shown.iter().all(|text| error.to_string().contains(text)),
                "{error}"
            );
            messages.push(error.to_string());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    insta::assert_snapshot!(messages.join("\n"));
}
