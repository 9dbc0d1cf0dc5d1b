//! Offsets as code: a part that depends on the thread alone, computed once, and constants.

use super::emit::Emit;
use crate::access::in_lds;
use melior::ir::Value;
use std::collections::HashMap;
use tilefold_layout::{ComposedLayout, Layout, LayoutError, Swizzle};

/// Emits `layout(thread)` for a layout over threads: the sum over its modes of
/// ((thread / d) mod extent) * stride, d the product of the extents before.
///
/// Returns `None` where the layout is zero for every thread.
pub fn of_thread<'c>(
    emit: &Emit<'c>,
    thread: Value<'c, 'c>,
    layout: &Layout,
) -> Option<Value<'c, 'c>> {
    let modes = layout.coalesce().flat_modes();
    let mut divisor = 1;
    let mut sum: Option<Value<'c, 'c>> = None;
    for (position, (extent, stride)) in modes.iter().copied().enumerate() {
        let (own, is_last) = (divisor, position + 1 == modes.len());
        divisor *= extent;
        if stride == 0 || extent == 1 {
            continue;
        }
        let mut coordinate = thread;
        if own > 1 {
            coordinate = emit.binary("llvm.udiv", coordinate, emit.constant(32, own));
        }
        if !is_last {
            coordinate = emit.binary("llvm.urem", coordinate, emit.constant(32, extent));
        }
        let term = if stride == 1 {
            coordinate
        } else {
            emit.mul(coordinate, emit.constant(32, stride))
        };
        sum = Some(match sum {
            Some(sum) => emit.add(sum, term),
            None => term,
        });
    }
    sum
}

/// Byte offsets of one operand's accesses to its tile in LDS.
///
/// With a swizzled layout, the offset of value v of thread t is Sw(i(t) + i(v)). Where i(t) and
/// i(v) share no bits, that is Sw(i(t)) xor Sw(i(v)); the bits of Sw(i(v)) that no thread's
/// Sw(i(t)) ever has set can be added instead of xored, and an addition of a constant becomes
/// the instruction's offset. Only the other bits need a register of their own.
pub struct SharedAddress<'c> {
    thread: Value<'c, 'c>,
    swizzle: Swizzle,
    bytes: i64,
    accesses: Vec<(Variable, i64)>,
    registers: HashMap<Variable, Value<'c, 'c>>,
}

/// What of an access's offset depends on the thread, t being its offset before the swizzle.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Variable {
    /// Sw(t) xor a constant.
    Xor(i64),
    /// Sw(t + a constant).
    Sum(i64),
}

impl Variable {
    /// Splits Sw(t + start) into a variable and a constant to add, where `used` are the bits that
    /// some thread's t has and `used_swizzled` those that some thread's Sw(t) has.
    fn of(swizzle: Swizzle, start: i64, used: i64, used_swizzled: i64) -> (Self, i64) {
        if swizzle.is_identity() {
            (Self::Xor(0), start)
        } else if start & used == 0 {
            let swizzled = swizzle.apply(start);
            (
                Self::Xor(swizzled & used_swizzled),
                swizzled & !used_swizzled,
            )
        } else {
            (Self::Sum(start), 0)
        }
    }
}

impl<'c> SharedAddress<'c> {
    /// Prepares the accesses of `width` consecutive values each. `layout` is the thread-value
    /// layout, `placement` the tile's layout in LDS, `bytes` the size of an element.
    pub fn new(
        emit: &Emit<'c>,
        thread: Value<'c, 'c>,
        layout: &Layout,
        placement: &ComposedLayout,
        width: i64,
        bytes: i64,
    ) -> Result<Self, LayoutError> {
        let [threads, values] = in_lds(placement, layout)?;
        let swizzle = placement.swizzle().unwrap_or(Swizzle::IDENTITY);
        // Every bit that some thread's part has, before and after the swizzle.
        let (mut used, mut used_swizzled) = (0, 0);
        for part in threads.offsets() {
            used |= part;
            used_swizzled |= swizzle.apply(part);
        }
        let accesses = values
            .offsets()
            .step_by(width as usize)
            .map(|value| {
                let start = placement.offset() + value;
                Variable::of(swizzle, start, used, used_swizzled)
            })
            .collect();
        let thread = of_thread(emit, thread, &threads).unwrap_or_else(|| emit.constant(32, 0));
        Ok(Self {
            thread,
            swizzle,
            bytes,
            accesses,
            registers: HashMap::new(),
        })
    }

    /// Register part and constant part, in bytes, of access `index`. The register is computed
    /// by `emit`, once for all accesses that share it.
    pub fn access(&mut self, emit: &Emit<'c>, index: usize) -> (Value<'c, 'c>, i64) {
        let (variable, add) = self.accesses[index];
        let (thread, swizzle, bytes) = (self.thread, self.swizzle, self.bytes);
        let register = *self.registers.entry(variable).or_insert_with(|| {
            let elements = match variable {
                Variable::Xor(0) => swizzled(emit, thread, swizzle),
                Variable::Xor(constant) => {
                    let swizzled = swizzled(emit, thread, swizzle);
                    emit.binary("llvm.xor", swizzled, emit.constant(32, constant))
                }
                Variable::Sum(constant) => {
                    let sum = emit.add(thread, emit.constant(32, constant));
                    swizzled(emit, sum, swizzle)
                }
            };
            emit.mul(elements, emit.constant(32, bytes))
        });
        (register, add * bytes)
    }
}

/// Emits the swizzle of an offset.
fn swizzled<'c>(emit: &Emit<'c>, offset: Value<'c, 'c>, swizzle: Swizzle) -> Value<'c, 'c> {
    if swizzle.is_identity() {
        return offset;
    }
    let source = emit.binary("llvm.and", offset, emit.constant(32, swizzle.source_mask()));
    let shift = emit.constant(32, i64::from(swizzle.shift().unsigned_abs()));
    let name = if swizzle.shift() >= 0 {
        "llvm.lshr"
    } else {
        "llvm.shl"
    };
    emit.binary("llvm.xor", offset, emit.binary(name, source, shift))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_and_its_constant_are_the_swizzled_sum() {
        let parts: Vec<i64> = "(8,4):(1,40)"
            .parse::<Layout>()
            .unwrap()
            .offsets()
            .collect();
        for (bits, base, shift) in [(0, 0, 3), (1, 0, 1), (2, 1, 2), (2, 0, -3), (3, 3, 3)] {
            let swizzle = Swizzle::new(bits, base, shift).unwrap();
            let or = |f: &dyn Fn(i64) -> i64| parts.iter().fold(0, |bits, part| bits | f(*part));
            let (used, used_swizzled) = (or(&|part| part), or(&|part| swizzle.apply(part)));
            for start in 0..512 {
                let (variable, add) = Variable::of(swizzle, start, used, used_swizzled);
                for part in &parts {
                    let register = match variable {
                        Variable::Xor(constant) => swizzle.apply(*part) ^ constant,
                        Variable::Sum(constant) => swizzle.apply(part + constant),
                    };
                    assert_eq!(
                        register + add,
                        swizzle.apply(part + start),
                        "{swizzle} {start}"
                    );
                }
            }
        }
    }
}
