//! Problems whose M and N are no whole tiles, and the stores of C.

use super::{
    CHIPS, LADDER,
    gemm::{built, judge, ran, small},
    spec,
};
use tilefold::{
    CompileOptions, ElementType, Emit, Error, Gemm, Inputs, Operand,
    OperandLayout::{self, Col, Row},
    Prefetch, Shape, compile,
};

/// The block of the specs here.
const BLOCK: [i64; 3] = [64, 32, 32];

/// M and N around and below [`BLOCK`].
const RAGGED: [[i64; 2]; 12] = [
    [1, 1],
    [1, 96],
    [96, 1],
    [63, 31],
    [65, 33],
    [64, 33],
    [65, 32],
    [17, 7],
    [96, 96],
    [130, 40],
    [127, 95],
    [200, 72],
];

fn transpositions() -> impl Iterator<Item = [&'static OperandLayout; 3]> {
    let both = || [&Row, &Col].into_iter();
    both().flat_map(move |a| both().flat_map(move |b| both().map(move |c| [a, b, c])))
}

/// A spec of [`BLOCK`] tiles with these layouts of A, B and C and leading dimensions, if given.
fn layouts(chip: &str, layouts: [&OperandLayout; 3], c: ElementType, ld: Option<[i64; 3]>) -> Gemm {
    let operand = |index: usize, element| {
        let operand = Operand::new(element, layouts[index].clone());
        match ld {
            Some(ld) => operand.with_ld(ld[index]),
            None => operand,
        }
    };
    small(chip)
        .operand_a(operand(0, ElementType::F16))
        .operand_b(operand(1, ElementType::F16))
        .operand_c(operand(2, c))
        .accumulate(ElementType::F32)
}

/// Specs that name what they are run on: accesses are as wide as those lines allow.
#[test]
fn every_extent_as_the_spec_names_it() {
    use ElementType::{F16, F32};
    for chip in CHIPS {
        for (index, transposition) in transpositions().enumerate() {
            for (turn, [m, n]) in RAGGED.into_iter().enumerate() {
                // Each layout meets each extent with one type or the other.
                let element = [F16, F32][(index + turn) % 2];
                let spec = layouts(chip, transposition, element, None).m(m).n(n);
                let what = format!("{chip} {transposition:?} {element} {m} x {n}");
                let outcome = ran(&built(&spec.build().unwrap()), [m, n, 64], Inputs::Signs);
                judge(&what, &outcome, true);
            }
        }
    }
}

/// One kernel of 128-bit accesses for lines that are padded; what it may not touch between them,
/// [`ran`] looks at.
#[test]
fn padded_lines_keep_their_padding() {
    use ElementType::{Bf16, F16, F32};
    for chip in CHIPS {
        for (index, transposition) in transpositions().enumerate() {
            let element = [F16, F32][index % 2];
            let spec = layouts(chip, transposition, element, Some([256, 264, 272]));
            let kernel = built(&spec.m(256).n(256).build().unwrap());
            // A's and B's lines are whole words where they run along M and N.
            let even = |extent: i64, along| if along { extent + extent % 2 } else { extent };
            for [m, n] in RAGGED {
                let [m, n] = [
                    even(m, *transposition[0] == Col),
                    even(n, *transposition[1] == Row),
                ];
                let what = format!("{chip} {transposition:?} {element} {m} x {n}");
                judge(&what, &ran(&kernel, [m, n, 64], Inputs::Signs), true);
            }
        }
        for (c, accumulate) in [(Bf16, Bf16), (Bf16, F32)] {
            let spec = small(chip).a(Bf16, Row).b(Bf16, Col).accumulate(accumulate);
            for layout in [Row, Col] {
                let operand = Operand::new(c, layout.clone()).with_ld(136);
                let kernel = built(&spec.clone().operand_c(operand).build().unwrap());
                let what = format!("{chip} bf16 {accumulate} {layout}");
                judge(&what, &ran(&kernel, [67, 45, 64], Inputs::Signs), true);
            }
        }
    }
}

#[test]
fn lines_of_c_any_distance_apart() {
    for chip in CHIPS {
        for layout in [Row, Col] {
            for ld in [68, 70, 71] {
                let operand = Operand::new(ElementType::F16, layout.clone()).with_ld(ld);
                let kernel = built(&small(chip).operand_c(operand).build().unwrap());
                let what = format!("{chip} {layout} {ld}");
                for [m, n] in [[64, 64], [67, 61], [33, 68]] {
                    judge(&what, &ran(&kernel, [m, n, 32], Inputs::Signs), true);
                }
            }
        }
    }
}

#[test]
fn every_schedule() {
    for chip in CHIPS {
        for prefetch in [Prefetch::None, Prefetch::Burst, Prefetch::Interleaved] {
            let spec = small(chip)
                .prefetch(prefetch)
                .group_rows(2)
                .build()
                .unwrap();
            judge(
                &format!("{chip} {prefetch}"),
                &ran(&built(&spec), [200, 45, 96], Inputs::Signs),
                true,
            );
        }
        for file in LADDER {
            let outcome = ran(&built(&spec(file, chip)), [264, 130, 128], Inputs::Signs);
            judge(&format!("{file} on {chip}"), &outcome, true);
        }
    }
}

/// Loads of one word hold four elements of 8 bits, those of 16 bytes sixteen: whatever the lines
/// of A and B end with is loaded, and nothing past it.
#[test]
fn lines_of_bytes() {
    let element = ElementType::Fp8;
    for global in [false, true] {
        for extent in [64, 68, 66, 65, 97] {
            let operand =
                |layout: &OperandLayout| Operand::new(element, layout.clone()).with_ld(112);
            let mut spec = small("gfx1201")
                .operand_a(operand(&Col))
                .operand_b(operand(&Row))
                .c(ElementType::F32, Col)
                .accumulate(ElementType::F32)
                .m(extent)
                .n(extent);
            if global {
                let bytes = 1 << extent.trailing_zeros().min(4);
                spec = spec.load(match bytes {
                    16 => "global_load_b128",
                    4 => "global_load_b32",
                    2 => "global_load_b16",
                    _ => "global_load_b8",
                });
            }
            let kernel = built(&spec.build().unwrap());
            let what = format!("{extent}, global loads: {global}");
            judge(
                &what,
                &ran(&kernel, [extent, extent, 64], Inputs::Signs),
                true,
            );
        }
    }
}

/// Global loads, which nobody checks, at every edge and for every transposition.
#[test]
fn global_loads_stay_inside() {
    for chip in CHIPS {
        for (index, transposition) in transpositions().enumerate() {
            // Each layout meets every third of the extents, and all of them meet each.
            for [m, n] in RAGGED.into_iter().skip(index % 3).step_by(3) {
                let mut spec = layouts(chip, transposition, ElementType::F16, None)
                    .m(m)
                    .n(n);
                let odd = |extent: i64, along: bool| along && extent % 8 != 0;
                if odd(m, *transposition[0] == Col) || odd(n, *transposition[1] == Row) {
                    spec = spec.load("global_load_b16");
                } else {
                    spec = spec.load("global_load_b128");
                }
                let what = format!("{chip} {transposition:?} {m} x {n}");
                let outcome = ran(&built(&spec.build().unwrap()), [m, n, 64], Inputs::Signs);
                judge(&what, &outcome, true);
            }
        }
    }
}

/// Stores of a kernel's assembly: (all of them, those of 128 bits).
fn stores(spec: Gemm) -> (usize, usize) {
    let options = CompileOptions {
        emit: Some(Emit::Isa),
    };
    let isa = compile(&spec.build().unwrap(), &options)
        .unwrap()
        .emitted
        .unwrap();
    let stores: Vec<&str> = isa
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .filter(|word| word.starts_with("global_store") || word.starts_with("buffer_store"))
        .collect();
    let wide = stores
        .iter()
        .filter(|store| store.ends_with("_b128"))
        .count();
    (stores.len(), wide)
}

#[test]
fn whole_tiles_are_stored_128_bits_at_a_time() {
    use ElementType::{Bf16, F16, F32};
    for chip in CHIPS {
        for (input, accumulate, output) in [
            (F16, F16, F16),
            (F16, F16, F32),
            (F16, F32, F16),
            (F16, F32, F32),
            (Bf16, F32, Bf16),
            (Bf16, Bf16, Bf16),
        ] {
            for layout in [Row, Col] {
                let spec = |load| {
                    small(chip)
                        .a(input, Row)
                        .b(input, Col)
                        .c(output, layout.clone())
                        .accumulate(accumulate)
                        .load(load)
                };
                let bytes = BLOCK[0] * BLOCK[1] * i64::from(output.bits()) / 8;
                let expected = (bytes / 64 / 16) as usize; // of 64 threads
                for load in ["global_load_b128", "buffer_load_b128"] {
                    // Those of whole blocks, and the same again in blocks at the edge, beside
                    // what these store element by element.
                    let (_, wide) = stores(spec(load));
                    let what = format!("{chip} {input} {accumulate} {output} {layout} {load}");
                    assert_eq!(wide, 2 * expected, "{what}");
                }
            }
        }
    }
}

/// Blocks across the edge, where every line is whole pieces of 128 bits: nothing narrower runs.
/// One element more, and it does.
#[test]
fn lines_of_whole_pieces_are_stored_128_bits_at_a_time() {
    use ElementType::{Bf16, F16, F32};
    for chip in CHIPS {
        for (input, output) in [(F16, F16), (F16, F32), (Bf16, Bf16)] {
            for layout in [Row, Col] {
                let spec = |ld| {
                    let c = Operand::new(output, layout.clone()).with_ld(ld);
                    let spec = small(chip).a(input, Row).b(input, Col).operand_c(c);
                    built(&spec.accumulate(F32).build().unwrap())
                };
                let kernel = spec(136);
                let narrow = |extents: [i64; 2]| {
                    let outcome = ran(&kernel, [extents[0], extents[1], 32], Inputs::Signs);
                    let what = format!("{chip} {input} {output} {layout} {extents:?}");
                    judge(&what, &outcome, true);
                    let ran = |kind: &str| -> u64 {
                        let counts = outcome.instructions.iter();
                        counts
                            .filter(|count| count.instruction.starts_with(kind))
                            .map(|count| count.executions)
                            .sum()
                    };
                    let wide = ran("buffer_store_b128");
                    assert!(wide > 0, "{what}");
                    ran("buffer_store") + ran("global_store") - wide
                };
                assert_eq!(narrow([72, 40]), 0);
                assert!(narrow([73, 41]) > 0);
            }
        }
    }
}

#[test]
fn shapes_that_no_kernel_takes() {
    let refused = |spec: Gemm, extents: [i64; 3]| {
        let plan = built(&spec.build().unwrap()).plan;
        let error = Shape::of(&plan, extents.map(Some)).unwrap_err();
        let report = miette::Report::new(Error::from(error));
        format!("{report}\n  help: {}", report.help().unwrap())
    };
    let chip = "gfx1201";
    let a_by_columns = || layouts(chip, [&Col, &Col, &Col], ElementType::F16, Some([128; 3]));
    insta::assert_snapshot!(
        [
            refused(small(chip), [64, 64, 40]),
            refused(small(chip).load("global_load_b128"), [65, 64, 64]),
            refused(a_by_columns(), [63, 64, 64]),
            refused(small(chip), [63, 64, 64]),
            refused(
                small(chip).block([16, 16, 16]).waves([1, 1]),
                [1 << 24, 1 << 20, 16]
            ),
        ]
        .join("\n")
    );
}
