//! How many waves and workgroups fit on a compute unit.

use crate::Machine;

/// What one workgroup of a kernel takes up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Workgroup {
    /// Waves of the workgroup, at least 1.
    pub waves: u32,
    /// Vector registers of one wave.
    pub vgprs: u32,
    /// LDS bytes of the workgroup.
    pub lds_bytes: u32,
}

impl Machine {
    /// Waves that one SIMD holds, as LLVM states it in the remark `Occupancy [waves/SIMD]`.
    ///
    /// LLVM divides LDS by the bytes asked for, not by those allocated; rounds the waves of a
    /// workgroup up over the SIMDs; and never answers less than one wave, not even for a kernel
    /// that does not fit at all. See [`Machine::resident_workgroups`] for what really fits.
    /// Source: LLVM, `AMDGPUSubtarget::getOccupancyWithWorkGroupSizes` and
    /// `AMDGPUBaseInfo.cpp`, `getNumWavesPerEUWithNumVGPRs`.
    pub fn waves_per_simd(&self, workgroup: Workgroup) -> u32 {
        let waves = workgroup.waves.max(1);
        let by_lds = self.lds.per_cu / workgroup.lds_bytes.max(1);
        if by_lds == 0 {
            return 1;
        }
        let groups = by_lds.min(self.workgroup_slots(waves));
        let spread = (groups * waves).div_ceil(self.simds_per_cu);
        spread
            .clamp(1, self.max_waves_per_simd)
            .min(self.waves_by_vgprs(workgroup.vgprs).max(1))
    }

    /// Whole workgroups that one compute unit holds at once: as many as LDS (in allocated
    /// granules), wave slots, barriers and registers allow. Zero if not even one fits.
    pub fn resident_workgroups(&self, workgroup: Workgroup) -> u32 {
        let waves = workgroup.waves.max(1);
        let fits = waves <= self.max_waves_per_workgroup
            && workgroup.lds_bytes <= self.lds.per_workgroup
            && workgroup.vgprs <= self.vgpr.addressable;
        if !fits {
            return 0;
        }
        let by_lds = match workgroup.lds_bytes.next_multiple_of(self.lds.granule) {
            0 => u32::MAX,
            allocated => self.lds.per_cu / allocated,
        };
        let by_vgprs = self.waves_by_vgprs(workgroup.vgprs) * self.simds_per_cu / waves;
        by_lds.min(by_vgprs).min(self.workgroup_slots(waves))
    }

    /// Workgroups for which a compute unit has wave slots and barriers. A single wave needs no
    /// barrier.
    fn workgroup_slots(&self, waves: u32) -> u32 {
        let slots = self.max_waves_per_simd * self.simds_per_cu / waves;
        if waves == 1 {
            slots
        } else {
            slots.min(self.max_workgroups_per_cu)
        }
    }

    /// Waves of so many registers that fit a SIMD.
    fn waves_by_vgprs(&self, vgprs: u32) -> u32 {
        let granules = vgprs.div_ceil(self.vgpr.granule).max(1);
        (self.vgpr.per_simd / self.vgpr.granule / granules).min(self.max_waves_per_simd)
    }
}
