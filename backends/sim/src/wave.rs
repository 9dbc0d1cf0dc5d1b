//! The state of one wave.

use crate::hazards::Recent;
use crate::memory::lds::Touch;
use crate::poll::Poll;
use crate::signals::Clock;
use crate::suspects::Suspect;
use crate::text::{EXEC, NULL, SCALARS, VCC};
use crate::waits::Waits;

/// Instructions kept for a finding's history.
pub(crate) const HISTORY: usize = 8;

/// Floating-point modes, from the kernel descriptor and changed by `s_denorm_mode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mode {
    /// f32 denormals: bit 0 keeps inputs, bit 1 keeps results.
    pub(crate) f32: u32,
    /// f16 and f64 denormals, the same.
    pub(crate) f16_f64: u32,
    /// Whether clamping turns NaN into 0.
    pub(crate) clamp_nan: bool,
    /// Whether f16 results past the largest number become it (FP16_OVFL).
    pub(crate) saturates: bool,
    /// Whether output scales count, which they do not in IEEE mode.
    pub(crate) scales: bool,
}

/// Why a wave does not run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    Ready,
    /// Waits for the barrier with this number to complete.
    Barrier(u64),
    Ended,
}

pub(crate) struct Wave<const W: usize> {
    /// Index in the workgroup.
    pub(crate) id: u32,
    /// Vector registers, accumulation registers from 256.
    pub(crate) v: Vec<[u32; W]>,
    /// Scalar registers and special ones, by [`crate::text`]'s indices.
    pub(crate) s: [u32; SCALARS],
    pub(crate) scc: bool,
    /// Lanes that are work-items.
    pub(crate) items: u64,
    /// Index of the next instruction.
    pub(crate) pc: usize,
    pub(crate) state: State,
    pub(crate) mode: Mode,
    pub(crate) waits: Waits<W>,
    /// Scratch, one lane after the other.
    pub(crate) scratch: Vec<u8>,
    pub(crate) executed: u64,
    /// Barriers passed or waited at.
    pub(crate) barriers: u64,
    /// Number of the barrier last signalled on a split barrier, until it is waited for.
    pub(crate) signalled: Option<u64>,
    /// Indices of the last instructions; the next one goes to `executed % HISTORY`.
    pub(crate) history: [u32; HISTORY],
    /// Buffer that global accesses try first.
    pub(crate) hint: usize,
    /// First register and count that the last vector instruction wrote, if it was a matrix one.
    pub(crate) last_mma: Option<(u16, u16)>,
    /// What may still be the first of a hazard's pair.
    pub(crate) recent: Recent,
    /// LDS accesses that count behind the barrier being waited for.
    pub(crate) carried: Vec<Touch<W>>,
    /// What it knows of other workgroups' stores.
    pub(crate) heard: Clock,
    /// What waves had heard of when they invalidated the scalar cache, as far as it knows.
    pub(crate) scalar_heard: Clock,
    /// Barriers that it had passed when it last waited for all vector memory operations.
    pub(crate) settled: u32,
    /// Loads that may be part of a race.
    pub(crate) suspects: Vec<Suspect>,
    /// Whether it has invalidated the scalar cache and not loaded by it since.
    pub(crate) fresh_scalars: bool,
    /// What it loads over and over.
    pub(crate) poll: Poll,
}

impl<const W: usize> Wave<W> {
    /// Lanes that exist.
    pub(crate) const ALL: u64 = u64::MAX >> (64 - W);

    /// Barriers that it has passed.
    #[inline]
    pub(crate) fn passed(&self) -> u32 {
        self.barriers as u32
    }

    /// The barrier that orders what it does now before what other waves do behind it.
    #[inline]
    pub(crate) fn next_barrier(&self) -> u32 {
        (self.barriers + u64::from(self.signalled.is_some())) as u32
    }

    pub(crate) fn exec(&self) -> u64 {
        self.mask(EXEC)
    }

    pub(crate) fn set_exec(&mut self, mask: u64) {
        self.set_mask(EXEC, mask);
    }

    pub(crate) fn vcc(&self) -> u64 {
        self.mask(VCC)
    }

    /// A lane mask: one register in wave32, two in wave64.
    #[inline]
    pub(crate) fn mask(&self, first: u16) -> u64 {
        let low = u64::from(self.s[usize::from(first)]);
        if W == 32 || first == NULL {
            return low;
        }
        low | u64::from(self.s[usize::from(first) + 1]) << 32
    }

    #[inline]
    pub(crate) fn set_mask(&mut self, first: u16, mask: u64) {
        if first == NULL {
            return;
        }
        self.s[usize::from(first)] = mask as u32;
        if W == 64 {
            self.s[usize::from(first) + 1] = (mask >> 32) as u32;
        }
    }

    /// Writes one scalar register; `null` swallows it.
    #[inline]
    pub(crate) fn set_scalar(&mut self, index: u16, value: u32) {
        if index != NULL {
            self.s[usize::from(index)] = value;
        }
    }

    /// Two scalar registers as one value.
    #[inline]
    pub(crate) fn pair(&self, first: u16) -> u64 {
        if first == NULL {
            return 0;
        }
        let first = usize::from(first);
        u64::from(self.s[first]) | u64::from(self.s[first + 1]) << 32
    }

    /// Writes a vector register in the lanes of `mask`.
    #[inline]
    pub(crate) fn write(&mut self, index: u16, value: &[u32; W], mask: u64) {
        let register = &mut self.v[usize::from(index)];
        if mask == Self::ALL {
            *register = *value;
            return;
        }
        for lane in 0..W {
            let keep = (mask >> lane & 1) == 0;
            register[lane] = if keep { register[lane] } else { value[lane] };
        }
    }
}
