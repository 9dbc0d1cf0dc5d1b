//! Executing a compiled kernel on the simulator and judging its result.

use crate::{
    Compiled, Error, Inputs, Shape,
    verify::{Dense, Placement, Reference, compare, encode},
};
use serde::Serialize;
use std::{collections::BTreeMap, time::Instant};
use tilefold_dialect::problem::OperandLayout;
use tilefold_passes::Plan;
use tilefold_sim::{Arg, CodeObject, Counters, InstructionCount, Launch, Simulator};

/// What to run a kernel on.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// m, n and k instead of the spec's.
    pub extents: [Option<i64>; 3],
    /// What A and B are filled with.
    pub inputs: Inputs,
    /// Seed of the inputs.
    pub seed: u64,
}

/// What a run found.
#[derive(Clone, Debug, Serialize)]
pub struct Outcome {
    /// Extents and leading dimensions.
    pub shape: Shape,
    /// Whether every element of C is what it must be, and nothing else was written.
    pub correct: bool,
    /// Whether that means equality.
    pub exact: bool,
    /// Largest distance from what was expected; infinity (null in JSON) where an element is no
    /// number.
    pub max_abs_error: f64,
    /// Elements that are wrong.
    pub mismatches: u64,
    /// Bytes between the lines of C that were written.
    pub padding_written: u64,
    /// The first wrong element.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_mismatch: Option<String>,
    /// How often each check of the simulator found something.
    pub checks: BTreeMap<&'static str, u64>,
    /// The first of the findings.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// What the simulator assumed.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// What the kernel did.
    pub counters: Counters,
    /// What each instruction did.
    #[serde(skip)]
    pub instructions: Vec<InstructionCount>,
    /// Seconds that the simulation took.
    pub seconds: f64,
    /// Whether the checks of the simulator were silent.
    #[serde(skip)]
    pub checks_passed: bool,
}

impl Outcome {
    /// Whether the result is right and no check found anything.
    pub fn passed(&self) -> bool {
        self.correct && self.checks_passed
    }
}

/// A fresh output holds this byte everywhere: no number of any type of C, so that an element
/// that the kernel leaves out is seen.
const FILL: u8 = 0xff;

/// Executes a compiled kernel and compares its result with a reference in f64.
///
/// # Errors
/// [`Error::Launch`] where the kernel cannot take the shape, [`Error::Sim`] where the simulator
/// cannot execute it. A wrong result is no error: see [`Outcome::passed`].
pub fn run(compiled: &Compiled, options: &RunOptions) -> Result<Outcome, Error> {
    let plan = &compiled.plan;
    let shape = Shape::of(plan, options.extents)?;
    let grid = compiled
        .manifest
        .grid
        .size(shape.m as u64, shape.n as u64, shape.k as u64)?;

    fits_memory(plan, &shape)?;
    let mut simulator = Simulator::new();
    let (a, a_bytes) = operand(plan, &shape, 0, options);
    let (b, b_bytes) = operand(plan, &shape, 1, options);
    let element = plan.problem.c.element;
    let c_bytes = shape.elements(plan, 2) as usize * element.bits() as usize / 8;
    let c = simulator.memory.alloc_inout(&vec![FILL; c_bytes]);
    let mut args = vec![
        Arg::Buffer(simulator.memory.alloc_input(&a_bytes)),
        Arg::Buffer(simulator.memory.alloc_input(&b_bytes)),
        Arg::Buffer(c),
    ];
    args.extend(shape.arguments().map(|(_, value)| Arg::I32(value as i32)));
    let object = CodeObject::load(&compiled.code.hsaco)?;
    let launch = Launch {
        grid,
        block: compiled.manifest.block,
        args,
        ..Launch::default()
    };
    let start = Instant::now();
    let report = simulator.launch(&object, &compiled.manifest.kernel, launch)?;
    let seconds = start.elapsed().as_secs_f64();

    let integers = options.inputs.are_integers();
    let reference = Reference::new(&a, &b, integers, plan.problem.accumulate);
    let placement = Placement {
        element,
        strides: strides(plan, &shape, 2),
    };
    let comparison = compare(&reference, &placement, &simulator.memory.read(c), FILL);
    Ok(Outcome {
        shape,
        correct: comparison.mismatches == 0 && comparison.padding_written == 0,
        exact: reference.exact,
        max_abs_error: comparison.max_abs_error,
        mismatches: comparison.mismatches,
        padding_written: comparison.padding_written,
        first_mismatch: comparison.first.map(|(row, col, value, expected)| {
            format!("C[{row},{col}] is {value}, expected {expected}")
        }),
        checks_passed: report.passed(),
        checks: report.checks,
        findings: report.findings.iter().map(ToString::to_string).collect(),
        notes: report.notes,
        counters: report.counters,
        instructions: report.instructions,
        seconds,
    })
}

/// Most bytes that a run may take: the matrices, and in f64 their copies for the reference.
const MAX_RUN_BYTES: i64 = 12 << 30;

/// Refuses what no machine that compiles kernels has the memory for, before it is asked for.
fn fits_memory(plan: &Plan, shape: &Shape) -> Result<(), Error> {
    let bytes = (0..3).fold(0_i64, |sum, operand| {
        let elements = shape.elements(plan, operand);
        let size = i64::from(plan.operand(operand).element.bits()) / 8;
        // In memory and in the simulator; in f64, and once more where magnitudes are summed.
        sum.saturating_add(elements.saturating_mul(2 * size + 16))
    });
    if bytes <= MAX_RUN_BYTES {
        return Ok(());
    }
    Err(Error::Usage {
        what: format!(
            "running {} x {} x {} takes about {} GiB of memory, more than {} GiB",
            shape.m,
            shape.n,
            shape.k,
            bytes >> 30,
            MAX_RUN_BYTES >> 30
        ),
        advice: "give smaller extents with --m, --n and --k: the kernel takes any".into(),
    })
}

/// Elements from a row, and from a column, of an operand to the next.
fn strides(plan: &Plan, shape: &Shape, operand: usize) -> [usize; 2] {
    let ld = shape.ld[operand] as usize;
    match plan.operand(operand).layout {
        OperandLayout::Row => [ld, 1],
        _ => [1, ld],
    }
}

/// Operand 0 (A) or 1 (B): its values, rows first, and its bytes in memory. What lies between
/// its lines is no number, so that a kernel that multiplies it shows.
fn operand(plan: &Plan, shape: &Shape, index: usize, options: &RunOptions) -> (Dense, Vec<u8>) {
    let element = plan.operand(index).element;
    let [rows, cols] = [[shape.m, shape.k], [shape.k, shape.n]][index].map(|e| e as usize);
    let values = options
        .inputs
        .values(element, rows * cols, options.seed, index as u64);
    let size = element.bits() as usize / 8;
    let mut bytes = vec![FILL; shape.elements(plan, index) as usize * size];
    let [row_stride, col_stride] = strides(plan, shape, index);
    let mut encoded = Vec::with_capacity(size);
    for row in 0..rows {
        for col in 0..cols {
            let at = (row * row_stride + col * col_stride) * size;
            encoded.clear();
            encode(element, values[row * cols + col], &mut encoded);
            bytes[at..at + size].copy_from_slice(&encoded);
        }
    }
    (Dense { rows, cols, values }, bytes)
}
