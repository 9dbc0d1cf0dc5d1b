//! Expressions: what they evaluate to, how they fail, and a long random run.

mod random;

use tilefold_layout::expr::{FUNCTIONS, evaluate};

fn value(text: &str) -> String {
    evaluate(text).map_or_else(|e| panic!("{text}: {e}"), |v| v.to_string())
}

#[test]
fn expressions_have_values() {
    let cases = [
        ("logical_divide((12,8):(8,1), 4:1)", "(4,(3,8)):(8,(32,1))"),
        (
            "zipped_divide((12,8):(8,1), <4, 2>)",
            "((4,2),(3,4)):((8,1),(32,2))",
        ),
        (
            "composition((6,2):(8,2), (4,3):(3,1))",
            "((2,2),3):((24,2),8)",
        ),
        (
            "composition(Sw<3,3,3>, (8,64):(64,1))",
            "Sw<3,3,3> o 0 o (8,64):(64,1)",
        ),
        (
            "composition((8,8):(8,1), Sw<2,0,-3> o 0 o (8,8):(8,1))",
            "Sw<2,0,3> o 0 o (8,8):(1,8)",
        ),
        ("composition((4,8):(8,1), (2,2):(1@1,1@0))", "(2,2):(1,8)"),
        ("complement(4:1, 24)", "6:4"),
        ("complement((4,6):(1,4))", "1:0"),
        ("right_inverse((4,8):(8,1))", "(8,4):(4,1)"),
        ("size(coalesce((2,(1,6)):(1,(6,2))))", "12"),
        ("coalesce((2,(1,6)):(1,(6,2)), (1,1))", "(2,6):(1,2)"),
        ("at((4,(2,3)):(3,(12,1)), (1,5))", "17"),
        ("at(Sw<3,0,3>, 9)", "8"),
        ("at((4,4):(1@0,1@1), 6)", "(2,1)"),
        ("idx2crd(17, (4,(2,3)))", "(1,(0,2))"),
        ("slice((4,(2,3)):(3,(12,1)), (2,_))", "((2,3)):((12,1))"),
        (
            "slice(Sw<2,0,3> o 0 o (8,8):(8,1), (3,_))",
            "Sw<2,0,3> o 24 o (8):(1)",
        ),
        ("make_layout(4:1, (2,2):(4,8))", "(4,(2,2)):(1,(4,8))"),
        ("make_layout((4,8))", "(4,8):(1,4)"),
        ("make_layout((4,8), (8,1))", "(4,8):(8,1)"),
        (
            "make_layout_tv((4,64):(64,1), (4,8):(8,1))",
            "tile (16,512), (thread,value) ((64,4),(8,4)):((128,4),(16,1))",
        ),
        (
            "make_ordered_layout((2,2,2,2), (0,2,3,1))",
            "(2,2,2,2):(1,4,8,2)",
        ),
        (
            "tile_to_shape(Sw<2,0,3> o 0 o (8,8):(8,1), (16,8))",
            "Sw<2,0,3> o 0 o ((8,2),(8,1)):((8,64),(1,0))",
        ),
        ("recognise((0,8,1,9,2,10))", "(2,3):(8,1)"),
        ("table((2,2):(2,1))", "[0, 2, 1, 3]"),
        ("<4:1, _, 8>", "<4:1, _, 8:1>"),
        ("composition(Sw<1,4,3>, Sw<1,3,3>)", "Sw<2,3,3>"),
        ("right_inverse((16,N):(1,16))", "16*N:1"),
        ("coalesce((4,(N/2,1)):(1,(4,7)))", "2*N:1"),
        ("logical_divide((8,N/4):(1,8), 4:1)", "(4,N/2):(1,4)"),
        (
            "composition((4096,8192):(1,4096), (32,N/8,8,128):(1@0,8@1,1@1,32@0))",
            "(32,N/8,8,128):(1,32768,4096,32)",
        ),
        ("max_common_vector((4,8):(8,1), (4,8):(8,1))", "32"),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn faults_are_explained() {
    let deep = format!("{}4:1{}", "coalesce(".repeat(100_000), ")".repeat(100_000));
    let cases = [
        "",
        "size(",
        "size(4:1",
        "size(4:1))",
        "sise(4:1)",
        "size()",
        "size(4:1, 2)",
        "size((2,_))",
        "coalesce(Sw<3,3,3>)",
        "mode(4:1, -1)",
        "complement(4:1, 99999999999999999999)",
        "(4,_):(1,4)",
        "(4,8):(1@0,1) o 0 o 4:1",
        "left_inverse((2,3):(3,4))",
        "right_inverse((N,16):(16,1))",
        "left_inverse((16,N):(1,16))",
        "composition((8,8):(1,100), N:1)",
        "at(4:1, (N,2))",
        "logical_divide((12,8):(8,1), <5:2, ?>)",
        "zipped_divide((12,8):(8,1), <4, (2,2)>)",
        "table((1024,1024):(1,1024))",
    ];
    let fault = |text: &str| evaluate(text).expect_err(text).to_string();
    let mut faults: Vec<String> = cases
        .iter()
        .map(|text| format!("{text}\n  {}", fault(text)))
        .collect();
    faults.push(format!("coalesce( x 100000\n  {}", fault(&deep)));
    insta::assert_snapshot!(faults.join("\n"));
}

#[test]
fn values_are_drawn() {
    let drawn = |text: &str| evaluate(text).unwrap().drawing();
    let tile = drawn("make_layout_tv((2,2):(2,1), (1,2):(2,1))")
        .unwrap()
        .unwrap();
    assert_eq!(tile.text_at(1, 3), Some("T3 V1"));
    assert_eq!(
        drawn("(4,8):(8,1)").unwrap().unwrap().text_at(3, 7),
        Some("31")
    );
    assert!(drawn("size(4:1)").is_none());
    assert!(drawn("(4096,4096):(1,4096)").unwrap().is_err());
}

#[test]
fn functions_are_sorted_and_described() {
    assert!(FUNCTIONS.windows(2).all(|w| w[0].name < w[1].name));
    for function in FUNCTIONS {
        assert!(
            function.usage.starts_with(function.name),
            "{}",
            function.usage
        );
        assert!(function.usage.contains("): "), "{}", function.usage);
    }
}
