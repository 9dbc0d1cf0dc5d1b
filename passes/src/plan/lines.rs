//! How operands lie in memory, how wide that lets accesses be, and how far apart lines may start.

use super::memory_order;
use tilefold_dialect::{
    atoms::Space,
    element::ElementType,
    problem::{Extent, MAX_EXTENT, Problem},
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

/// Bytes of memory that a tile may span, from its first element to the end of its last: offsets
/// within a tile have 31 bits, and stores outside C one of 2^31, which no range of a descriptor may
/// then reach.
const SPAN: i64 = 1 << 31;

/// Elements from one line to the next at most, where a tile has so many `lines`, each of `length`
/// elements of so many `bytes`. What is within reach of a kernel follows from this alone: the
/// lowering counts on it, a manifest states it, and launches and the search keep to it.
pub fn most_apart(lines: i64, length: i64, bytes: i64) -> i64 {
    match lines {
        ..=1 => MAX_EXTENT,
        _ => ((SPAN / bytes - length) / (lines - 1)).min(MAX_EXTENT),
    }
}

/// The axes of a block (m, n, k) along which the tile of operand 0, 1 or 2 has its lines, and
/// along which each of them runs.
pub fn axes(problem: &Problem, operand: usize) -> [usize; 2] {
    let [first, second] = [[0, 2], [1, 2], [0, 1]][operand];
    match memory_order(problem, operand) {
        "row" => [first, second],
        _ => [second, first],
    }
}

/// As [`most_apart`], of the tile of operand 0, 1 or 2 in a block.
pub fn most_apart_of(problem: &Problem, operand: usize, block: [i64; 3]) -> i64 {
    let [lines, length] = axes(problem, operand).map(|axis| block[axis]);
    let element = [&problem.a, &problem.b, &problem.c][operand].element;
    most_apart(lines, length, i64::from(element.bits()) / 8)
}

/// The first operand that is known to have lines so far apart that its tile spans too much.
pub fn too_far_apart(problem: &Problem, block: [i64; 3]) -> Option<usize> {
    (0..3).find(|operand| {
        let apart = lines(problem, *operand).apart.exact();
        apart.is_some_and(|apart| apart > most_apart_of(problem, *operand, block))
    })
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
