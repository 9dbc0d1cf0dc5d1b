//! Accesses of LDS that LLVM would join at the price of an address.
//!
//! LLVM joins two accesses of 32 or 64 bits through one register into a single instruction, whose
//! two offsets count such elements, or 64 of them, in 8 bits each. Where neither reaches both, it
//! adds to the register first (`SILoadStoreOptimizer`): a vector instruction in every step of
//! the loop, though each access reaches its place alone. It joins nothing across a scheduling
//! barrier, even one that everything may be scheduled across.

use super::emit::Emit;
use melior::ir::Value;

/// Offsets of 8 bits.
const REACH: i64 = 256;
/// Elements of a long stride.
const STRIDE: i64 = 64;

/// Kinds of instructions that may pass a barrier: all that LLVM's AMDGPU usage guide has
/// (`llvm.amdgcn.sched.barrier`).
const EVERYTHING: i64 = 0x7ff;

/// What LLVM does not join across, and schedules across as it likes.
pub fn part(emit: &Emit<'_>) {
    let mask = emit.integer(32, EVERYTHING);
    emit.effect("rocdl.sched.barrier", &[], &[("mask", mask)]);
}

/// Accesses since the last scheduling barrier: register, bytes from it, bytes accessed.
#[derive(Default)]
pub struct Window<'c> {
    accesses: Vec<(Value<'c, 'c>, i64, i64)>,
}

impl<'c> Window<'c> {
    /// Takes an access in, and says whether a scheduling barrier must go before it, in which case
    /// what came before is forgotten.
    pub fn parts(&mut self, register: Value<'c, 'c>, offset: i64, bytes: i64) -> bool {
        let joined = |&(other, at, size): &(Value<'c, 'c>, i64, i64)| {
            other == register && size == bytes && adds(at, offset, bytes)
        };
        let parts = self.accesses.iter().any(joined);
        if parts {
            self.accesses.clear();
        }
        self.accesses.push((register, offset, bytes));
        parts
    }

    /// After a scheduling barrier.
    pub fn clear(&mut self) {
        self.accesses.clear();
    }
}

/// Whether LLVM joins any two accesses of `bytes` at these offsets from one register by an addition.
pub fn any_adds(offsets: &[i64], bytes: i64) -> bool {
    let added = |(index, one): (usize, &i64)| {
        let others = &offsets[..index];
        others.iter().any(|other| adds(*one, *other, bytes))
    };
    offsets.iter().enumerate().any(added)
}

/// Whether LLVM joins accesses of `bytes` at these offsets by an addition.
fn adds(a: i64, b: i64, bytes: i64) -> bool {
    let aligned = a % bytes == 0 && b % bytes == 0;
    if !matches!(bytes, 4 | 8) || !aligned || a == b {
        return false;
    }
    let both = [a / bytes, b / bytes];
    let apart = (both[0] - both[1]).abs();
    let joined = apart < REACH || (apart % STRIDE == 0 && apart / STRIDE < REACH);
    let near = both.iter().all(|at| *at < REACH);
    let far = both
        .iter()
        .all(|at| at % STRIDE == 0 && at / STRIDE < REACH);
    joined && !near && !far
}

#[cfg(test)]
mod tests {
    use super::{adds, any_adds};

    #[test]
    fn what_both_forms_miss_is_joined_by_an_addition() {
        // Elements 0 and 255 by the short form, 256 and 320 by the long one.
        assert!(!adds(0, 255 * 8, 8) && !adds(256 * 8, 320 * 8, 8));
        assert!(!adds(0, 255 * 64 * 8, 8));
        // Elements 256 and 288, 3 and 256: one is too far, and one is no multiple of 64.
        assert!(adds(2048, 2304, 8) && adds(3 * 8, 2048, 8));
        assert!(adds(1024, 1028, 4) && !adds(1020, 1016, 4));
        // Too far from one another to be joined, or of a width that is not.
        assert!(!adds(8, 2056 * 8, 8) && !adds(4096, 4112, 16) && !adds(512, 514, 2));
        assert!(any_adds(&[0, 2048, 2304], 8) && !any_adds(&[0, 512, 1024], 8));
    }
}
