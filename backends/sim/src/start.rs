//! The state in which a wave starts, and the kernarg segment.
//!
//! Source: LLVM's AMDGPU usage guide, "Initial Kernel Execution State" and "Kernarg Segment".

use crate::chip::Isa;
use crate::launch::{Arg, Launch};
use crate::memory::Memory;
use crate::metadata::KernelInfo;
use crate::object::Descriptor;
use crate::text::{EXEC, SCALARS, TTMP};
use crate::waits::Waits;
use crate::wave::{Mode, State, Wave};

/// What all waves of a launch start from.
pub(crate) struct Start {
    pub(crate) descriptor: Descriptor,
    pub(crate) isa: Isa,
    pub(crate) block: [u32; 3],
    pub(crate) kernarg: u64,
    pub(crate) packet: u64,
    pub(crate) scratch_bytes: u32,
    pub(crate) vectors: usize,
    pub(crate) entry: usize,
    /// Words of the kernarg segment that follow the other user registers.
    pub(crate) preload: Vec<u32>,
}

impl Start {
    /// The waves of one workgroup.
    pub(crate) fn waves<const W: usize>(&self, id: [u32; 3]) -> Vec<Wave<W>> {
        let [x, y, z] = self.block;
        let items = x * y * z;
        (0..items.div_ceil(W as u32))
            .map(|wave| self.wave(wave, items, id))
            .collect()
    }

    fn wave<const W: usize>(&self, index: u32, items: u32, id: [u32; 3]) -> Wave<W> {
        let [x, y, _] = self.block;
        let mut v = vec![[0; W]; self.vectors];
        let mut exec = 0_u64;
        for lane in 0..W as u32 {
            let item = index * W as u32 + lane;
            if item < items {
                exec |= 1 << lane;
                // Work-item ids have ten bits each.
                let packed = (item % x) | ((item / x % y) << 10) | (item / (x * y)) << 20;
                v[0][lane as usize] = packed;
            }
        }
        let mut wave = Wave {
            id: index,
            v,
            s: self.scalars(index, id),
            scc: false,
            items: exec,
            pc: self.entry,
            state: State::Ready,
            mode: Mode {
                f32: self.descriptor.denormals_f32(),
                f16_f64: self.descriptor.denormals_f16_f64(),
                saturates: self.descriptor.f16_saturates(),
                clamp_nan: self.isa == Isa::Gfx12 || self.descriptor.clamp_nan(),
                scales: self.isa == Isa::Gfx12 || !self.descriptor.ieee(),
            },
            waits: Waits::new(self.isa),
            scratch: vec![0; self.scratch_bytes as usize * W],
            executed: 0,
            barriers: 0,
            signalled: None,
            history: Default::default(),
            hint: 0,
            last_mma: None,
            recent: Default::default(),
            carried: Vec::new(),
            heard: Default::default(),
            scalar_heard: Default::default(),
            settled: 0,
            suspects: Vec::new(),
            fresh_scalars: false,
            poll: Default::default(),
        };
        wave.set_mask(EXEC, exec);
        wave
    }

    fn scalars(&self, wave: u32, id: [u32; 3]) -> [u32; SCALARS] {
        let mut s = [0; SCALARS];
        let mut next = 0_usize;
        let mut pair = |s: &mut [u32; SCALARS], value: u64| {
            s[next] = value as u32;
            s[next + 1] = (value >> 32) as u32;
            next += 2;
        };
        let descriptor = self.descriptor;
        // Private segment buffer, dispatch packet, queue, kernarg, dispatch id, flat scratch.
        if descriptor.property(0) {
            pair(&mut s, 0);
            pair(&mut s, 0);
        }
        for (bit, value) in [(1, self.packet), (2, 0), (3, self.kernarg), (4, 0), (5, 0)] {
            if descriptor.property(bit) {
                pair(&mut s, value);
            }
        }
        // The size of the private segment takes one register.
        let first = next + usize::from(descriptor.property(6));
        for (register, &word) in s.iter_mut().skip(first).zip(&self.preload) {
            *register = word;
        }
        if self.isa == Isa::Gfx12 {
            // Architected: x in ttmp9, y and z in the halves of ttmp7, the wave in ttmp8.
            s[usize::from(TTMP) + 9] = id[0];
            s[usize::from(TTMP) + 7] = id[1] & 0xffff | id[2] << 16;
            s[usize::from(TTMP) + 8] = wave << 25;
            return s;
        }
        let mut next = descriptor.user_sgprs() as usize;
        for (axis, value) in id.into_iter().enumerate() {
            if descriptor.workgroup_id(axis as u32) {
                s[next] = value;
                next += 1;
            }
        }
        if descriptor.workgroup_info() {
            next += 1;
        }
        // gfx950 finds its scratch in registers of its own; the others add an offset that is 0.
        if descriptor.private_segment() && self.isa == Isa::Gfx11 {
            s[next] = 0;
        }
        s
    }
}

/// Alignment in LDS of what an argument asks for: that of the widest access.
const LDS_ALIGN: u32 = 16;

/// End of the LDS that ended at `end` once an argument has its part.
fn follow(end: u32, arg: &Arg) -> Option<u32> {
    match arg {
        Arg::Lds(bytes) => end.checked_next_multiple_of(LDS_ALIGN)?.checked_add(*bytes),
        _ => Some(end),
    }
}

/// All LDS of a workgroup in bytes: what the kernel declares, what arguments ask for, and what the
/// launch adds; none where that is more than 4 GiB.
pub(crate) fn lds_bytes(declared: u32, launch: &Launch) -> Option<u32> {
    let end = launch.args.iter().try_fold(declared, follow)?;
    end.checked_add(launch.dynamic_lds)
}

/// The kernarg segment, and notes on what was not given.
pub(crate) fn kernarg(
    info: &KernelInfo,
    size: u32,
    lds_bytes: u32,
    launch: &Launch,
    memory: &Memory,
) -> Result<(Vec<u8>, Vec<String>), String> {
    let mut bytes = vec![0; size as usize];
    let mut notes = Vec::new();
    let mut put = |offset: u32, size: u32, value: &[u8]| -> Option<()> {
        let start = offset as usize;
        let end = start.checked_add(size as usize)?;
        bytes
            .get_mut(start..end)?
            .copy_from_slice(value.get(..size as usize)?);
        Some(())
    };
    let outside = |name: &str| format!("argument `{name}` lies outside the kernarg segment");
    let mut given = launch.args.iter();
    for (at, arg) in info.args.iter().filter(|arg| !arg.hidden()).enumerate() {
        let label = if arg.name.is_empty() {
            at.to_string()
        } else {
            arg.name.clone()
        };
        let Some(value) = given.next() else {
            notes.push(format!("argument {label} was not given and is zero"));
            continue;
        };
        let value = match value {
            Arg::Buffer(id) => memory
                .address(*id)
                .ok_or_else(|| format!("argument {label} is a buffer of another memory"))?
                .to_le_bytes()
                .to_vec(),
            Arg::I32(value) => value.to_le_bytes().to_vec(),
            Arg::U32(value) => value.to_le_bytes().to_vec(),
            Arg::I64(value) => value.to_le_bytes().to_vec(),
            Arg::F32(value) => value.to_le_bytes().to_vec(),
            Arg::F16(bits) => bits.to_le_bytes().to_vec(),
            Arg::Bytes(bytes) => bytes.clone(),
            Arg::Lds(_) => {
                let mut before = launch
                    .args
                    .iter()
                    .take_while(|other| !std::ptr::eq(*other, value));
                let at = before.try_fold(lds_bytes, follow);
                at.map_or(0, |at| at.next_multiple_of(LDS_ALIGN))
                    .to_le_bytes()
                    .to_vec()
            }
        };
        if value.len() as u64 != u64::from(arg.size) {
            return Err(format!(
                "argument {label} has {} bytes, the kernel takes {}",
                value.len(),
                arg.size
            ));
        }
        put(arg.offset, arg.size, &value).ok_or_else(|| outside(&label))?;
    }
    if given.next().is_some() {
        return Err(format!(
            "{} arguments are more than the kernel takes",
            launch.args.len()
        ));
    }
    for arg in info.args.iter().filter(|arg| arg.hidden()) {
        let value = hidden(&arg.kind, launch).to_le_bytes();
        if arg.size <= 8 {
            put(arg.offset, arg.size, &value).ok_or_else(|| outside(&arg.kind))?;
        }
    }
    Ok((bytes, notes))
}

/// What the loader passes as a hidden argument; what has no counterpart here is zero.
fn hidden(kind: &str, launch: &Launch) -> u64 {
    let axis = match kind.as_bytes().last() {
        Some(b'y') => 1,
        Some(b'z') => 2,
        _ => 0,
    };
    match kind.trim_end_matches(['x', 'y', 'z']) {
        "hidden_block_count_" => u64::from(launch.grid[axis]),
        "hidden_group_size_" => u64::from(launch.block[axis]),
        "hidden_grid_dims" => {
            // Trailing axes of extent 1 are no dimensions.
            let extents = [0, 1, 2].map(|axis| launch.grid[axis] * launch.block[axis]);
            extents
                .iter()
                .rposition(|&extent| extent > 1)
                .map_or(1, |last| last as u64 + 1)
        }
        "hidden_dynamic_lds_size" => u64::from(launch.dynamic_lds),
        _ => 0,
    }
}

/// The dispatch packet, which older code reads its block size from.
pub(crate) fn packet(launch: &Launch, lds_bytes: u32, scratch_bytes: u32) -> [u8; 64] {
    let mut bytes = [0; 64];
    let mut put = |at: usize, value: &[u8]| bytes[at..at + value.len()].copy_from_slice(value);
    put(2, &3_u16.to_le_bytes());
    for axis in 0..3 {
        put(4 + 2 * axis, &(launch.block[axis] as u16).to_le_bytes());
        let items = launch.grid[axis].saturating_mul(launch.block[axis]);
        put(12 + 4 * axis, &items.to_le_bytes());
    }
    put(24, &scratch_bytes.to_le_bytes());
    put(28, &lds_bytes.to_le_bytes());
    bytes
}
