//! What a user reads when a spec is wrong: one snapshot for each rule.

use miette::{GraphicalReportHandler, GraphicalTheme};
use tilefold_dialect::spec::{MAX_BYTES, Spec, SpecError};

const GOOD: &str = r#"arch = "gfx1201"

[gemm]
m = 8192
n = 8192
k = 8192
a = { type = "f16", layout = "row" }
b = { type = "f16", layout = "col" }
c = { type = "f16", layout = "col" }
accumulate = "f16"

[tile]
block = [128, 96, 64]
waves = [2, 2]

[atoms]
mma = "wmma.f16.16x16x16.f16"
load = "buffer_load_b128"

[copy.a]
threads = "(16,8):(8,1)"
values = "(1,8):(8,1)"

[mma]
waves = "(2,2):(2,1)"

[lds]
a = "pad(8)"
b = "Sw<3,3,3> o 0 o (96,64):(64,1)"
buffers = 1

[schedule]
prefetch = "interleaved"
group_rows = 8
priority = true
"#;

/// Compares what miette prints, 100 columns wide and without colours.
fn snapshot(name: &str, error: &SpecError) {
    let mut report = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .render_report(&mut report, error)
        .expect("writing to a string");
    insta::with_settings!({ omit_expression => true }, {
        insta::assert_snapshot!(name, report);
    });
}

/// The error of the good spec with one piece of its text replaced.
fn error_of(from: &str, to: &str) -> SpecError {
    assert_eq!(
        GOOD.matches(from).count(),
        1,
        "`{from}` must stand once in the good spec"
    );
    error_in(GOOD.replace(from, to))
}

fn error_in(text: impl AsRef<[u8]>) -> SpecError {
    Spec::from_toml("gemm.toml", text).expect_err("the spec is wrong")
}

macro_rules! rejects {
    ($($name:ident: $from:literal => $to:expr;)*) => {$(
        #[test]
        fn $name() {
            snapshot(stringify!($name), &error_of($from, $to));
        }
    )*};
}

#[test]
fn the_good_spec_is_good() {
    Spec::from_toml("gemm.toml", GOOD).unwrap();
}

rejects! {
    unknown_key: "group_rows = 8" => "group_row = 8";
    unknown_key_without_a_near_one: "priority = true" => "colour = \"red\"";
    unknown_table: "[schedule]" => "[shedule]";
    unknown_key_in_an_operand: "a = { type = \"f16\"," => "a = { typ = \"f16\",";
    missing_key: "k = 8192\n" => "";
    missing_operand: "b = { type = \"f16\", layout = \"col\" }\n" => "";
    missing_chip: "arch = \"gfx1201\"\n" => "";
    duplicate_key: "n = 8192" => "n = 8192\nn = 4096";
    duplicate_table: "[mma]" => "[atoms]";
    not_toml: "block = [128, 96, 64]" => "block = 128 x 96 x 64";
    wrong_type_of_a_flag: "priority = true" => "priority = 1";
    wrong_type_of_a_number: "buffers = 1" => "buffers = \"1\"";
    wrong_type_of_a_table: "[schedule]" => "[[schedule]]";
    wrong_type_of_a_layout: "\"(16,8):(8,1)\"" => "[16, 8]";
    wrong_number_of_elements: "block = [128, 96, 64]" => "block = [128, 96]";
    unknown_chip: "gfx1201" => "gfx1200";
    chip_without_atoms: "gfx1201" => "gfx950";
    unknown_element_type: "accumulate = \"f16\"" => "accumulate = \"fp16\"";
    unknown_layout_word: "a = { type = \"f16\", layout = \"row\" }"
        => "a = { type = \"f16\", layout = \"rwo\" }";
    unknown_lds_layout: "\"pad(8)\"" => "\"padded\"";
    unknown_prefetch: "\"interleaved\"" => "\"interleave\"";
    unknown_commit: "\"interleaved\"" => "\"interleaved\"\ncommit = \"read\"";
    bad_padding: "pad(8)" => "pad(-8)";
    layout_that_does_not_parse: "\"(16,8):(8,1)\"" => "\"(16,8):(8;1)\"";
    layout_of_an_operand_that_does_not_parse: "a = { type = \"f16\", layout = \"row\" }"
        => "a = { type = \"f16\", layout = \"(8192,8192):(1,\" }";
    layout_that_is_not_congruent: "\"(16,8):(8,1)\"" => "\"(16,8):(8,(1,2))\"";
    swizzle_that_does_not_parse: "Sw<3,3,3> o 0 o" => "Sw<3,3> o 0 o";
    extent_of_zero: "m = 8192" => "m = 0";
    extent_below_zero: "m = 8192" => "m = -8192";
    extent_beyond_64_bits: "m = 8192" => "m = 99999999999999999999999";
    extent_of_another_word: "m = 8192" => "m = \"all\"";
    matrix_beyond_memory: "k = 8192" => "k = 2147483647";
    block_out_of_range: "block = [128, 96, 64]" => "block = [128, 96, 1000000]";
    block_of_another_word: "block = [128, 96, 64]" => "block = [128, \"any\", 64]";
    block_whose_k_is_no_multiple: "block = [128, 96, 64]" => "block = [\"_\", \"_\", 40]";
    leading_dimension_below_the_extent: "a = { type = \"f16\", layout = \"row\" }"
        => "a = { type = \"f16\", layout = \"row\", ld = 4096 }";
    leading_dimension_of_a_layout: "a = { type = \"f16\", layout = \"row\" }"
        => "a = { type = \"f16\", layout = \"(8192,8192):(1,8192)\", ld = 8192 }";
    operand_layout_of_another_size: "a = { type = \"f16\", layout = \"row\" }"
        => "a = { type = \"f16\", layout = \"(8192,4096):(1,8192)\" }";
    operand_layout_of_negative_stride: "a = { type = \"f16\", layout = \"row\" }"
        => "a = { type = \"f16\", layout = \"(8192,8192):(1,-8192)\" }";
    result_layout_that_overlaps: "c = { type = \"f16\", layout = \"col\" }"
        => "c = { type = \"f16\", layout = \"(8192,8192):(1,4096)\" }";
    block_not_a_multiple_of_waves_and_atoms: "block = [128, 96, 64]" => "block = [128, 80, 64]";
    block_not_a_multiple_of_the_atom_along_k: "block = [128, 96, 64]" => "block = [128, 96, 40]";
    too_many_waves: "waves = [2, 2]" => "waves = [8, 8]";
    wave_layout_of_another_shape: "\"(2,2):(2,1)\"" => "\"(4,1):(1,1)\"";
    wave_layout_with_a_gap: "\"(2,2):(2,1)\"" => "\"(2,2):(4,1)\"";
    wave_layout_of_one_mode: "\"(2,2):(2,1)\"" => "\"4:1\"";
    threads_of_the_wrong_number: "\"(16,8):(8,1)\"" => "\"(8,8):(8,1)\"";
    threads_that_share_places: "\"(16,8):(8,1)\"" => "\"(16,8):(4,1)\"";
    copy_that_does_not_divide_the_tile: "\"(1,8):(8,1)\"" => "\"(3,8):(8,1)\"";
    lds_layout_of_another_size: "(96,64):(64,1)" => "(96,32):(32,1)";
    lds_layout_that_overlaps: "(96,64):(64,1)" => "(96,64):(32,1)";
    lds_layout_beyond_lds: "(96,64):(64,1)" => "(96,64):(4096,1)";
    lds_layout_before_its_beginning: "(96,64):(64,1)" => "(96,64):(-64,1)";
    nesting_too_deep: "priority = true" => "priority = [[[[[[[[[[true]]]]]]]]]]";
    dotted_key_too_deep: "priority = true" => "a.b.c.d.e.f.g.h.i.j = true";
    string_of_several_lines: "\"wmma.f16.16x16x16.f16\"" => "\"\"\"wmma\"\"\"";
}

#[test]
fn text_that_is_not_utf8() {
    let mut bytes = GOOD.as_bytes().to_vec();
    let at = GOOD.find("f16").unwrap();
    bytes[at] = 0xff;
    snapshot("text_that_is_not_utf8", &error_in(bytes));
}

#[test]
fn text_that_is_too_long() {
    let text = format!("{GOOD}#{}", "-".repeat(MAX_BYTES));
    snapshot("text_that_is_too_long", &error_in(text));
}

#[test]
fn layouts_of_endless_text_are_refused() {
    let error = error_of("(2,2):(2,1)", &format!("({}2,2):(2,1)", " ".repeat(600)));
    assert_eq!(error.rule(), "has 611 bytes, a layout may have 512");
}

#[test]
fn errors_found_later_point_at_the_field() {
    let spec = Spec::from_toml("gemm.toml", GOOD).unwrap();
    let rule = "there is no such atom on gfx1201";
    let error = SpecError::at(spec.source(), "atoms.mma", rule, "use one of ...");
    snapshot("errors_found_later_point_at_the_field", &error);
}

#[test]
fn errors_about_a_field_left_out_point_at_its_table() {
    let spec = Spec::from_toml("gemm.toml", GOOD.replace("buffers = 1\n", "")).unwrap();
    let error = spec.error("lds.buffers", "two buffers do not fit", "say `buffers = 1`");
    snapshot("errors_about_a_field_left_out_point_at_its_table", &error);
}

#[test]
fn errors_about_an_element_that_is_not_given_point_at_its_array() {
    let spec = Spec::from_toml("gemm.toml", GOOD).unwrap();
    let span = spec.error("tile.block[7]", "rule", "help").span();
    assert_eq!(&GOOD[span], "[128, 96, 64]");
}

#[test]
fn faults_in_a_text_with_escapes_point_at_all_of_it() {
    let text = r#""(16,8)\u003a(8;1)""#;
    let error = error_of(r#""(16,8):(8,1)""#, text);
    assert_eq!(error.span().len(), text.len());
}

#[test]
fn layouts_of_the_result_give_each_element_a_place() {
    let is_good = |layout: &str| {
        let c = "c = { type = \"f16\", layout = \"col\" }";
        let text = GOOD.replace(
            c,
            &format!("c = {{ type = \"f16\", layout = \"{layout}\" }}"),
        );
        Spec::from_toml("gemm.toml", text).is_ok()
    };
    assert!(is_good("(8192,8192):(1,8192)"));
    assert!(is_good("(8192,8192):(10000,1)"));
    assert!(is_good("((64,128),8192):((1,524288),64)"));
    assert!(!is_good("(8192,8192):(1,8191)"));
    assert!(!is_good("(8192,8192):(1,0)"));
    assert!(!is_good("((64,128),8192):((1,524288),63)"));
}

#[test]
fn layouts_in_lds_may_fill_it_and_no_more() {
    // 64 KiB hold 32768 elements of f16; the last of these lies at 95 * stride + 63.
    let is_good = |stride: i64| {
        let text = GOOD.replace(
            "Sw<3,3,3> o 0 o (96,64):(64,1)",
            &format!("(96,64):({stride},1)"),
        );
        Spec::from_toml("gemm.toml", text).is_ok()
    };
    assert!(is_good(64));
    assert!(is_good(344));
    assert!(!is_good(345));
    let last_at = |offset: i64| {
        let text = GOOD.replace(
            "Sw<3,3,3> o 0 o (96,64):(64,1)",
            &format!("Sw<0,4,3> o {offset} o (96,64):(64,1)"),
        );
        Spec::from_toml("gemm.toml", text).is_ok()
    };
    assert!(last_at(32768 - 96 * 64));
    assert!(!last_at(32768 - 96 * 64 + 1));
}
