//! What a kernel relies on, and whether a problem meets it.

use miette::Diagnostic;
use thiserror::Error;
use tilefold_dialect::problem::{Extent, OperandLayout};
use tilefold_passes::{Plan, access_elements};
use tilefold_rocdl::Requirement;

/// Extents and leading dimensions of one launch, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Shape {
    /// Rows of A and C.
    pub m: i64,
    /// Columns of B and C.
    pub n: i64,
    /// Columns of A, rows of B.
    pub k: i64,
    /// Leading dimensions of A, B and C.
    pub ld: [i64; 3],
}

/// A problem that a kernel cannot take.
#[derive(Debug, Clone, PartialEq, Eq, Error, Diagnostic)]
#[error("{argument} = {value}: {rule}")]
pub struct LaunchError {
    /// The kernel's argument.
    pub argument: &'static str,
    /// Its value.
    pub value: i64,
    /// What it breaks.
    pub rule: String,
    /// What would do.
    #[help]
    pub help: String,
}

/// Workgroups of a launch: kernels number them in 31 bits.
const MAX_TILES: u64 = (1 << 31) - 1;

impl Shape {
    /// The shape that a spec names, with extents replaced where the caller gives others.
    ///
    /// # Errors
    /// A [`LaunchError`] where an extent is "any" and no number is given, or where the kernel
    /// relies on what the shape does not keep.
    pub fn of(plan: &Plan, overrides: [Option<i64>; 3]) -> Result<Self, LaunchError> {
        let problem = &plan.problem;
        let mut extents = [0; 3];
        for (index, (argument, extent)) in [("m", problem.m), ("n", problem.n), ("k", problem.k)]
            .into_iter()
            .enumerate()
        {
            extents[index] = match (overrides[index], extent) {
                (Some(value), _) | (None, Extent::Exact(value)) => value,
                (None, Extent::Any) => {
                    return Err(LaunchError {
                        argument,
                        value: 0,
                        rule: "the spec says any, so that a number is needed to run".into(),
                        help: format!("give --{argument}"),
                    });
                }
            };
        }
        let [m, n, k] = extents;
        let lines = [(m, k), (k, n), (m, n)];
        let ld = [0, 1, 2].map(|index| {
            let operand = plan.operand(index);
            operand.ld.unwrap_or(match operand.layout {
                OperandLayout::Row => lines[index].1,
                _ => lines[index].0,
            })
        });
        Self::new(plan, extents, ld)
    }

    /// The shape of these extents (m, n, k) and leading dimensions (of A, B and C).
    ///
    /// # Errors
    /// A [`LaunchError`] where the kernel relies on what the shape does not keep.
    pub fn new(plan: &Plan, [m, n, k]: [i64; 3], ld: [i64; 3]) -> Result<Self, LaunchError> {
        let shape = Self { m, n, k, ld };
        shape.check(plan)?;
        Ok(shape)
    }

    /// Lines and length of a line of operand 0, 1 or 2 in memory.
    pub fn lines(&self, plan: &Plan, operand: usize) -> (i64, i64) {
        let (rows, cols) = [(self.m, self.k), (self.k, self.n), (self.m, self.n)][operand];
        match plan.operand(operand).layout {
            OperandLayout::Row => (rows, cols),
            _ => (cols, rows),
        }
    }

    /// Elements from the first to the last of an operand.
    pub fn elements(&self, plan: &Plan, operand: usize) -> i64 {
        let (lines, length) = self.lines(plan, operand);
        (lines - 1) * self.ld[operand] + length
    }

    /// Values of the kernel's integer arguments, by name.
    pub fn arguments(&self) -> [(&'static str, i64); 6] {
        let [lda, ldb, ldc] = self.ld;
        [
            ("m", self.m),
            ("n", self.n),
            ("k", self.k),
            ("lda", lda),
            ("ldb", ldb),
            ("ldc", ldc),
        ]
    }

    fn check(&self, plan: &Plan) -> Result<(), LaunchError> {
        for (argument, value) in self.arguments() {
            if value < 1 || value > i64::from(i32::MAX) {
                return Err(LaunchError {
                    argument,
                    value,
                    rule: "extents and leading dimensions are 1 to 2^31 - 1".into(),
                    help: "an empty product needs no kernel".into(),
                });
            }
            for Requirement { multiple_of, .. } in requirements(plan)
                .into_iter()
                .filter(|requirement| requirement.argument == argument)
            {
                // Multiples are elements of a tile or bytes of an access.
                if value % multiple_of as i64 != 0 {
                    return Err(LaunchError {
                        argument,
                        value,
                        rule: format!("this kernel takes multiples of {multiple_of}"),
                        help: help(argument).into(),
                    });
                }
            }
        }
        let [tiles_m, tiles_n] =
            [0, 1].map(|i| (([self.m, self.n][i] - 1) / plan.block[i] + 1) as u64);
        if tiles_m * tiles_n > MAX_TILES {
            let (argument, value) = if self.m > self.n {
                ("m", self.m)
            } else {
                ("n", self.n)
            };
            return Err(LaunchError {
                argument,
                value,
                rule: format!("C is {tiles_m} x {tiles_n} tiles, a launch has at most {MAX_TILES}"),
                help: "take a larger tile.block, or multiply in parts".into(),
            });
        }
        for (operand, argument) in ["lda", "ldb", "ldc"].into_iter().enumerate() {
            let (_, length) = self.lines(plan, operand);
            let value = self.ld[operand];
            let refuse = |rule: String, help: &str| {
                Err(LaunchError {
                    argument,
                    value,
                    rule,
                    help: help.into(),
                })
            };
            if value < length {
                return refuse(
                    format!("lines of {length} elements would overlap"),
                    "a leading dimension is at least the length of a line",
                );
            }
            let most = plan.most_apart(operand);
            if value > most {
                let [axis, _] = plan.axes(operand);
                let lines = plan.block[axis];
                return refuse(
                    format!(
                        "a tile of {lines} lines would span more than 2 GiB, this kernel takes at \
                         most {most}"
                    ),
                    [
                        "take a tile.block of a smaller m",
                        "take a tile.block of a smaller n",
                        "take a tile.block of a smaller k",
                    ][axis],
                );
            }
        }
        Ok(())
    }
}

/// What would make an argument a multiple of what the kernel takes.
fn help(argument: &str) -> &'static str {
    match argument {
        "k" => "take a tile.block whose k divides the problem's, or pad A and B with zeros along k",
        "m" | "n" => {
            "give the spec the extent that is run and leave atoms.load out: it then loads fewer \
             elements at a time"
        }
        "ldc" => "pad C's lines, or give gemm.c.ld in the spec: stores are as wide as it allows",
        _ => "pad the matrix's lines, or take a narrower atoms.load",
    }
}

/// What each argument must be a multiple of, elements for integers and bytes for pointers, and what
/// leading dimensions are at most.
///
/// Blocks may overlap the edges along M and N. Where a load is inside the matrix as a whole or
/// not at all, lines along M or N are a multiple of it.
pub fn requirements(plan: &Plan) -> Vec<Requirement> {
    // A plan whose layouts the algebra cannot spread does not compile: no kernel relies on it.
    let widths = access_elements(plan).unwrap_or([1; 3]);
    let edge = |operand: usize| match plan.order(operand) {
        "col" => plan.whole_elements(operand, widths[operand]),
        _ => 1,
    };
    let mut all = vec![
        ("m", edge(0), None),
        ("n", edge(1), None),
        ("k", plan.block[2], None),
    ];
    for (operand, (pointer, ld)) in [("a", "lda"), ("b", "ldb"), ("c", "ldc")]
        .into_iter()
        .enumerate()
    {
        let bytes = i64::from(plan.operand(operand).element.bits()) / 8;
        all.push((pointer, widths[operand] * bytes, None));
        all.push((ld, widths[operand], Some(plan.most_apart(operand) as u64)));
    }
    all.into_iter()
        .filter(|(_, multiple, most)| *multiple > 1 || most.is_some())
        .map(|(argument, multiple, at_most)| Requirement {
            argument: argument.into(),
            multiple_of: multiple as u64,
            at_most,
        })
        .collect()
}
