//! Regrouping vectors in registers.

use super::{emit::Emit, permute::permute};
use melior::ir::Value;

/// Integer vectors of `from` elements of `bits` each, as vectors of `to` elements, the elements
/// in the same order. Both lengths are powers of two.
pub fn regroup<'c>(
    emit: &Emit<'c>,
    vectors: &[Value<'c, 'c>],
    from: i64,
    to: i64,
    bits: u32,
) -> Vec<Value<'c, 'c>> {
    if from == to {
        return vectors.to_vec();
    }
    if from > to {
        return vectors
            .iter()
            .flat_map(|vector| (0..from / to).map(|part| slice(emit, *vector, part * to, to, bits)))
            .collect();
    }
    vectors
        .chunks((to / from) as usize)
        .map(|parts| concatenate(emit, parts, from, bits))
        .collect()
}

/// As [`regroup`], each element `index` of the result being the one at `order[index]`.
pub fn arrange<'c>(
    emit: &Emit<'c>,
    vectors: &[Value<'c, 'c>],
    from: i64,
    to: i64,
    bits: u32,
    order: &[usize],
) -> Vec<Value<'c, 'c>> {
    // The longest runs that stay together and do not lie across vectors.
    let whole = |run: &usize| {
        order.chunks(*run).all(|part| {
            part[0].is_multiple_of(*run) && part.iter().copied().eq((part[0]..).take(*run))
        })
    };
    let widest = from.min(to).max(1) as usize;
    let lengths = std::iter::successors(Some(widest), |run| (*run > 1).then_some(run / 2));
    let run = lengths.into_iter().find(whole).unwrap_or(1);
    let element = bits as usize / 8;
    let [given, wanted] = [from, to].map(|len| len * i64::from(bits));
    let all = order.len() as i64 * i64::from(bits);
    let whole_words = given % 32 == 0 && all % 32 == 0;
    // Bytes that were loaded into registers of their own, one or two each.
    let apart = element == 1 && given < 32 && all % 32 == 0;
    if element > 0 && (run * element) as i64 * 8 < wanted.min(32) && (whole_words || apart) {
        // What LLVM makes of single bytes is shifts, masks and disjunctions.
        let at = |index: usize| {
            let (vector, place) = (index / from as usize, index % from as usize);
            vector * (given.max(32) / 8) as usize + place * element
        };
        let bytes: Vec<usize> = order
            .iter()
            .flat_map(|index| at(*index)..at(*index) + element)
            .collect();
        let words = match apart {
            true => words(emit, vectors, given),
            false => elements(emit, vectors, given / 32, 32),
        };
        let permuted = permute(emit, &words, &bytes);
        // Stores of 16 bits take either half of a register.
        let unit = wanted.min(32);
        let halves = elements(emit, &permuted, 32 / unit, unit as u32);
        let r#type = emit.vector(to, bits);
        return regroup(emit, &halves, 1, wanted / unit, unit as u32)
            .into_iter()
            .map(|vector| emit.bitcast(vector, r#type))
            .collect();
    }
    let parts = regroup(emit, vectors, from, run as i64, bits);
    let moved: Vec<_> = order.chunks(run).map(|part| parts[part[0] / run]).collect();
    regroup(emit, &moved, run as i64, to, bits)
}

/// Vectors, or what else has as many bits, as the elements of `len` elements of `bits` each.
fn elements<'c>(
    emit: &Emit<'c>,
    vectors: &[Value<'c, 'c>],
    len: i64,
    bits: u32,
) -> Vec<Value<'c, 'c>> {
    let r#type = emit.vector(len, bits);
    let vectors: Vec<_> = vectors
        .iter()
        .map(|vector| emit.bitcast(*vector, r#type))
        .collect();
    regroup(emit, &vectors, len, 1, bits)
}

/// Vectors of `bits` each, fewer than a word has, as words whose other bits are zero.
fn words<'c>(emit: &Emit<'c>, vectors: &[Value<'c, 'c>], bits: i64) -> Vec<Value<'c, 'c>> {
    let [part, word] = [bits as u32, 32].map(|bits| emit.int(bits));
    vectors
        .iter()
        .map(|vector| emit.op("llvm.zext", &[emit.bitcast(*vector, part)], word, &[]))
        .collect()
}

/// Elements `start` to `start + len` of a vector.
fn slice<'c>(
    emit: &Emit<'c>,
    vector: Value<'c, 'c>,
    start: i64,
    len: i64,
    bits: u32,
) -> Value<'c, 'c> {
    if len == 1 {
        return emit.element(vector, start, emit.int(bits));
    }
    let positions: Vec<i32> = (start..start + len)
        .map(|position| position as i32)
        .collect();
    emit.shuffle(vector, vector, &positions, emit.vector(len, bits))
}

/// One vector out of several of `len` elements each, by halves.
fn concatenate<'c>(emit: &Emit<'c>, parts: &[Value<'c, 'c>], len: i64, bits: u32) -> Value<'c, 'c> {
    if let [whole] = parts {
        return *whole;
    }
    let (left, right) = parts.split_at(parts.len() / 2);
    let half = len * left.len() as i64;
    let (left, right) = (
        concatenate(emit, left, len, bits),
        concatenate(emit, right, len, bits),
    );
    let result = emit.vector(2 * half, bits);
    if half == 1 {
        let poison = emit.poison(result);
        let [zero, one] = [0, 1].map(|index| emit.constant(32, index));
        let first = emit.op("llvm.insertelement", &[poison, left, zero], result, &[]);
        return emit.op("llvm.insertelement", &[first, right, one], result, &[]);
    }
    let positions: Vec<i32> = (0..2 * half).map(|position| position as i32).collect();
    emit.shuffle(left, right, &positions, result)
}
