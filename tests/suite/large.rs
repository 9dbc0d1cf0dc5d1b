//! Matrices past 2 and 4 GiB, of which the simulator holds what is touched: offsets that wrap and
//! descriptors that end too early, as public reports of other libraries have them.

use super::{
    CHIPS,
    gemm::{built, small},
};
use tilefold::{
    Compiled, ElementType, Extent, Gemm, Operand,
    OperandLayout::{Col, Row},
    Shape,
};
use tilefold_sim::{Arg, CodeObject, Element, Fill, Launch, Pattern, Sample, Simulator};

/// The type by the simulator's name.
fn element(element: ElementType) -> Element {
    match element {
        ElementType::F32 => Element::F32,
        ElementType::F16 => Element::F16,
        ElementType::Bf16 => Element::Bf16,
        ElementType::Fp8 => Element::F8E4m3,
        other => panic!("{other} is in no test here"),
    }
}

/// Runs the blocks of C with these numbers and compares all that they hold.
fn blocks_are_right(what: &str, compiled: &Compiled, extents: [i64; 3], blocks: &[u64]) {
    let shape = Shape::of(&compiled.plan, extents.map(Some)).unwrap();
    blocks_of_shape_are_right(what, compiled, shape, blocks);
}

fn blocks_of_shape_are_right(what: &str, compiled: &Compiled, shape: Shape, blocks: &[u64]) {
    let plan = &compiled.plan;
    let Shape { m, n, k, .. } = shape;
    // Where the element of two coordinates is.
    let at = |operand: usize, first: i64, second: i64| {
        let ld = shape.ld[operand];
        match plan.operand(operand).layout {
            Row => first * ld + second,
            _ => second * ld + first,
        }
    };
    let size = |operand: usize| shape.elements(plan, operand);
    let mut simulator = Simulator::new();
    let input = element(plan.problem.a.element);
    let pattern = |seed| Pattern {
        element: input,
        fill: Fill::Signs { seed },
    };
    let bytes = |elements: i64, element: Element| elements as usize * element.bytes();
    let (a, b) = (pattern(1), pattern(2));
    let output = element(plan.problem.c.element);
    let c = simulator.memory.alloc_output(bytes(size(2), output));
    let mut args = vec![
        Arg::Buffer(simulator.memory.alloc_pattern(bytes(size(0), input), a)),
        Arg::Buffer(simulator.memory.alloc_pattern(bytes(size(1), input), b)),
        Arg::Buffer(c),
    ];
    args.extend(shape.arguments().map(|(_, value)| Arg::I32(value as i32)));
    let launch = Launch {
        grid: compiled
            .manifest
            .grid
            .size(m as u64, n as u64, k as u64)
            .unwrap(),
        block: compiled.manifest.block,
        args,
        sample: Some(Sample::Only(
            blocks.iter().map(|&id| [id as u32, 0, 0]).collect(),
        )),
        ..Launch::default()
    };
    let object = CodeObject::load(&compiled.code.hsaco).unwrap();
    let report = simulator
        .launch(&object, &compiled.manifest.kernel, launch)
        .unwrap();
    assert!(report.passed(), "{what}: {:#?}", report.findings);

    let [block_m, block_n, _] = plan.block;
    let across = (n - 1) / block_n + 1;
    for &id in blocks {
        let [row, column] = [id as i64 / across * block_m, id as i64 % across * block_n];
        let rows = block_m.min(m - row);
        for (row, column) in (row..row + rows)
            .flat_map(|row| (column..n.min(column + block_n)).map(move |column| (row, column)))
        {
            let size = output.bytes() as u64;
            let start = at(2, row, column) as u64 * size;
            let bits = simulator.memory.read_range(c, start..start + size);
            let mut word = [0; 8];
            word[..bits.len()].copy_from_slice(&bits);
            let expected: f64 = (0..k)
                .map(|k_at| {
                    let [of_a, of_b] = [at(0, row, k_at), at(1, k_at, column)];
                    a.value(of_a as u64) * b.value(of_b as u64)
                })
                .sum();
            let value = output.decode(u64::from_le_bytes(word));
            assert_eq!(value, expected, "{what}: C[{row},{column}]");
        }
    }
}

/// The first and the last block, and those around the middle.
fn ends_and_middle([m, n]: [i64; 2], [block_m, block_n, _]: [i64; 3]) -> Vec<u64> {
    let blocks = (((m - 1) / block_m + 1) * ((n - 1) / block_n + 1)) as u64;
    vec![0, blocks / 2 - 1, blocks / 2, blocks - 1]
}

#[test]
fn outputs_past_4_gib() {
    for chip in CHIPS {
        for load in ["buffer_load_b128", "global_load_b128"] {
            let spec = small(chip)
                .c(ElementType::F32, Col)
                .accumulate(ElementType::F32);
            let compiled = built(&spec.load(load).build().unwrap());
            // 2^31 elements and some, 8 GiB.
            let [m, n] = [65536 + 32, 32768];
            let blocks = ends_and_middle([m, n], compiled.plan.block);
            blocks_are_right(&format!("{chip} {load}"), &compiled, [m, n, 64], &blocks);
        }
    }
}

/// A line of C is 10 MiB long, and a bf16 output of 256 of them 2.54 GiB, with half a tile at its
/// edge.
#[test]
fn long_lines() {
    for chip in CHIPS {
        let bf16 = |layout| Operand::new(ElementType::Bf16, layout);
        let spec = small(chip)
            .operand_a(bf16(Row))
            .operand_b(bf16(Col))
            .operand_c(bf16(Col))
            .accumulate(ElementType::F32)
            .block([64, 32, 16]);
        let compiled = built(&spec.build().unwrap());
        let [m, n] = [5_326_464, 256];
        let blocks = ends_and_middle([m, n], compiled.plan.block);
        blocks_are_right(chip, &compiled, [m, n, 48], &blocks);
    }
}

#[test]
fn inputs_past_4_gib() {
    let fp8 = |layout| Operand::new(ElementType::Fp8, layout);
    let spec = small("gfx1201")
        .operand_a(fp8(Row))
        .operand_b(fp8(Col))
        .c(ElementType::F32, Col)
        .accumulate(ElementType::F32);
    let compiled = built(&spec.build().unwrap());
    let [m, n] = [(1 << 20) + 64, 64];
    let blocks = ends_and_middle([m, n], compiled.plan.block);
    blocks_are_right("fp8", &compiled, [m, n, 4096], &blocks);
}

/// Where lines are as far apart as the manifest lets them be, all that a tile spans is reached and
/// stores outside C are dropped, whichever way the lines run. Lines further apart are refused before
/// a launch.
#[test]
fn tiles_of_2_gib() {
    for (chip, load, orders, block) in [
        ("gfx1201", "buffer_load_b64", [Row, Col, Row], [64, 16, 16]),
        ("gfx1100", "buffer_load_b64", [Col, Row, Col], [64, 32, 32]),
        ("gfx1151", "global_load_b64", [Row, Row, Row], [32, 64, 16]),
        ("gfx1201", "global_load_b64", [Col, Col, Col], [32, 48, 32]),
    ] {
        let what = format!("{chip} {load} {orders:?}");
        let [a, b, c] = orders;
        let spec = Gemm::new(chip)
            .m(Extent::Any)
            .n(Extent::Any)
            .k(Extent::Any)
            .a(ElementType::F16, a)
            .b(ElementType::F16, b)
            .c(ElementType::F32, c)
            .accumulate(ElementType::F32)
            .block(block)
            .load(load);
        let compiled = built(&spec.build().unwrap());
        // The most that are multiples of what accesses take.
        let ld = ["lda", "ldb", "ldc"].map(|argument| {
            let stated = compiled.manifest.requirements.iter();
            let stated = stated.filter(|it| it.argument == argument);
            let [stated] = stated.collect::<Vec<_>>()[..] else {
                panic!("{what}: one requirement of {argument}");
            };
            let most = stated.at_most.expect("a leading dimension has a most");
            (most - most % stated.multiple_of) as i64
        });
        // A tile and a part of one along M and N.
        let [m, n, k] = [block[0] + 8, block[1] + 8, 2 * block[2]];
        let shape = Shape::new(&compiled.plan, [m, n, k], ld).unwrap();
        blocks_of_shape_are_right(&what, &compiled, shape, &[0, 1, 2, 3]);

        for operand in 0..3 {
            let mut ld = ld;
            let plan = &compiled.plan;
            let [lines, length] = plan.axes(operand).map(|axis| block[axis]);
            let bytes = i64::from(plan.operand(operand).element.bits()) / 8;
            let span = |ld: i64| ((lines - 1) * ld + length) * bytes;
            let most = plan.most_apart(operand);
            assert!(span(most) <= 1 << 31 && span(most + 1) > 1 << 31, "{what}");
            ld[operand] = most + 1;
            let error = Shape::new(plan, [m, n, k], ld).unwrap_err();
            assert_eq!(
                error.argument,
                ["lda", "ldb", "ldc"][operand],
                "{what}: {error}"
            );
        }
    }
}
