//! The model's lane maps against published tables, where those are at hand.

use std::path::PathBuf;

use serde_json::Value;

use super::{Format, Shape, mixed, shapes};

/// The published tables.
pub fn tables() -> Option<Value> {
    let path = match std::env::var_os("TILEFOLD_VECTORS") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/vectors"),
    };
    let text = std::fs::read_to_string(path.join("mma_atoms.json")).ok()?;
    Some(serde_json::from_str(&text).expect("the tables are JSON"))
}

/// The table `name` of an operand: `[lane][element]`.
pub fn numbers(operand: &Value, name: &str) -> Option<Vec<Vec<usize>>> {
    serde_json::from_value(operand.get(name)?.clone()).ok()
}

fn compare(shape: &Shape, record: &Value) {
    let id = &record["id"];
    for (name, format, index_name, k_name) in [
        ("A", shape.a, "rows", "cols"),
        ("B", shape.b, "cols", "rows"),
    ] {
        let operand = &record[name];
        let (index, k) = (
            numbers(operand, index_name).expect("a table"),
            numbers(operand, k_name).expect("a table"),
        );
        let blocks = numbers(operand, "blocks");
        for lane in 0..64 {
            for element in 0..index[lane].len() {
                let block = blocks.as_ref().map_or(0, |blocks| blocks[lane][element]);
                let place = shape.input(format, block, index[lane][element], k[lane][element]);
                assert_eq!(
                    (place.lane, place.element),
                    (lane, element),
                    "{id} {name} lane {lane} element {element}"
                );
            }
        }
    }
    let operand = &record["C"];
    let (rows, columns) = (
        numbers(operand, "rows").expect("a table"),
        numbers(operand, "cols").expect("a table"),
    );
    let blocks = numbers(operand, "blocks");
    for lane in 0..64 {
        for element in 0..rows[lane].len() {
            let block = blocks.as_ref().map_or(0, |blocks| blocks[lane][element]);
            let place = shape.output(block, rows[lane][element], columns[lane][element]);
            assert_eq!(
                (place.lane, place.element),
                (lane, element),
                "{id} C lane {lane} element {element}"
            );
        }
    }
}

#[test]
fn lane_maps_are_the_published_ones() {
    let Some(tables) = tables() else {
        eprintln!("SKIPPED: no mma_atoms.json; set TILEFOLD_VECTORS to its folder");
        return;
    };
    let mut known = shapes();
    let mut compared = 0;
    let records = tables["mma"].as_array().expect("a list of records");
    for record in records {
        let id = record["id"].as_str().expect("an id");
        if !id.starts_with("cdna") {
            continue;
        }
        if let Some(name) = record["instruction"]
            .as_str()
            .and_then(|n| n.strip_prefix("v_mfma_"))
            && let Some(shape) = known.iter().find(|shape| shape.name() == name)
        {
            compare(shape, record);
            compared += 1;
        }
    }
    assert!(compared >= 29, "only {compared} tables compared");
    // Two labellings of 8-bit and 6-bit elements are there: these are the ones taken.
    known.clear();
    for (dim, suffix, format) in [
        (16, "fp8-split-k", Format::Fp8),
        (16, "fp6-contiguous-k", Format::Fp6),
        (16, "fp4-contiguous-k", Format::Fp4),
        (32, "fp8-split-k", Format::Fp8),
        (32, "fp6-contiguous-k", Format::Fp6),
    ] {
        let shape = mixed(dim, format, format);
        let id = format!("cdna4:v_mfma_scale_{}:{suffix}:w64", shape.name());
        let record = records.iter().find(|record| record["id"] == id);
        compare(&shape, record.unwrap_or_else(|| panic!("no {id}")));
    }
}
