//! Every mma atom against AMD's lane maps, element by element.
//!
//! Reads `mma_atoms.json` from the folder that `TILEFOLD_VECTORS` names, else from
//! `../shared/vectors` beside the repository; says so where neither is there.

use serde_json::Value;
use std::{io::Write, path::PathBuf};
use tilefold_dialect::atoms::MmaAtom;
use tilefold_layout::Layout;

fn vectors() -> Option<Value> {
    let named = std::env::var_os("TILEFOLD_VECTORS");
    let folder = named.clone().map_or_else(
        || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors"),
        PathBuf::from,
    );
    let file = folder.join("mma_atoms.json");
    match std::fs::read_to_string(&file) {
        Ok(text) => Some(serde_json::from_str(&text).expect("the vectors are JSON")),
        Err(error) if named.is_some() => {
            panic!("TILEFOLD_VECTORS names a folder without mma_atoms.json: {error}")
        }
        Err(_) => None,
    }
}

/// The published row and column of each lane's elements.
fn published(record: &Value, operand: &str) -> Vec<Vec<(i64, i64)>> {
    let table = &record[operand];
    let numbers = |key: &str| -> Vec<Vec<i64>> {
        serde_json::from_value(table[key].clone()).expect("a table of numbers")
    };
    let (rows, cols) = (numbers("rows"), numbers("cols"));
    rows.into_iter()
        .zip(cols)
        .map(|(r, c)| r.into_iter().zip(c).collect())
        .collect()
}

/// The atom's own: (first coordinate, second coordinate) of each lane's elements.
fn own(layout: &Layout, extent: i64) -> Vec<Vec<(i64, i64)>> {
    let [lanes, values] = [0, 1].map(|mode| layout.mode(mode).unwrap());
    lanes
        .offsets()
        .map(|lane| {
            values
                .offsets()
                .map(|v| ((lane + v) % extent, (lane + v) / extent))
                .collect()
        })
        .collect()
}

/// What instruction `part` of `parts` takes, its K counted from the first that it takes: `depth`
/// of K belong to each, and to each as many of a lane's values.
fn taken(table: Vec<Vec<(i64, i64)>>, [part, parts]: [i64; 2], depth: i64) -> Vec<Vec<(i64, i64)>> {
    let of = |lane: Vec<(i64, i64)>| {
        let values = lane.len() / parts as usize;
        let here = lane.into_iter().skip(part as usize * values).take(values);
        here.map(|(row, k)| (row, k - part * depth)).collect()
    };
    table.into_iter().map(of).collect()
}

fn swapped(table: Vec<Vec<(i64, i64)>>) -> Vec<Vec<(i64, i64)>> {
    table
        .into_iter()
        .map(|lane| lane.into_iter().map(|(r, c)| (c, r)).collect())
        .collect()
}

/// Says something that the harness does not swallow when the test passes.
fn say(text: &str) {
    // Nobody is left to tell where even that fails.
    let _ = writeln!(std::io::stderr(), "{text}");
}

#[test]
fn atoms() {
    let Some(vectors) = vectors() else {
        say("atoms: skipped, no vectors here and TILEFOLD_VECTORS is not set");
        return;
    };
    let records = vectors["mma"].as_array().expect("a list of atoms");
    let (mut checked, mut without) = (0, Vec::new());
    for atom in MmaAtom::all() {
        let [m, n, depth] = atom.instruction_shape();
        for chip in atom.chips {
            let record = records.iter().find(|record| {
                record["instruction"] == atom.instruction
                    && record["wave"] == atom.wave
                    && record["targets"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .any(|t| t == chip)
            });
            let Some(record) = record else {
                without.push(format!("{} on {chip}", atom.name));
                continue;
            };
            let at = format!("{} on {chip}", atom.name);
            // Where there are several instructions, each has the published map, A and B alike, of
            // K that begins where that of the one before ends: together they are a product.
            for part in 0..atom.instructions {
                let part = [part, atom.instructions];
                let a = taken(own(&atom.a(), m), part, depth);
                assert_eq!(a, published(record, "A"), "A of {at}, {part:?}");
                // B is published as K x N; the atom's layout is over (n, k).
                let b = taken(own(&atom.b(), n), part, depth);
                assert_eq!(b, swapped(published(record, "B")), "B of {at}, {part:?}");
            }
            assert_eq!(own(&atom.c(), m), published(record, "C"), "C of {at}");
            assert_eq!(record["D"], "same as C", "D of {at}");
            assert_eq!(
                [&record["M"], &record["N"], &record["K"]].map(|e| e.as_i64().unwrap()),
                atom.instruction_shape(),
                "shape of {at}"
            );
            checked += 1;
        }
    }
    say(&format!(
        "atoms: {checked} checked, {} without a published map: {without:?}",
        without.len()
    ));
    // AMD's calculator prints no map for this one; its 16-bit twin of f16 stands in for it.
    assert_eq!(without, ["wmma.bf16.16x16x16.bf16 on gfx1201"]);
}

#[test]
fn an_unpublished_map_equals_its_twin() {
    let [bf16, f16] = ["wmma.bf16.16x16x16.bf16", "wmma.f16.16x16x16.f16"]
        .map(|name| MmaAtom::by_name("gfx1201", name).unwrap());
    assert_eq!(bf16.a_layout, f16.a_layout);
    assert_eq!(bf16.b_layout, f16.b_layout);
    assert_eq!(bf16.c_layout, f16.c_layout);
}

#[test]
fn rows_of_one_type_have_a_k_each() {
    for atom in MmaAtom::all() {
        assert_eq!(atom.shape[2] % atom.instructions, 0, "{}", atom.name);
        for chip in atom.chips {
            let depths = MmaAtom::of_types(chip, atom.input, atom.accumulator)
                .map(|row| row.shape[2])
                .collect::<Vec<_>>();
            assert!(
                depths.is_sorted_by(|a, b| a < b),
                "{}: {depths:?}",
                atom.name
            );
        }
    }
}

#[test]
fn registers_hold_all_values() {
    for atom in MmaAtom::all() {
        for (layout, held) in [
            (atom.a(), atom.input_values()),
            (atom.b(), atom.input_values()),
            (atom.c(), atom.result_values()),
        ] {
            let values = layout.mode(1).unwrap().size();
            assert_eq!(held, values, "{}", atom.name);
            assert_eq!(layout.mode(0).unwrap().size(), atom.wave, "{}", atom.name);
        }
    }
}
