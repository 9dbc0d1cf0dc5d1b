//! Registers that hold the addresses of one side's accesses.

use super::{Side, Threads};
use tilefold_layout::Swizzle;

/// The values' parts at which accesses of one width start.
pub(super) struct Starts {
    /// Those that share no bit with any thread's part, in order.
    pub apart: Vec<i64>,
    /// Every bit that one of these has.
    bits: i64,
    /// Whether these are all sums of such bits.
    pub cube: bool,
    /// How many others there are.
    sums: i64,
}

impl Side {
    /// Registers that hold what of an offset depends on the thread, as addresses are lowered:
    /// Sw(t) xor a constant where t has no bit of v, else Sw(t + v), and the rest is added by
    /// the instruction.
    pub(super) fn registers(&self, starts: &Starts, swizzle: Swizzle) -> i64 {
        if swizzle.is_identity() {
            return 1;
        }
        let swizzled = self.threads.swizzled(swizzle);
        let variable = |start: i64| swizzle.apply(start) & swizzled;
        if starts.cube {
            // Variables of single bits span all variables, by xor.
            let mut basis: Vec<i64> = Vec::new();
            for bit in ones(starts.bits) {
                let reduced = basis
                    .iter()
                    .fold(variable(1 << bit), |rest, known| rest.min(rest ^ known));
                if reduced != 0 {
                    basis.push(reduced);
                }
            }
            return starts.sums + (1 << basis.len());
        }
        let mut variables: Vec<i64> = starts.apart.iter().map(|start| variable(*start)).collect();
        variables.sort_unstable();
        variables.dedup();
        starts.sums + variables.len() as i64
    }

    pub(super) fn starts(&self, width: i64) -> Starts {
        let all = self.values.iter().copied().step_by(width as usize);
        let (mut apart, mut sums): (Vec<i64>, Vec<i64>) =
            all.partition(|start| start & self.threads.used == 0);
        for starts in [&mut apart, &mut sums] {
            starts.sort_unstable();
            starts.dedup();
        }
        let bits = apart.iter().fold(0, |bits, start| bits | start);
        Starts {
            cube: apart.len() == 1 << bits.count_ones().min(32),
            bits,
            apart,
            sums: sums.len() as i64,
        }
    }
}

impl Threads {
    /// Every bit that some thread's part has after the swizzle: a changed bit is set where the
    /// bit and the one it is xored with differ.
    fn swizzled(&self, swizzle: Swizzle) -> i64 {
        let (target, shift) = (swizzle.target_mask(), swizzle.shift());
        let mut bits = self.used & !target;
        for bit in ones(target) {
            let source = bit as i32 + shift;
            let set = match self.differs.get(bit as usize) {
                Some(differs) => differs >> source & 1 == 1,
                // No thread's part has the bit itself.
                None => self.used >> source & 1 == 1,
            };
            bits |= i64::from(set) << bit;
        }
        bits
    }
}

/// The places of the bits that are set.
fn ones(mut bits: i64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let place = (bits != 0).then(|| bits.trailing_zeros())?;
        bits &= bits - 1;
        Some(place)
    })
}
