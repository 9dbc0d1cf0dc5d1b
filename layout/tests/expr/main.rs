//! Expressions: what they evaluate to, how they fail, and a long random run.

mod generate;
mod oracle;
mod random;

use tilefold_layout::expr::{FUNCTIONS, Value, evaluate, evaluate_with};

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
fn coordinates_are_layouts_too() {
    let cases = [
        ("size((4,8):(1@0,1@1))", "32"),
        ("cosize((4,8):(2@0,-1@1))", "(7,8)"),
        ("depth((4,(2,3)):(1@0,(1@1,2@1)))", "2"),
        ("coalesce((2,4):(1@0,2@0))", "8:1@0"),
        (
            "coalesce(((2,4),3):((1@0,2@0),1@1), (1,1))",
            "(8,3):(1@0,1@1)",
        ),
        (
            "slice((4,(2,3)):(1@0,(1@1,2@1)), (2,_))",
            "((2,3)):((1@1,2@1))",
        ),
        ("dice((4,(2,3)):(1@0,(1@1,2@1)), (2,_))", "(4):(1@0)"),
        ("upcast((8,4):(1@0,1@1), 4, 0)", "(2,4):(1@0,1@1)"),
        ("composition((8,8):(1@0,1@1), <4, 2>)", "(4,2):(1@0,1@1)"),
        ("composition((8,8):(1@0,1@1), 16:1)", "(8,2):(1@0,1@1)"),
        (
            "make_identity_layout((4,(2,2)))",
            "(4,(2,2)):(1@0,(1@0@1,1@1@1))",
        ),
        (
            "zipped_divide(make_identity_layout((8,8)), <4, 2>)",
            "((4,2),(2,4)):((1@0,1@1),(4@0,2@1))",
        ),
        (
            "at(make_identity_layout((4,(2,2))), (3,(1,0)))",
            "(3,(1,0))",
        ),
        ("table((2,2):(1@0,1@1))", "[(0,0), (1,0), (0,1), (1,1)]"),
        ("nullspace((4,8):(0@0,1@1))", "4:1"),
        ("filter((4,8):(0@0,1@1))", "8:1@1"),
        ("filter_zeros((4,8):(0@0,1@1))", "(1,8):(0@0,1@1)"),
        ("make_layout(4:1@0, 2:3)", "(4,2):(1@0,3)"),
        (
            "group((2,2,2):(1@0,1@1,1@2), 1, 3)",
            "(2,(2,2)):(1@0,(1@1,1@2))",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

#[test]
fn profiles_swizzles_and_shapes() {
    let cases = [
        (
            "filter_zeros((4,(2,3)):(1,(4,8)), (0,(1,0)))",
            "(1,(2,1)):(1,(4,8))",
        ),
        (
            "filter_zeros((4,(2,3)):(1,(4,8)), (1,0))",
            "(4,(1,1)):(1,(4,8))",
        ),
        ("filter_zeros((4,(2,3)):(1,(0,8)))", "(4,(1,3)):(1,(0,8))"),
        ("right_inverse(Sw<2,0,3>)", "Sw<2,0,3>"),
        ("upcast(Sw<2,3,3>, 4)", "Sw<2,1,3>"),
        ("downcast(Sw<2,1,3>, 4)", "Sw<2,3,3>"),
        (
            "composition(Sw<1,4,3>, Sw<1,3,3> o 8 o (8,64):(64,1))",
            "Sw<2,3,3> o 8 o (8,64):(64,1)",
        ),
        ("select((2,3,4):(1,2,6), (2,0))", "(4,2):(6,1)"),
        ("pad(4:1, 3)", "(4,1,1):(1,0,0)"),
        ("size((4,(2,3)))", "24"),
        ("rank((16,N):(1,16))", "2"),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

/// Names that are close to each other, where their answers differ.
#[test]
fn each_name_has_its_own_function() {
    let nested = "(4,(2,3)):(1,(100,8))";
    let b = "(2,2):(1,2)";
    let cases = [
        ("get_1d_coord((4,8):(8,1), 9)", "5"),
        ("get_flat_coord((4,(2,3)):(1,(4,8)), 13)", "(1,3)"),
        ("get_hier_coord((4,(2,3)):(1,(4,8)), 13)", "(1,(1,1))"),
        (
            &format!("make_layout_like({nested})"),
            "(4,(2,3)):(1,(12,4))",
        ),
        (&format!("flatten({nested})"), "(4,2,3):(1,100,8)"),
        (&format!("dice({nested}, (_,2))"), "((2,3)):((100,8))"),
        (&format!("slice({nested}, (_,2))"), "(4):(1)"),
        ("filter((4,(1,3)):(1,(2,0)))", "4:1"),
        ("filter_zeros((4,(1,3)):(1,(2,0)))", "(4,(1,1)):(1,(2,0))"),
        ("make_layout_left((4,2))", "(4,2):(1,4)"),
        ("make_layout_right((4,2))", "(4,2):(2,1)"),
        (
            &format!("logical_product((2,4):(4,1), {b})"),
            "((2,4),(2,2)):((4,1),(8,16))",
        ),
        (
            &format!("blocked_product((2,4):(4,1), {b})"),
            "((2,2),(4,2)):((4,8),(1,16))",
        ),
        (
            &format!("raked_product((2,4):(4,1), {b})"),
            "((2,2),(2,4)):((8,4),(16,1))",
        ),
        (
            "zipped_product((2,4):(4,1), <2,3>)",
            "((2,4),(2,3)):((4,1),(1,4))",
        ),
        (
            "tiled_product((2,4):(4,1), <2,3>)",
            "((2,4),2,3):((4,1),1,4)",
        ),
        ("flat_product((2,4):(4,1), <2,3>)", "(2,4,2,3):(4,1,1,4)"),
        (
            "zip((2,3):(1,2), (4,5):(6,24))",
            "((2,4),(3,5)):((1,6),(2,24))",
        ),
        ("max_common_layout(4:1, 8:1)", "8:1"),
        ("max_common_layout(8:1, 4:1)", "4:1"),
        ("max_common_vector(4:1, 8:1)", "8"),
        ("make_ordered_layout((2,3), (1,0))", "(2,3):(3,1)"),
        ("idx2crd(13, (4,(2,3)))", "(1,(1,1))"),
        ("domain_distribute((4,6), 8)", "8:1"),
        ("complement((4,2):(1,8), (2,16))", "(2,2):(4,16)"),
    ];
    for (text, expected) in cases {
        assert_eq!(value(text), expected, "{text}");
    }
}

/// An instruction on 4 x 8 x 4 tiles by 8 lanes whose operands differ in their values.
#[test]
fn operands_are_not_mixed_up() {
    let mma = "tiled_mma(mma_atom((4,8,4), ((4,2),2):((1,4),8), (8,4):(1,8), \
               ((4,2),4):((1,16),4)))";
    let copy = "tiled_copy(copy_atom((8,2):(2,1), (8,2):(1,8), 1), (2,8):(8,1), (2,1):(1,2))";
    let cases = [
        (
            format!("layout_a({mma})"),
            "tile (4,4), (thread,value) (((4,2),1),(2,1,1)):(((1,4),0),(8,0,0))",
        ),
        (
            format!("layout_b({mma})"),
            "tile (8,4), (thread,value) ((8,1),(4,1,1)):((1,0),(8,0,0))",
        ),
        (
            format!("layout_c({mma})"),
            "tile (4,8), (thread,value) (((4,2),1),(4,1,1)):(((1,16),0),(4,0,0))",
        ),
        (format!("fragment_a({mma}, (8,4))"), "(2,2,1):(1,2,0)"),
        (format!("fragment_b({mma}, (16,4))"), "(4,2,1):(1,4,0)"),
        (format!("fragment_c({mma}, (8,16))"), "(4,2,2):(1,4,8)"),
        (
            format!("partition_a({mma}, (8,4):(1,8))"),
            "(((4,2),1),2,2,1):(((1,8),0),16,4,0)",
        ),
        (
            format!("partition_b({mma}, (8,4):(1,8))"),
            "((8,1),4,1,1):((1,0),8,0,0)",
        ),
        (
            format!("partition_c({mma}, (4,8):(1,4))"),
            "(((4,2),1),4,1,1):(((1,16),0),4,0,0)",
        ),
        (format!("tile(tiled_copy_a({mma}, copy_atom(1)))"), "(4,4)"),
        (format!("tile(tiled_copy_b({mma}, copy_atom(1)))"), "(8,4)"),
        (format!("tile(tiled_copy_c({mma}, copy_atom(1)))"), "(4,8)"),
        (
            format!("partition_source({copy}, (4,8):(1,4))"),
            "((4,4),(2,1),1,1):((8,1),(4,0),0,0)",
        ),
        (
            format!("partition_destination({copy}, (4,8):(1,4))"),
            "((8,2),(2,1),1,1):((4,2),(1,0),0,0)",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(value(&text), expected, "{text}");
    }
}

/// A made-up instruction on 4 x 4 x 2 tiles by 8 lanes.
const ATOM: &str =
    "mma_atom((4,4,2), ((4,2),2):((1,0),4), ((4,2),2):((1,0),4), ((4,2),2):((4,2),1))";

#[test]
fn copies_and_multiplications_of_atoms() {
    let copy = "tiled_copy(copy_atom(8), (16,8):(8,1), (1,8):(8,1))";
    let mma = format!("tiled_mma({ATOM}, (2,2):(1,2))");
    let cases = [
        ("copy_atom(8)".to_string(), "(1,8):(0,1) -> (1,8):(0,1)"),
        (format!("tile({copy})"), "(16,64)"),
        (
            format!("partition_source({copy}, (64,64):(64,1))"),
            "((8,16),(8,1),4,1):((8,64),(1,0),1024,0)",
        ),
        (
            format!("retile({copy}, (8,4,1):(1,8,0))"),
            "((8,1),4,1):((1,0),8,0)",
        ),
        (format!("tile({mma})"), "(8,8,2)"),
        (format!("fragment_a({mma}, (16,4))"), "(2,2,2):(1,2,4)"),
    ];
    for (text, expected) in cases {
        assert_eq!(value(&text), expected, "{text}");
    }
    // A shape alone asks for the owners: each element of C has one, those of A two.
    let owners = |text: String| evaluate(&text).unwrap().drawing().unwrap().unwrap();
    let c = owners(format!("partition_c({mma}, (16,8))"));
    assert_eq!((c.rows(), c.columns()), (16, 8));
    assert!((0..128).all(|i| !c.text_at(i / 8, i % 8).unwrap().contains('+')));
    let a = owners(format!("layout_a({mma})"));
    assert_eq!(a.text_at(0, 0), Some("T0 V0 +3"));
    // The copy of C's tile by those that multiply it: each its own elements.
    let same = owners(format!("tiled_copy_c({mma}, copy_atom(2))"));
    let c = owners(format!("layout_c({mma})"));
    assert_eq!(
        (same.text_at(5, 3), same.rows()),
        (c.text_at(5, 3), c.rows())
    );
    let fault = evaluate(&format!("partition_c({mma}, (12,8))")).unwrap_err();
    assert!(
        fault.to_string().contains("mode 0: 8 does not divide 12"),
        "{fault}"
    );
}

#[test]
fn numbers_take_the_place_of_names() {
    let with = |text: &str, n: i64| evaluate_with(text, &[("N", n)]).map(|v| v.to_string());
    assert_eq!(with("size((16,3*N/8):(1,16))", 64).unwrap(), "384");
    assert_eq!(with("with_shape(64:1, (N,2))", 8).unwrap(), "(8,2):(1,8)");
    let fault = with("(16,N/8):(1,16)", 12).unwrap_err().to_string();
    assert_eq!(
        fault,
        "let(N/8): N = 12 would have to be known as a multiple of 8"
    );
    // The answer for every N is the answer for one.
    let text = "logical_divide((8,N/4):(1,8), 4:1)";
    let Value::Symbolic(all) = evaluate(text).unwrap() else {
        panic!("{text} has names");
    };
    let one = all.bind("N", 32).unwrap().as_offsets().unwrap();
    assert_eq!(
        one.to_static().unwrap().to_string(),
        with(text, 32).unwrap()
    );
}

#[test]
fn tables_and_corners_of_every_kind() {
    let text = |text: &str, i: i64| {
        let value = evaluate(text).unwrap();
        value.entry(i).unwrap().to_string()
    };
    assert_eq!(text("(4,8):(8,1)", 5), "9");
    assert_eq!(text("(4,8):(1@1,1@0)", 5), "(1,1)");
    let named = evaluate("right_inverse((16,N/8):(1,16))").unwrap();
    assert_eq!(named.names(), [("N".to_string(), 8)]);
    assert_eq!(named.entries(), Some(16));
    let huge = evaluate("(1048576,1048576):(1048576,1)").unwrap();
    assert!(huge.drawing().unwrap().is_err());
    insta::assert_snapshot!(huge.drawing_within(2, 3).unwrap().unwrap().to_text(false), @"
    (1048576,1048576):(1048576,1)
             0       1       2
      ┌────────────────────────
    0 │       0       1       2
    1 │ 1048576 1048577 1048578
    1048574 rows and 1048573 columns left out
    ");
    let coordinates = evaluate("make_identity_layout((2,3))").unwrap();
    insta::assert_snapshot!(coordinates.drawing().unwrap().unwrap().to_text(false), @"
    (2,3):(1@0,1@1)
           0     1     2
      ┌──────────────────
    0 │ (0,0) (0,1) (0,2)
    1 │ (1,0) (1,1) (1,2)
    ");
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
        "size((16,N/8):(1,16))",
        "zipped_divide((16,(2,N)):(1,(16,32)), <4, 4>)",
        "upcast((8,4):(2@0,1@1), 3, 0)",
        "right_inverse((8,4):(1@0,1@1))",
        "logical_divide((12,8):(8,1), <5:2, ?>)",
        "zipped_divide((12,8):(8,1), <4, (2,2)>)",
        "table((1024,1024):(1,1024))",
        "pad(4:1, 65)",
        "select((2,3):(1,2), -1)",
        "right_inverse((8,N):(1@0,1@1))",
        "make_layout(4:1, Sw<1,0,3> o 0 o 4:1)",
        "nullspace(Sw<1,0,3> o 0 o 4:1)",
        "composition(Sw<1,0,3>, Sw<1,2,3> o 0 o 4:1)",
        "copy_atom((8,2):(2,1), (8,2):(1,8), 2)",
        "tiled_mma(4:1)",
        "tiled_copy(4:1, 4:1, 4:1)",
        "tile(4:1)",
        "mma_atom((4,4), 4:1, 4:1, 4:1)",
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
