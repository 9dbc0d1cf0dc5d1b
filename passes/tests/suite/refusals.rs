//! What a user reads when a spec asks for what cannot be built: one snapshot for each rule.

use miette::{GraphicalReportHandler, GraphicalTheme};
use tilefold_dialect::spec::Spec;
use tilefold_passes::Plan;

const GOOD: &str = r#"arch = "gfx1201"

[gemm]
m = 4096
n = 4096
k = 4096
a = { type = "f16", layout = "row" }
b = { type = "f16", layout = "col" }
c = { type = "f16", layout = "col" }
accumulate = "f16"
"#;

/// What miette prints of the refusal, 100 columns wide and without colours.
fn report(text: &str) -> String {
    let spec = Spec::from_toml("gemm.toml", text).expect("the spec itself is right");
    let error = Plan::complete(&spec).expect_err("the spec cannot be met");
    let mut report = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(100)
        .render_report(&mut report, &error)
        .expect("writing to a string");
    report
}

/// Each refusal: the good spec with one piece replaced.
macro_rules! refuses {
    ($($name:ident: $from:literal => $to:literal;)*) => {$(
        #[test]
        fn $name() {
            assert_eq!(GOOD.matches($from).count(), 1, "`{}` stands once", $from);
            let text = GOOD.replace($from, $to);
            insta::with_settings!({ omit_expression => true }, {
                insta::assert_snapshot!(stringify!($name), report(&text));
            });
        }
    )*};
}

#[test]
fn the_good_spec_is_met() {
    Plan::complete(&Spec::from_toml("gemm.toml", GOOD).unwrap()).unwrap();
}

/// A spec's fields are public: what was right when it was read need not be any more.
#[test]
fn changed_specs_are_checked_again() {
    let good = Spec::from_toml("gemm.toml", GOOD).unwrap();
    let changes: [fn(&mut Spec); 5] = [
        |spec| spec.plan.tile.block = [0, 0, 0].into(),
        |spec| spec.plan.tile.block = [i64::MAX, i64::MIN, 16].into(),
        |spec| spec.plan.tile.waves = Some([i64::MAX, 2]),
        |spec| spec.plan.lds.buffers = Some(-1),
        |spec| spec.arch = "gfx11".into(),
    ];
    for change in changes {
        let mut spec = good.clone();
        change(&mut spec);
        let error = Plan::complete(&spec).unwrap_err();
        assert!(
            error.field().starts_with("tile") || ["lds.buffers", "arch"].contains(&error.field())
        );
    }
}

refuses! {
    matrix_that_is_contiguous_nowhere:
        r#"a = { type = "f16", layout = "row" }"#
        => r#"a = { type = "f16", layout = "(4096,4096):(8192,2)" }"#;
    lines_that_overlap:
        r#"b = { type = "f16", layout = "col" }"#
        => r#"b = { type = "f16", layout = "(4096,4096):(1,0)" }"#;
    types_that_differ:
        r#"b = { type = "f16""# => r#"b = { type = "bf16""#;
    type_without_an_instruction:
        r#"a = { type = "f16", layout = "row" }
b = { type = "f16""#
        => r#"a = { type = "fp8", layout = "row" }
b = { type = "fp8""#;
    load_wider_than_lines_allow:
        r#"[gemm]
m = 4096
n = 4096
k = 4096
a = { type = "f16", layout = "row" }"#
        => r#"[atoms]
load = "buffer_load_b128"

[gemm]
m = 4096
n = 4096
k = 4096
a = { type = "f16", layout = "row", ld = 4100 }"#;
    k_that_no_tile_divides:
        "k = 4096" => "k = 4088";
    lines_too_far_apart:
        r#"a = { type = "f16", layout = "row" }"#
        => r#"a = { type = "f16", layout = "row", ld = 80000000 }"#;
    lines_too_far_apart_for_the_block:
        r#"[gemm]
m = 4096
n = 4096
k = 4096
a = { type = "f16", layout = "row" }
b = { type = "f16", layout = "col" }
c = { type = "f16", layout = "col" }"#
        => r#"[tile]
block = [64, 64, 32]

[gemm]
m = 20000000
n = 4096
k = 4096
a = { type = "f16", layout = "row" }
b = { type = "f16", layout = "col" }
c = { type = "f16", layout = "col" }"#;
    xor_of_no_power_of_two:
        r#"[gemm]
m = 4096
n = 4096
k = 4096"#
        => r#"[tile]
block = [64, 64, 48]

[lds]
a = "xor"

[gemm]
m = 4096
n = 4096
k = 96"#;
    accumulator_without_an_instruction:
        r#"accumulate = "f16""# => r#"accumulate = "bf16""#;
    output_of_another_format:
        r#"c = { type = "f16""# => r#"c = { type = "bf16""#;
    output_narrower_than_sixteen_bits:
        r#"c = { type = "f16", layout = "col" }
accumulate = "f16""#
        => r#"c = { type = "i8", layout = "col" }
accumulate = "f32""#;
}

/// Each refusal: what the good spec says besides.
macro_rules! refuses_more {
    ($($name:ident: $more:literal;)*) => {$(
        #[test]
        fn $name() {
            insta::with_settings!({ omit_expression => true }, {
                insta::assert_snapshot!(stringify!($name), report(&GOOD.replace("\n[gemm]", &format!("{}\n\n[gemm]", $more))));
            });
        }
    )*};
}

refuses_more! {
    instruction_of_other_types: r#"atoms.mma = "wmma.f32.16x16x16.f16""#;
    instruction_of_no_chip: r#"atoms.mma = "wmma.f16.16x16x32.f16""#;
    load_that_is_none: r#"atoms.load = "ds_load_b128""#;
    more_than_two_buffers: "lds.buffers = 3";
    cadence_of_a_burst: r#"schedule = { prefetch = "burst", cadence = 2 }"#;
    priority: r#"schedule = { prefetch = "burst", priority = true }"#;
    block_of_no_whole_atoms: "tile = { block = [128, 96, 64], waves = [2, 4] }";
    block_of_too_little_k: "tile.block = [128, 128, 24]";
    accumulators_beyond_the_registers: "tile = { block = [256, 256, 16], waves = [2, 2] }";
    staged_tiles_beyond_the_registers:
        "tile = { block = [64, 64, 128], waves = [1, 1] }\nlds.buffers = 1";
    threads_that_cannot_share: "tile = { block = [48, 32, 16], waves = [3, 1] }";
    copy_without_values: r#"copy.a.threads = "(16,8):(8,1)""#;
    copy_of_other_threads: r#"[copy.a]
threads = "(8,8):(8,1)"
values = "(1,4):(4,1)""#;
    copy_that_does_not_fill_the_tile: r#"[copy.b]
threads = "(128,1):(1,1)"
values = "(1,48):(48,1)""#;
    load_wider_than_the_copy: r#"atoms.load = "buffer_load_b128"

[copy.a]
threads = "(128,1):(1,1)"
values = "(1,4):(4,1)"

[copy.b]
threads = "(16,8):(8,1)"
values = "(2,4):(4,1)""#;
    load_wider_than_the_threads_can_share: r#"tile = { block = [32, 32, 16], waves = [2, 2] }
atoms.load = "buffer_load_b128""#;
    k_that_the_block_does_not_divide: "tile.block = [128, 128, 48]";
    lds_layout_of_another_tile: r#"lds.b = "(64,32):(32,1)""#;
    lds_layout_of_a_layout: r#"lds.a = "(4096):(1) o 0 o (128,32):(32,1)""#;
    lds_layout_backwards: r#"lds.a = "Sw<0,4,3> o 4064 o (128,32):(-32,1)""#;
    lds_layout_across_fragments: r#"tile.block = [96, 96, 32]
lds.a = "((3,32),32):((1024,32),1)""#;
    tiles_beyond_lds: "tile = { block = [256, 256, 64], waves = [4, 4] }";
    padding_beyond_lds: r#"lds.a = "pad(512)""#;
}
