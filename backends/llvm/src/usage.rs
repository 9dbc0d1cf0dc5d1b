//! What LLVM says that a kernel uses.

/// The figures of LLVM's `kernel-resource-usage` remark for one function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KernelUsage {
    /// The function's symbol.
    pub name: String,
    /// Scalar registers, those that the hardware reserves included.
    pub sgprs: u32,
    /// Vector registers of a lane, not counting accumulation registers.
    pub vgprs: u32,
    /// Accumulation registers of a lane; 0 on chips without them.
    pub agprs: u32,
    /// Scratch memory of a lane in bytes.
    pub scratch_bytes: u32,
    /// Waves that a SIMD can hold at once, by registers and LDS.
    pub waves_per_simd: u32,
    /// Scalar registers spilled.
    pub sgpr_spills: u32,
    /// Vector registers spilled.
    pub vgpr_spills: u32,
    /// LDS of a workgroup in bytes, without what a launch adds.
    pub lds_bytes: u32,
}

/// Reads the remarks, one `key: value` each; a kernel begins with its name.
pub(crate) fn parse(remarks: &[String]) -> Vec<KernelUsage> {
    let mut kernels: Vec<KernelUsage> = Vec::new();
    for remark in remarks {
        let Some((key, value)) = remark.trim().split_once(": ") else {
            continue;
        };
        if key == "Function Name" {
            kernels.push(KernelUsage {
                name: value.to_owned(),
                ..KernelUsage::default()
            });
            continue;
        }
        let (Some(kernel), Ok(number)) = (kernels.last_mut(), value.parse()) else {
            continue;
        };
        let field = match key {
            "TotalSGPRs" => &mut kernel.sgprs,
            "VGPRs" => &mut kernel.vgprs,
            "AGPRs" => &mut kernel.agprs,
            "ScratchSize [bytes/lane]" => &mut kernel.scratch_bytes,
            "Occupancy [waves/SIMD]" => &mut kernel.waves_per_simd,
            "SGPRs Spill" => &mut kernel.sgpr_spills,
            "VGPRs Spill" => &mut kernel.vgpr_spills,
            "LDS Size [bytes/block]" => &mut kernel.lds_bytes,
            _ => continue,
        };
        *field = number;
    }
    kernels
}
