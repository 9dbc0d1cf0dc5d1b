use serde::{Deserialize, Serialize};

/// What the caller knows of a kernel beyond its code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KernelInfo {
    /// The symbol of its function.
    pub name: String,
    /// Lanes of a workgroup along x, y and z.
    pub block: [u32; 3],
    /// LDS bytes that the launch adds to those that the code declares.
    pub dynamic_lds_bytes: u32,
    /// How many matrix instructions carry how much of K; `None` when there are none.
    pub k_step: Option<KStep>,
}

/// The matrix instructions that one wave issues to advance all its accumulators by one step of K.
/// With it the count of an iteration's matrix instructions tells how far along K it goes, unrolling
/// by the code generator included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct KStep {
    /// K of one matrix instruction, in elements.
    pub k: u32,
    /// Matrix instructions of a step: the accumulator tiles of the wave.
    pub mma: u32,
}

impl KStep {
    /// The elements of K that `mma` matrix instructions advance by; `None` when they are no whole
    /// number of steps.
    pub fn k_of(self, mma: u32) -> Option<u32> {
        let steps = mma.checked_div(self.mma)?;
        (steps * self.mma == mma)
            .then(|| steps.checked_mul(self.k))
            .flatten()
    }
}

impl KernelInfo {
    /// Lanes of a workgroup, unless they are more than a `u32` counts.
    pub fn lanes(&self) -> Option<u32> {
        self.block
            .iter()
            .try_fold(1_u32, |product, &extent| product.checked_mul(extent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_of_counts_whole_steps() {
        let step = KStep { k: 16, mma: 12 };
        assert_eq!(step.k_of(48), Some(64));
        assert_eq!(step.k_of(0), Some(0));
        assert_eq!(step.k_of(50), None);
        assert_eq!(KStep { k: 16, mma: 0 }.k_of(4), None);
        assert_eq!(
            KStep {
                k: u32::MAX,
                mma: 1
            }
            .k_of(2),
            None
        );
    }
}
