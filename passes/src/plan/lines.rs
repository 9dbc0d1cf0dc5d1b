//! How operands lie in memory, and how wide that lets accesses be.

use super::memory_order;
use tilefold_dialect::{
    atoms::Space,
    element::ElementType,
    problem::{Extent, Problem},
};

/// Length of the lines of operand 0, 1 or 2 in memory, and how far apart they start.
pub struct Lines {
    pub length: Extent,
    pub apart: Extent,
    /// Whether they run along K.
    pub along_k: bool,
}

pub fn lines(problem: &Problem, operand: usize) -> Lines {
    let along_second = memory_order(problem, operand) == "row";
    let (rows, stored) = [
        (problem.m, &problem.a),
        (problem.n, &problem.b),
        (problem.m, &problem.c),
    ][operand];
    let second = if operand == 2 { problem.n } else { problem.k };
    let length = if along_second { second } else { rows };
    Lines {
        length,
        apart: stored.ld.map_or(length, Extent::Exact),
        along_k: along_second && operand != 2,
    }
}

/// Elements up to 16 that every line of operand 0, 1 or 2 is known to start at a multiple of:
/// nothing is known against lines of any length.
pub fn aligned_elements(problem: &Problem, operand: usize) -> i64 {
    let apart = lines(problem, operand).apart.exact();
    apart.map_or(16, |apart| 1 << apart.trailing_zeros().min(4))
}

/// Elements up to 16 that loads of A or B may move at once. Where lines run along M or N, they
/// are whole numbers of what cannot be half inside the matrix.
pub fn loaded_elements(problem: &Problem, operand: usize, space: Space) -> i64 {
    let lines = lines(problem, operand);
    let aligned = aligned_elements(problem, operand);
    let Some(length) = lines.length.exact().filter(|_| !lines.along_k) else {
        return aligned;
    };
    let element = [&problem.a, &problem.b][operand].element;
    let indivisible = indivisible(space, element, aligned);
    if length % indivisible == 0 {
        aligned
    } else {
        1 << length.trailing_zeros()
    }
}

/// Elements of a load of `width` that are inside the matrix together or not at all: range checks
/// of buffers drop whole 32-bit words, and a global load is moved inside as a whole.
pub fn indivisible(space: Space, element: ElementType, width: i64) -> i64 {
    match space {
        Space::Buffer => width.min(32 / i64::from(element.bits())),
        _ => width,
    }
}
