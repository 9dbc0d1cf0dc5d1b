//! The text notation: what it accepts, and where it says a fault is.

use tilefold_layout::{
    Basis, ComposedLayout, IntTuple, Layout, MAX_DEPTH, ParseError, Swizzle, Tiler,
};

fn fault<T: std::str::FromStr<Err = ParseError> + std::fmt::Debug>(text: &str) -> String {
    format!(
        "{text}\n  {}",
        text.parse::<T>().expect_err("the text is faulty")
    )
}

#[test]
fn faults_give_their_place() {
    let faults = [
        fault::<Layout>(""),
        fault::<Layout>("(4,8)"),
        fault::<Layout>("(4,8):"),
        fault::<Layout>("(4,8:(1,4)"),
        fault::<Layout>("(4,):(1)"),
        fault::<Layout>("():()"),
        fault::<Layout>("(4,8):(1,4) 7"),
        fault::<Layout>("4:99999999999999999999"),
        fault::<Layout>("(4,8):(1,x)"),
        fault::<Layout>("(4,8):(1)"),
        fault::<Layout>("(4,0):(1,4)"),
        fault::<ComposedLayout>("Sw<2,0 o 0 o 4:1"),
        fault::<ComposedLayout>("Sw<2,0,3> o 4:1"),
        fault::<ComposedLayout>("Sw<3,0,1> o 0 o 4:1"),
        fault::<Swizzle>("Sw<2,-1,3>"),
        fault::<Layout<Basis>>("(2,2):(1@,1@1)"),
        fault::<Layout<Basis>>("2:1@300"),
        fault::<Tiler>("<4:1, 8:>"),
        fault::<IntTuple>("(1,(2,3)"),
    ];
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn spaces_are_allowed() {
    let layout: Layout = " ( 4 , ( 2,2 ) ) : ( 2 , (1, 8) ) ".parse().unwrap();
    assert_eq!(layout.to_string(), "(4,(2,2)):(2,(1,8))");
    let composed: ComposedLayout = "Sw< 2, 0 ,3 >  o 0 o (8,8) : (8,1)".parse().unwrap();
    assert_eq!(composed.to_string(), "Sw<2,0,3> o 0 o (8,8):(8,1)");
}

#[test]
fn plain_layouts_print_plainly() {
    let composed: ComposedLayout = "(8,8):(8,1)".parse().unwrap();
    assert_eq!(composed.to_string(), "(8,8):(8,1)");
    let identity: ComposedLayout = "Sw<0,3,3> o 0 o (8,8):(8,1)".parse().unwrap();
    assert_eq!(identity.to_string(), "(8,8):(8,1)");
    let shifted: ComposedLayout = "Sw<0,4,3> o 7 o 4:1".parse().unwrap();
    assert_eq!(shifted.to_string(), "Sw<0,4,3> o 7 o 4:1");
    let nested: ComposedLayout = "(4,2):(2,1) o 1 o 4:1".parse().unwrap();
    assert_eq!(nested.to_string(), "(4,2):(2,1) o 1 o 4:1");
    assert_eq!(nested.at(3), 1);
}

#[test]
fn basis_strides_and_tilers_round_trip() {
    for text in [
        "(2,4):(1@1@1,1@0)",
        "(32,8,8,128):(1@0,8@1,1@1,32@0)",
        "4:2",
    ] {
        assert_eq!(text.parse::<Layout<Basis>>().unwrap().to_string(), text);
    }
    for text in ["<4:1, _>", "(2,4):(1,8)", "_", "<<2:1, 4:1>, 8:1>"] {
        assert_eq!(text.parse::<Tiler>().unwrap().to_string(), text);
    }
    assert_eq!("<4, 1>".parse::<Tiler>().unwrap().to_string(), "<4:1, 1:0>");
}

/// Deep and long input ends in an answer, not in a stack overflow or a wait.
#[test]
fn hostile_sizes_are_met() {
    let deep = |n: usize| {
        format!(
            "{}4{}:{}1{}",
            "(".repeat(n),
            ")".repeat(n),
            "(".repeat(n),
            ")".repeat(n)
        )
    };
    assert!(deep(MAX_DEPTH).parse::<Layout>().is_ok());
    let error = deep(MAX_DEPTH + 1).parse::<Layout>().unwrap_err();
    assert_eq!(error.offset(), Some(MAX_DEPTH));
    assert!(deep(1_000_000).parse::<ComposedLayout>().is_err());
    assert!("<".repeat(1_000_000).parse::<Tiler>().is_err());
    let wide = |leaf: &str| format!("({})", vec![leaf; 200_000].join(","));
    let layout: Layout = format!("{}:{}", wide("1"), wide("0")).parse().unwrap();
    assert_eq!(layout.rank(), 200_000);
    assert_eq!(layout.coalesce().to_string(), "1:0");
}

#[test]
fn serde_uses_the_text() {
    let layout: ComposedLayout =
        serde_json::from_str("\"Sw<3,3,3> o 0 o (128,64):(64,1)\"").unwrap();
    assert_eq!(
        serde_json::to_string(&layout).unwrap(),
        "\"Sw<3,3,3> o 0 o (128,64):(64,1)\""
    );
    let error = serde_json::from_str::<Layout>("\"(4,8\"").unwrap_err();
    assert!(
        error
            .to_string()
            .contains("at byte 4: expected `,` or `)`, found the end"),
        "{error}"
    );
}
