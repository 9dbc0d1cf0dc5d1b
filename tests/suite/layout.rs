//! `tilefold layout`: values, tables, pictures and banks.

use super::{scratch, tilefold};

fn printed(arguments: &[&str]) -> String {
    let output = tilefold(&[&["layout"], arguments].concat());
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn value_table_and_picture() {
    insta::assert_snapshot!(printed(&["zipped_divide((4,6):(6,1), <2, 3>)"]));
}

#[test]
fn owners_of_a_tile() {
    insta::assert_snapshot!(printed(&["make_layout_tv((2,4):(4,1), (1,2):(2,1))"]));
}

#[test]
fn banks_of_a_fragment_read() {
    // RDNA 3: rows of 16 f16 put the lanes of a group in the same banks two by two.
    let text = printed(&["(32,8):(16,1)", "--chip", "gfx1100", "--access", "128"]);
    insta::assert_snapshot!(
        text.split_once("\n\n")
            .unwrap()
            .1
            .split_once("\n\n")
            .unwrap()
            .1
    );
    let padded = [
        "(32,8):(24,1)",
        "--chip",
        "gfx1100",
        "--access",
        "128",
        "--report",
        "json",
    ];
    assert!(printed(&padded).contains("\"conflict_cycles\":0"));
}

#[test]
fn what_does_not_fit_is_counted() {
    let text = printed(&["(16,128):(128,1)"]);
    assert!(
        text.contains("(1792 more of 2048; --all lists up to 65536)"),
        "{text}"
    );
    assert!(text.contains("64 columns left out"), "{text}");
    let text = printed(&["(16,128):(128,1)", "--all"]);
    assert!(
        !text.contains("more of") && !text.contains("left out"),
        "{text}"
    );
    let text = printed(&["(1048576,1048576):(1,1048576)"]);
    assert!(
        text.contains("1048512 rows and 1048512 columns left out"),
        "{text}"
    );
}

#[test]
fn coordinates_and_names_have_tables_and_pictures() {
    let text = printed(&["make_identity_layout((2,2))"]);
    assert!(text.contains("table: (0,0) (1,0) (0,1) (1,1)"), "{text}");
    assert!(text.contains("1 │ (1,0) (1,1)"), "{text}");
    let named = "right_inverse((16,N/8):(1,16))";
    let text = printed(&[named]);
    assert!(text.starts_with("2*N:1\n\nwith N = 8, the least"), "{text}");
    let bound = printed(&[named, "--let", "N=64", "--report", "json"]);
    assert!(bound.contains("\"value\":\"128:1\""), "{bound}");
    assert_eq!(
        printed(&["size((16,N):(1,16))", "--let", "N=4"]).trim(),
        "64"
    );
}

#[test]
fn a_name_alone_says_how_it_is_called() {
    assert!(printed(&["zip"]).starts_with("zip(layout, layout): "));
    assert_eq!(printed(&["functions"]), printed(&["--functions"]));
}

#[test]
fn svg_is_written() {
    let file = scratch("svg").join("layout.svg");
    printed(&[
        "Sw<2,0,3> o 0 o (8,8):(8,1)",
        "--svg",
        file.to_str().unwrap(),
    ]);
    let svg = std::fs::read_to_string(file).unwrap();
    assert!(svg.starts_with("<svg") && svg.trim_end().ends_with("</svg>"));
    assert_eq!(svg.matches("<rect").count(), 64);
}

#[test]
fn functions_are_listed() {
    let text = printed(&["--functions"]);
    assert!(text.lines().count() > 40 && text.contains("composition("));
}

#[test]
fn wrong_expressions_say_where() {
    for (expression, wanted) in [
        ("(4,4:1", "at byte 4"),
        ("no_such(1)", "there is no function"),
        ("composition((6,4):(4,1), 4:4)", "composition"),
        ("", "at byte 0"),
    ] {
        let output = tilefold(&["layout", expression]);
        assert_eq!(output.status.code(), Some(2), "{expression}: {output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains(wanted), "{expression}: {error}");
    }
}
