//! The search over LDS layouts: its rules by evaluation, its answers by brute force.

mod brute;
mod found;
mod limits;
pub mod meaning;
mod rules;

use tilefold_dialect::{atoms::MmaAtom, element::ElementType};
use tilefold_machine::Machine;
use tilefold_passes::{search::layouts::TileUse, tiling::MmaLayouts};

/// The use of A's tile by the chip's f16 or bf16 instruction.
fn wmma(chip: &str, element: ElementType, tile: [i64; 2], threads: i64, along: usize) -> TileUse {
    let atom = MmaAtom::by_types(chip, element, ElementType::F32).unwrap();
    let waves = match threads / 32 {
        1 => "(1,1):(1,1)",
        4 => "(2,2):(2,1)",
        8 => "(4,2):(2,1)",
        _ => "(4,4):(4,1)",
    };
    let waves = waves.parse().unwrap();
    let mma = MmaLayouts::new(atom, [tile[0], 64, tile[1]], &waves).unwrap();
    TileUse {
        machine: Machine::by_name(chip).unwrap(),
        tile,
        element,
        threads,
        along,
        load_elements: 8,
        fragments: mma.a,
        max_bytes: 65536,
        reorder: false,
    }
}

/// A tile of 8-bit elements on gfx1201: lane % 16 is the row, lane / 16 the half of K, 8 bytes
/// each; two waves share the rows, two have the same.
fn fp8(tile: [i64; 2], reorder: bool) -> TileUse {
    let [rows, depth] = tile;
    let (half, steps) = (rows / 2, depth / 16);
    let fragments = format!(
        "((16,2,2,2),(8,{},{steps})):((1,{},0,{half}),({rows},16,{}))",
        half / 16,
        8 * rows,
        16 * rows
    );
    TileUse {
        machine: Machine::by_name("gfx1201").unwrap(),
        tile,
        element: ElementType::Fp8,
        threads: 128,
        along: 1,
        load_elements: 16,
        fragments: fragments.parse().unwrap(),
        max_bytes: 65536,
        reorder,
    }
}
