//! What is checked before LLVM is called, because LLVM would abort over it.

use melior::ir::operation::OperationLike;
use melior::ir::{BlockLike, Module, OperationRef, RegionLike};
use tilefold_machine::{Generation, Machine};

use crate::error::RocdlError;
use crate::kernel::KernelInfo;

/// Longest kernel name in bytes.
const MAX_NAME: usize = 255;

/// Checks name, workgroup and LDS against the machine.
pub(crate) fn kernel(kernel: &KernelInfo, machine: &Machine) -> Result<(), RocdlError> {
    let is_symbol = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '$');
    let name = &kernel.name;
    let starts_well = name.chars().next().is_some_and(|c| !c.is_ascii_digit());
    if !starts_well || !name.chars().all(is_symbol) || name.len() > MAX_NAME {
        return Err(RocdlError::Name(name.clone()));
    }
    let most = machine.max_waves_per_workgroup * machine.wave;
    if !kernel
        .lanes()
        .is_some_and(|lanes| (1..=most).contains(&lanes))
    {
        let block = kernel.block;
        return Err(RocdlError::Block {
            block,
            chip: machine.name.clone(),
            most,
        });
    }
    lds(u64::from(kernel.dynamic_lds_bytes), machine)
}

/// Checks the LDS of a workgroup against the machine.
pub(crate) fn lds(bytes: u64, machine: &Machine) -> Result<(), RocdlError> {
    let most = machine.lds.per_workgroup;
    if bytes <= u64::from(most) {
        return Ok(());
    }
    Err(RocdlError::Lds {
        bytes,
        chip: machine.name.clone(),
        most,
    })
}

/// The operation to translate: the module, or the one gpu.module that is all it holds.
pub(crate) fn translatable<'c, 'a>(module: &'a Module<'c>) -> OperationRef<'c, 'a> {
    match (module.body().first_operation(), module.body().terminator()) {
        (Some(first), _) if first.next_in_block().is_none() && name_of(&first) == "gpu.module" => {
            first
        }
        _ => module.as_operation(),
    }
}

/// Checks that the kernel is there and that the chip has every operation. The module must have
/// been verified.
pub(crate) fn operations(
    root: OperationRef<'_, '_>,
    kernel: &str,
    machine: &Machine,
) -> Result<(), RocdlError> {
    let mut kernels = Vec::new();
    // A stack of our own: a panic or an overflow inside a foreign walk would end the process.
    let mut pending = vec![root];
    while let Some(operation) = pending.pop() {
        let name = name_of(&operation);
        if operation.has_attribute("rocdl.kernel") {
            kernels.push(text_attribute(&operation, "sym_name"));
        }
        let intrinsic = match name.as_str() {
            "llvm.call_intrinsic" => text_attribute(&operation, "intrin"),
            _ => name.clone(),
        };
        if !has_operation(machine.generation, &intrinsic) {
            let chip = machine.name.clone();
            return Err(RocdlError::Intrinsic {
                operation: intrinsic,
                chip,
            });
        }
        for region in operation.regions() {
            let mut block = region.first_block();
            while let Some(current) = block {
                let mut next = current.first_operation();
                while let Some(inner) = next {
                    pending.push(inner);
                    next = inner.next_in_block();
                }
                block = current.next_in_region();
            }
        }
    }
    if kernels.iter().any(|found| found == kernel) {
        return Ok(());
    }
    kernels.sort();
    let found = if kernels.is_empty() {
        "none".to_owned()
    } else {
        kernels.join(", ")
    };
    Err(RocdlError::NoKernel {
        name: kernel.to_owned(),
        found,
    })
}

fn name_of(operation: &OperationRef<'_, '_>) -> String {
    operation
        .name()
        .as_string_ref()
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

/// The value of a string attribute; empty when it is missing or no string.
fn text_attribute(operation: &OperationRef<'_, '_>, name: &str) -> String {
    let attribute = operation
        .attribute(name)
        .ok()
        .and_then(|attribute| melior::ir::attribute::StringAttribute::try_from(attribute).ok());
    attribute
        .map(|text| text.value().to_owned())
        .unwrap_or_default()
}

/// Whether chips of the generation have the operation. Only families that some generation lacks
/// are listed; what else LLVM cannot select, the guard turns into an error.
///
/// Source: the subtarget predicates of LLVM's AMDGPU instruction definitions.
fn has_operation(generation: Generation, name: &str) -> bool {
    let Some(name) = name
        .strip_prefix("rocdl.")
        .or_else(|| name.strip_prefix("llvm.amdgcn."))
    else {
        return true;
    };
    let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| name.starts_with(prefix));
    let is_rdna4 = match generation {
        Generation::Rdna3 | Generation::Rdna35 => false,
        Generation::Rdna4 => true,
        Generation::Cdna4 => {
            return !begins(&[
                "wmma.",
                "swmmac.",
                "s.wait.",
                "s.barrier.signal",
                "s.barrier.wait",
                "global.load.tr",
            ]);
        }
    };
    if begins(&[
        "mfma.",
        "smfmac.",
        "ds.read.tr",
        "global.load.lds",
        "raw.ptr.buffer.load.lds",
    ]) {
        // CDNA's.
        return false;
    }
    if let Some(shape) = name.strip_prefix("wmma.") {
        let begins = |prefixes: &[&str]| prefixes.iter().any(|prefix| shape.starts_with(prefix));
        let rdna3 = begins(&[
            "f32.16x16x16.f16",
            "f32.16x16x16.bf16",
            "f16.16x16x16.f16",
            "bf16.16x16x16.bf16",
            "i32.16x16x16.iu8",
            "i32.16x16x16.iu4",
        ]);
        // Only there half of each result register is left as it was.
        let is_tied = shape.contains(".tied");
        let rdna4 = begins(&["f32.16x16x16.fp8", "f32.16x16x16.bf8", "i32.16x16x32.iu4"]);
        return if is_rdna4 {
            rdna3 && !is_tied || rdna4
        } else {
            rdna3
        };
    }
    let is_rdna4_only = begins(&[
        "swmmac.",
        "s.wait.",
        "s.barrier.signal",
        "s.barrier.wait",
        "global.load.tr",
        "cvt.pk.fp8",
        "cvt.pk.bf8",
        "cvt.sr.fp8",
        "cvt.sr.bf8",
        "cvt.f32.fp8",
        "cvt.f32.bf8",
        "cvt.pk.f32.fp8",
        "cvt.pk.f32.bf8",
    ]) && !begins(&["s.wait.event"]);
    is_rdna4 || !is_rdna4_only
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_have_their_instructions() {
        use Generation::{Cdna4, Rdna3, Rdna4, Rdna35};
        let cases: [(&str, [bool; 3]); 12] = [
            ("rocdl.wmma.f32.16x16x16.f16", [true, true, false]),
            (
                "llvm.amdgcn.wmma.f16.16x16x16.f16.tied.v16f16.v16f16",
                [true, false, false],
            ),
            ("rocdl.wmma.f32.16x16x16.fp8_bf8", [false, true, false]),
            ("rocdl.wmma.i32.16x16x32.iu4", [false, true, false]),
            ("rocdl.wmma.f32.16x16x32.f16", [false, false, false]),
            ("rocdl.mfma.f32.16x16x32.f16", [false, false, true]),
            ("rocdl.s.wait.dscnt", [false, true, false]),
            ("rocdl.s.barrier", [true, true, true]),
            ("rocdl.s.barrier.signal", [false, true, false]),
            ("rocdl.cvt.pk.fp8.f32", [false, true, true]),
            ("rocdl.cvt.pkrtz", [true, true, true]),
            ("llvm.add", [true, true, true]),
        ];
        for (name, [rdna3, rdna4, cdna4]) in cases {
            assert_eq!(has_operation(Rdna3, name), rdna3, "{name}");
            assert_eq!(has_operation(Rdna35, name), rdna3, "{name}");
            assert_eq!(has_operation(Rdna4, name), rdna4, "{name}");
            assert_eq!(has_operation(Cdna4, name), cdna4, "{name}");
        }
    }
}
