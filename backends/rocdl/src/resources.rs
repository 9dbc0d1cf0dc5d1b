use serde::{Deserialize, Serialize};
use tilefold_llvm::KernelUsage;
use tilefold_machine::{Machine, Workgroup};

use crate::error::RocdlError;
use crate::kernel::KernelInfo;
use crate::main_loop::MainLoop;
use crate::metadata::KernelMetadata;

/// What a kernel takes up on its chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resources {
    /// Vector registers of a wave; where accumulation registers share their file, the total.
    pub vgprs: u32,
    /// Accumulation registers of a wave.
    pub agprs: u32,
    /// Scalar registers of a wave.
    pub sgprs: u32,
    /// LDS bytes of a workgroup, those that the launch adds included.
    pub lds_bytes: u32,
    /// Scratch bytes of a lane.
    pub scratch_bytes: u32,
    /// Vector registers spilled.
    pub vgpr_spills: u32,
    /// Scalar registers spilled.
    pub sgpr_spills: u32,
    /// Waves that a SIMD holds at once, as LLVM's occupancy remark tells it.
    pub waves_per_simd: u32,
    /// Whole workgroups that a CU holds at once: by the registers and LDS that the hardware
    /// allocates, wave slots and barriers. In cu mode a workgroup lives on one CU.
    pub resident_workgroups: u32,
    /// The main loop; `None` when no loop has matrix instructions.
    pub main_loop: Option<MainLoop>,
}

impl Resources {
    /// Puts together what the metadata, the code generator's remark and the disassembly say.
    ///
    /// # Errors
    /// [`RocdlError::Disagreement`] when the first two differ.
    pub(crate) fn assemble(
        kernel: &KernelInfo,
        machine: &Machine,
        metadata: &KernelMetadata,
        usage: &KernelUsage,
        main_loop: Option<MainLoop>,
    ) -> Result<Resources, RocdlError> {
        // Where there are accumulation registers the metadata counts them into the total, behind
        // the others rounded up to a multiple of four.
        let usage_vgprs = match usage.agprs {
            0 => usage.vgprs,
            agprs => usage.vgprs.next_multiple_of(4).saturating_add(agprs),
        };
        for (what, metadata, remark) in [
            ("vector registers", metadata.vgprs, usage_vgprs),
            ("accumulation registers", metadata.agprs, usage.agprs),
            ("scalar registers", metadata.sgprs, usage.sgprs),
            ("LDS bytes", metadata.lds_bytes, usage.lds_bytes),
            ("scratch bytes", metadata.scratch_bytes, usage.scratch_bytes),
            (
                "spilled vector registers",
                metadata.vgpr_spills,
                usage.vgpr_spills,
            ),
            (
                "spilled scalar registers",
                metadata.sgpr_spills,
                usage.sgpr_spills,
            ),
        ] {
            if metadata != remark {
                return Err(RocdlError::Disagreement {
                    what,
                    metadata,
                    remark,
                });
            }
        }
        let lds_bytes = metadata.lds_bytes.saturating_add(kernel.dynamic_lds_bytes);
        let lanes = kernel.lanes().unwrap_or(u32::MAX);
        let workgroup = Workgroup {
            waves: lanes.div_ceil(machine.wave),
            vgprs: metadata.vgprs,
            lds_bytes,
        };
        let main_loop = main_loop.map(|found| MainLoop {
            k_per_iteration: kernel.k_step.and_then(|step| step.k_of(found.mma)),
            ..found
        });
        Ok(Resources {
            vgprs: metadata.vgprs,
            agprs: metadata.agprs,
            sgprs: metadata.sgprs,
            lds_bytes,
            scratch_bytes: metadata.scratch_bytes,
            vgpr_spills: metadata.vgpr_spills,
            sgpr_spills: metadata.sgpr_spills,
            waves_per_simd: usage.waves_per_simd,
            resident_workgroups: machine.resident_workgroups(workgroup),
            main_loop,
        })
    }
}
