//! A spec means the same in TOML, in JSON and from the builder.

use std::collections::BTreeSet;

use proptest::prelude::*;
use serde_json::Value;
use tilefold_dialect::builder::Gemm;
use tilefold_dialect::element::ElementType::{self, F16, F32};
use tilefold_dialect::plan::{Commit, LdsLayout, Lead, Prefetch};
use tilefold_dialect::problem::OperandLayout::{Col, Row};
use tilefold_dialect::problem::{Extent, Operand, OperandLayout};
use tilefold_dialect::spec::{MAX_BYTES, Spec};
use tilefold_layout::Layout;

/// A spec in which every key is given.
fn full() -> Spec {
    Gemm::new("gfx1201")
        .m(8192)
        .n(Extent::Any)
        .k(4096)
        .operand_a(Operand::new(F16, Row).with_ld(4104))
        .b(F16, Col)
        .c(F32, layout("(8192,1024):(1,8192)"))
        .accumulate(F32)
        .block([128, 96, 64])
        .waves([2, 2])
        .mma("wmma.f32.16x16x16.f16")
        .load("buffer_load_b128")
        .copy_a(layout("(16,8):(8,1)"), layout("(1,8):(8,1)"))
        .copy_b(layout("(16,8):(8,1)"), layout("(1,8):(8,1)"))
        .wave_layout(layout("(2,2):(2,1)"))
        .lds(
            LdsLayout::Pad(8),
            LdsLayout::Expr("Sw<3,3,3> o 0 o (96,64):(64,1)".parse().unwrap()),
        )
        .buffers(1)
        .prefetch(Prefetch::Interleaved)
        .group_rows(8)
        .cadence(1)
        .ahead(4)
        .lead(Lead::B)
        .commit(Commit::Reads)
        .priority(true)
        .build()
        .unwrap()
}

fn layout(text: &str) -> Layout {
    text.parse().unwrap()
}

#[test]
fn toml_of_a_full_spec() {
    insta::assert_snapshot!(full().to_toml());
}

#[test]
fn a_full_spec_reads_back_from_toml_and_json() {
    let spec = full();
    assert_eq!(Spec::from_toml("again", spec.to_toml()).unwrap(), spec);
    let json = serde_json::to_string(&spec).unwrap();
    assert_eq!(serde_json::from_str::<Spec>(&json).unwrap(), spec);
    let parts = Spec::new(&spec.arch, spec.problem.clone(), spec.plan.clone()).unwrap();
    assert_eq!(parts, spec);
}

#[test]
fn open_entries_of_a_block_are_written_and_read() {
    let mut spec = full();
    spec.plan.copy = Default::default();
    spec.plan.lds.b = None;
    for block in [
        [None, None, Some(32)],
        [Some(128), None, None],
        [None, Some(96), Some(64)],
    ] {
        spec.plan.tile.block = block.into();
        let text = spec.to_toml();
        let again = Spec::from_toml("again", &text).unwrap();
        assert_eq!(again.plan.tile.block.0, block, "{text}");
        assert_eq!(again.plan.tile.block.whole(), None);
    }
    let text = full().to_toml();
    let open = text.replace("block = [128, 96, 64]", "block = [\"_\", \"_\", \"_\"]");
    assert!(
        Spec::from_toml("open", open)
            .unwrap()
            .plan
            .tile
            .block
            .is_open()
    );
}

#[test]
fn the_order_of_storing_is_over_the_values() {
    let mut spec = full();
    spec.plan.copy.a.values = Some(layout("(2,4):(4,1)"));
    spec.plan.copy.a.stores = Some(layout("(2,4):(1,2)"));
    let again = Spec::from_toml("again", spec.to_toml()).unwrap();
    assert_eq!(again, spec);
    for stores in ["(4,2):(2,1)", "(2,4):(8,1)"] {
        spec.plan.copy.a.stores = Some(layout(stores));
        let error = Spec::from_toml("again", spec.to_toml()).unwrap_err();
        assert_eq!(error.field(), "copy.a.stores", "{error}");
    }
}

#[test]
fn json_is_checked_like_toml() {
    let mut json = serde_json::to_value(full()).unwrap();
    json["tile"]["waves"] = serde_json::json!([2, 3]);
    let error = serde_json::from_value::<Spec>(json).unwrap_err();
    assert!(error.to_string().starts_with("mma.waves: "), "{error}");
}

#[test]
fn the_builder_is_checked_like_toml() {
    let error = Gemm::new("gfx1201")
        .m(1)
        .n(1)
        .k(1)
        .a(F16, Row)
        .b(F16, Row)
        .build()
        .unwrap_err();
    assert_eq!((error.field(), error.rule()), ("gemm.c", "is required"));
    let error = Gemm::new("gfx9").build().unwrap_err();
    assert_eq!(error.field(), "gemm.m");
    let error = Gemm::new("gfx1201\"")
        .m(1)
        .n(1)
        .k(1)
        .a(F16, Row)
        .b(F16, Row);
    let error = error.c(F16, Row).accumulate(F16).build().unwrap_err();
    assert_eq!(
        error.field(),
        "arch",
        "the name is quoted, whatever stands in it"
    );
}

#[test]
fn every_key_of_the_schema_is_a_key_of_the_spec_and_the_other_way_round() {
    let schema = Spec::json_schema().to_value();
    let mut keys = BTreeSet::new();
    schema_keys(&schema, &schema, "", &mut keys);
    let mut written = BTreeSet::new();
    value_keys(&serde_json::to_value(full()).unwrap(), "", &mut written);
    // The full spec has `ld` on A, which stands for all three.
    written.extend(["gemm.b.ld".to_owned(), "gemm.c.ld".to_owned()]);
    // The order of storing is that of loading.
    written.extend(["copy.a.stores".to_owned(), "copy.b.stores".to_owned()]);
    assert_eq!(keys, written);
}

fn schema_keys(root: &Value, schema: &Value, path: &str, keys: &mut BTreeSet<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').unwrap();
        return schema_keys(root, root.pointer(pointer).unwrap(), path, keys);
    }
    for (key, inner) in schema["properties"].as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        schema_keys(root, inner, &path, keys);
        keys.insert(path);
    }
}

fn value_keys(value: &Value, path: &str, keys: &mut BTreeSet<String>) {
    for (key, inner) in value.as_object().into_iter().flatten() {
        let path = if path.is_empty() {
            key.clone()
        } else {
            format!("{path}.{key}")
        };
        value_keys(inner, &path, keys);
        keys.insert(path);
    }
}

#[test]
fn waves_may_be_said_by_the_wave_layout_alone() {
    let mut spec = full();
    spec.plan.tile.waves = None;
    let spec = Spec::new(&spec.arch, spec.problem, spec.plan).unwrap();
    assert_eq!(spec.plan.tile.waves, None);
    let text = spec
        .to_toml()
        .replace("block = [128, 96, 64]", "block = [128, 80, 64]");
    assert_eq!(
        Spec::from_toml("spec", text).unwrap_err().field(),
        "tile.block[1]"
    );
}

fn element() -> impl Strategy<Value = ElementType> {
    prop::sample::select(ElementType::ALL.to_vec())
}

fn operand() -> impl Strategy<Value = Operand> {
    let layout = prop_oneof![Just(OperandLayout::Row), Just(OperandLayout::Col)];
    (element(), layout, prop::option::of(5000i64..6000)).prop_map(|(element, layout, ld)| Operand {
        element,
        layout,
        ld,
    })
}

fn extent() -> impl Strategy<Value = Extent> {
    prop_oneof![Just(Extent::Any), (1i64..5000).prop_map(Extent::Exact)]
}

fn lds() -> impl Strategy<Value = LdsLayout> {
    prop_oneof![
        Just(LdsLayout::None),
        Just(LdsLayout::Xor),
        (0i64..64).prop_map(LdsLayout::Pad),
        (0i64..4).prop_map(|pad| {
            let text = format!("Sw<2,3,3> o 0 o (64,32):({},1)", 32 + 32 * pad);
            LdsLayout::Expr(text.parse().unwrap())
        }),
    ]
}

proptest! {
    #[test]
    fn specs_read_back(
        (m, n, k) in (extent(), extent(), extent()),
        (a, b, c) in (operand(), operand(), operand()),
        accumulate in element(),
        waves in prop::option::of((1i64..3, 1i64..3)),
        (lds_a, lds_b) in (prop::option::of(lds()), prop::option::of(lds())),
        (buffers, priority) in (prop::option::of(1i64..4), any::<Option<bool>>()),
        prefetch in prop::option::of(prop::sample::select(Prefetch::ALL.to_vec())),
    ) {
        let mut spec = Gemm::new("gfx1100").m(m).n(n).k(k).accumulate(accumulate)
            .operand_a(a).operand_b(b).operand_c(c).block([64, 64, 32]).build().unwrap();
        spec.plan.tile.waves = waves.map(|(m, n)| [m, n]);
        spec.plan.lds.a = lds_a;
        spec.plan.lds.b = lds_b;
        spec.plan.lds.buffers = buffers;
        spec.plan.schedule.priority = priority;
        spec.plan.schedule.prefetch = prefetch;
        prop_assert_eq!(&Spec::from_toml("again", spec.to_toml()).unwrap(), &spec);
        let json = serde_json::to_value(&spec).unwrap();
        prop_assert_eq!(&serde_json::from_value::<Spec>(json).unwrap(), &spec);
    }
}

#[test]
fn every_spec_of_the_collection_is_good() {
    let mut read = 0;
    insta::glob!("../../specs", "**/*.toml", |path| {
        let name = path.display();
        let spec = Spec::from_file(path).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(Spec::from_toml("again", spec.to_toml()).unwrap(), spec);
        read += 1;
    });
    assert!(read >= 5, "{read} specs found");
}

#[test]
fn files_that_cannot_be_read_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let error = Spec::from_file(folder.path().join("none.toml")).unwrap_err();
    assert!(error.rule().starts_with("cannot be read: "), "{error}");
    assert_eq!(Spec::from_file(folder.path()).unwrap_err().field(), "spec");
    let long = folder.path().join("long.toml");
    std::fs::write(&long, vec![b'\n'; 10 * MAX_BYTES]).unwrap();
    let error = Spec::from_file(long).unwrap_err();
    assert!(error.rule().starts_with("the text is longer"), "{error}");
}
