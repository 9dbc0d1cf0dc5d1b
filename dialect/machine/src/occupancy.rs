//! How many waves and workgroups fit on a compute unit.

use crate::Machine;
use serde::Serialize;

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

/// What can limit how much is resident.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// Vector registers.
    Registers,
    /// LDS.
    Lds,
    /// Wave slots of the SIMDs, taken by whole workgroups.
    WaveSlots,
    /// Barriers of the compute unit: each workgroup of several waves takes one.
    Barriers,
    /// One workgroup alone has more waves, registers or LDS than there can be.
    Workgroup,
}

/// What a compute unit holds of one kind of workgroup, counted in both ways, and what sets it.
///
/// The two differ where workgroups are large: whole workgroups leave registers and LDS unused,
/// LDS is allocated in granules, and LLVM's figure knows neither.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Occupancy {
    /// Waves of a SIMD as LLVM and published tables count: see [`Machine::waves_per_simd`].
    pub waves_per_simd: u32,
    /// What that figure would be by each limit alone.
    pub waves_by: By,
    /// The limits that set it.
    pub waves_set_by: Vec<Limit>,
    /// Whole workgroups of a compute unit: see [`Machine::resident_workgroups`].
    pub workgroups: u32,
    /// What that figure would be by each limit alone.
    pub workgroups_by: By,
    /// The limits that set it.
    pub workgroups_set_by: Vec<Limit>,
    /// Waves of a SIMD that whole workgroups give, on the mean of a compute unit's.
    pub resident_waves_per_simd: f64,
    /// Registers that a wave is allocated.
    pub allocated_vgprs: u32,
    /// LDS bytes that a workgroup is allocated.
    pub allocated_lds_bytes: u32,
}

/// A figure by each limit alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct By {
    /// By registers.
    pub registers: u32,
    /// By LDS; none where the workgroup has none.
    pub lds: Option<u32>,
    /// By wave slots and barriers.
    pub slots: u32,
}

impl By {
    fn least(self) -> u32 {
        let least = self.registers.min(self.slots);
        self.lds.map_or(least, |lds| lds.min(least))
    }

    /// The limits that the least comes from; `slots` is what limits slots.
    fn set_by(self, slots: Limit) -> Vec<Limit> {
        let least = Some(self.least());
        let all = [
            (Limit::Registers, Some(self.registers)),
            (Limit::Lds, self.lds),
            (slots, Some(self.slots)),
        ];
        let set = all.into_iter().filter(|(_, figure)| *figure == least);
        set.map(|(limit, _)| limit).collect()
    }
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
        self.waves_by(workgroup).least()
    }

    /// Whole workgroups that one compute unit holds at once: as many as LDS (in allocated
    /// granules), wave slots, barriers and registers allow. Zero if not even one fits.
    pub fn resident_workgroups(&self, workgroup: Workgroup) -> u32 {
        if self.fits_alone(workgroup) {
            self.workgroups_by(workgroup).least()
        } else {
            0
        }
    }

    /// What a compute unit holds of workgroups of this kind, in both figures, and what sets them.
    pub fn occupancy(&self, workgroup: Workgroup) -> Occupancy {
        let waves = workgroup.waves.max(1);
        let (_, slots) = self.workgroup_slots(waves);
        let (waves_by, workgroups_by) = (self.waves_by(workgroup), self.workgroups_by(workgroup));
        let workgroups = self.resident_workgroups(workgroup);
        let granules = workgroup.vgprs.div_ceil(self.vgpr.granule).max(1);
        Occupancy {
            waves_per_simd: waves_by.least(),
            waves_by,
            waves_set_by: waves_by.set_by(slots),
            workgroups,
            workgroups_by,
            workgroups_set_by: if self.fits_alone(workgroup) {
                workgroups_by.set_by(slots)
            } else {
                vec![Limit::Workgroup]
            },
            resident_waves_per_simd: f64::from(workgroups) * f64::from(waves)
                / f64::from(self.simds_per_cu),
            allocated_vgprs: granules.saturating_mul(self.vgpr.granule),
            allocated_lds_bytes: self.allocated_lds(workgroup),
        }
    }

    fn waves_by(&self, workgroup: Workgroup) -> By {
        let waves = workgroup.waves.max(1);
        let spread = |groups: u32| {
            let waves = groups.saturating_mul(waves).div_ceil(self.simds_per_cu);
            waves.max(1)
        };
        let by_lds = self.lds.per_cu.checked_div(workgroup.lds_bytes);
        By {
            registers: self.waves_by_vgprs(workgroup.vgprs).max(1),
            lds: by_lds.map(spread),
            slots: spread(self.workgroup_slots(waves).0),
        }
    }

    fn workgroups_by(&self, workgroup: Workgroup) -> By {
        let waves = workgroup.waves.max(1);
        let by_vgprs = self.waves_by_vgprs(workgroup.vgprs);
        By {
            registers: by_vgprs * self.simds_per_cu / waves,
            lds: self.lds.per_cu.checked_div(self.allocated_lds(workgroup)),
            slots: self.workgroup_slots(waves).0,
        }
    }

    /// Whether a compute unit without other work holds one workgroup, but for its registers.
    fn fits_alone(&self, workgroup: Workgroup) -> bool {
        workgroup.waves <= self.max_waves_per_workgroup
            && workgroup.lds_bytes <= self.lds.per_workgroup
            && workgroup.vgprs <= self.vgpr.addressable
    }

    fn allocated_lds(&self, workgroup: Workgroup) -> u32 {
        let granules = workgroup.lds_bytes.div_ceil(self.lds.granule);
        granules.saturating_mul(self.lds.granule)
    }

    /// Workgroups for which a compute unit has wave slots and barriers, and which of the two is
    /// fewer. A single wave needs no barrier.
    fn workgroup_slots(&self, waves: u32) -> (u32, Limit) {
        let slots = self.max_waves_per_simd * self.simds_per_cu / waves;
        if waves > 1 && self.max_workgroups_per_cu < slots {
            (self.max_workgroups_per_cu, Limit::Barriers)
        } else {
            (slots, Limit::WaveSlots)
        }
    }

    /// Waves of so many registers for which a SIMD has registers, whether or not it has slots.
    fn waves_by_vgprs(&self, vgprs: u32) -> u32 {
        let granules = vgprs.div_ceil(self.vgpr.granule).max(1);
        self.vgpr.per_simd / self.vgpr.granule / granules
    }
}
