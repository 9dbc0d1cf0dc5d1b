//! A kernel, decoded once into micro-operations.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use tilefold_llvm::disasm::Disassembler;

use crate::branches::decides;
use crate::chip::{Chip, Isa};
use crate::counters::Class;
use crate::error::Error;
use crate::facts::Facts;
use crate::hazards;
use crate::memory::access::Vmem;
use crate::memory::broadcast::Broadcast;
use crate::memory::ds::Ds;
use crate::memory::scalar::Smem;
use crate::mma::{Mfma, Swmmac, Wmma};
use crate::object::CodeObject;
use crate::operation::{dual, operation};
use crate::salu::Salu;
use crate::system::{self, System};
use crate::text::{Half, Line, M0, NULL, SCALARS, VCC, Value};
use crate::valu::{Dot, LaneOp, Packed, Real, Recode, Sums, Swap, Valu};
use crate::waits::{Moves, Queue, Registers, Wait};

/// What an instruction does.
pub(crate) enum Op<const W: usize> {
    Valu(Box<Valu<W>>),
    /// Both halves read before either writes.
    Dual(Box<[Valu<W>; 2]>),
    Packed(Box<Packed<W>>),
    Dot(Box<Dot>),
    Lane(Box<LaneOp>),
    Recode(Box<Recode>),
    Sums(Box<Sums>),
    Swap(Swap),
    Wmma(Box<Wmma>),
    Swmmac(Box<Swmmac>),
    Mfma(Box<Mfma>),
    Salu(Salu),
    Real(Box<Real>),
    Branch {
        condition: Condition,
        target: usize,
    },
    Wait(Wait),
    Barrier(Barrier),
    Ds(Box<Ds<W>>),
    Broadcast(Broadcast),
    Vmem(Box<Vmem>),
    Smem(Box<Smem>),
    System(System),
    Nothing,
    End,
    /// Decoded, but not known: the reason.
    Unknown(String),
}

/// When a branch is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Condition {
    Always,
    Scc(bool),
    /// Whether VCC has a bit set.
    Vcc(bool),
    /// Whether EXEC has a bit set.
    Exec(bool),
}

/// The two halves of a barrier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Barrier {
    Both,
    Signal,
    /// A signal that says in SCC whether it is the barrier's first.
    SignalFirst,
    Wait,
}

/// One instruction.
pub(crate) struct Inst<const W: usize> {
    pub(crate) address: u64,
    pub(crate) text: Box<str>,
    pub(crate) class: Class,
    pub(crate) facts: Facts,
    pub(crate) op: Op<W>,
    /// Registers that are read, and those written at once.
    pub(crate) uses: Registers,
    /// Registers that are written when the load returns, and the queue it waits in.
    pub(crate) fills: Option<(Queue, Registers)>,
    /// The half of a register that it loads or stores, where it is not a whole one.
    pub(crate) moves: Option<Moves>,
    /// What hazards need to know, where one may be met.
    pub(crate) hazard: Option<Box<hazards::Facts>>,
}

/// A decoded kernel.
pub(crate) struct Program<const W: usize> {
    pub(crate) insts: Vec<Inst<W>>,
    pub(crate) entry: usize,
    /// Instruction by address, for computed jumps.
    pub(crate) at: BTreeMap<u64, usize>,
    /// LDS instructions, which number themselves.
    pub(crate) ds_count: usize,
    /// Whether an instruction invalidates the scalar cache.
    pub(crate) invalidates: bool,
    /// Vector registers to keep: those named anywhere and a few more.
    pub(crate) vectors: usize,
    /// One more than the last `v` that the kernel itself names.
    pub(crate) vgprs: usize,
    /// One more than the last `a`.
    pub(crate) agprs: usize,
    /// One more than the last `s`.
    pub(crate) sgprs: usize,
}

/// Registers beyond the last one named that an operand may still reach.
const SLACK: usize = 16;

/// Index of `a0`.
const ACCUMULATORS: usize = 256;

/// What stands for a word that LLVM knows no instruction for.
const UNDECODABLE: &str = ".undecodable";

/// Most instructions that are decoded.
const MAX_INSTRUCTIONS: usize = 1 << 20;

impl<const W: usize> Program<W> {
    /// Decodes what can be reached from `entry`.
    pub(crate) fn decode(object: &CodeObject, entry: u64) -> Result<Program<W>, Error> {
        let chip = object.target();
        let mut disassembler = disassembler(chip, W)?;
        let mut texts: BTreeMap<u64, (usize, String)> = BTreeMap::new();
        let mut open = vec![entry];
        let (start, end) = object.code_range();
        let mut computed = false;
        let mut decode = |address: u64, count: usize| {
            if count == MAX_INSTRUCTIONS {
                return Err(Error::Format("the kernel is too long".into()));
            }
            let bytes = object.code_from(address);
            let decoded = disassembler.decode(bytes, address);
            let decoded = decoded.map(|(length, text)| (length, with_mask(text, bytes)));
            Ok(decoded.unwrap_or_else(|| {
                let word = bytes.iter().take(4).map(|byte| format!(" {byte:02x}"));
                (4, format!("{UNDECODABLE}{}", word.collect::<String>()))
            }))
        };
        while let Some(mut address) = open.pop() {
            while (start..end).contains(&address) && !texts.contains_key(&address) {
                let (length, text) = decode(address, texts.len())?;
                let next = address + length as u64;
                let line = Line::parse(&text);
                let name = line.name.as_str();
                let target = branch(&line, next);
                open.extend(target.map(|(_, target)| target));
                computed |= matches!(name, "s_getpc_b64" | "s_swappc_b64");
                let goes_on = match target {
                    Some((condition, _)) => condition != Condition::Always,
                    None => {
                        !(matches!(name, "s_endpgm" | "s_setpc_b64" | UNDECODABLE)
                            || system::ends_path(&line))
                    }
                };
                texts.insert(address, (length, text));
                address = next;
                if !goes_on {
                    break;
                }
            }
        }
        // What other functions name need not be this kernel's.
        let reached: BTreeSet<u64> = texts.keys().copied().collect();
        if computed {
            // A computed jump may go to any other function: decode all there is.
            let mut address = start;
            while address < end {
                let length = match texts.get(&address) {
                    Some((length, _)) => *length,
                    None => {
                        let (length, text) = decode(address, texts.len())?;
                        texts.insert(address, (length, text));
                        length
                    }
                };
                address += length as u64;
            }
        }
        Self::build(texts, &reached, entry, chip)
    }

    fn build(
        texts: BTreeMap<u64, (usize, String)>,
        reached: &BTreeSet<u64>,
        entry: u64,
        chip: Chip,
    ) -> Result<Program<W>, Error> {
        let at: BTreeMap<u64, usize> = texts
            .keys()
            .enumerate()
            .map(|(index, &address)| (address, index))
            .collect();
        let mut insts = Vec::with_capacity(texts.len());
        let mut ds_count = 0;
        let mut indexing = None;
        let (mut vectors, mut vgprs, mut agprs, mut sgprs) = (0, 0, 0, 0);
        for (address, (length, text)) in texts {
            let meaning = indexed(&text, &mut indexing);
            let mut inst = inst(address, &meaning, chip, &mut ds_count);
            if meaning != text {
                inst.text = text.as_str().into();
            }
            let line = Line::parse(&text);
            if let Some((condition, target)) = branch(&line, address + length as u64) {
                (inst.class, inst.op) = match at.get(&target) {
                    Some(&target) => (Class::Branch, Op::Branch { condition, target }),
                    None => (Class::Branch, Op::Unknown("it leaves the code".into())),
                };
            }
            for (word, bits) in inst.uses.vector.iter().enumerate() {
                let filled = inst
                    .fills
                    .map_or(0, |(_, registers)| registers.vector[word]);
                if let Some(last) = (bits | filled).checked_ilog2() {
                    let end = word * 64 + last as usize + 1;
                    vectors = vectors.max(end);
                    match end.checked_sub(ACCUMULATORS) {
                        _ if !reached.contains(&address) => {}
                        Some(end) if end > 0 => agprs = agprs.max(end),
                        _ => vgprs = vgprs.max(end),
                    }
                }
            }
            if reached.contains(&address) {
                let filled = inst.fills.map_or(0, |(_, registers)| registers.scalar);
                let named = (inst.uses.scalar | filled) & ((1 << VCC) - 1);
                sgprs = sgprs.max(named.checked_ilog2().map_or(0, |last| last as usize + 1));
            }
            inst.facts = Facts::of(&text, inst.class);
            insts.push(inst);
        }
        hazards::prune(insts.iter_mut().map(|inst| &mut inst.hazard));
        let decides: Vec<bool> = (0..insts.len()).map(|at| decides(&insts, at)).collect();
        for (inst, decides) in insts.iter_mut().zip(decides) {
            inst.facts.decides = decides;
        }
        let invalidates = insts
            .iter()
            .any(|inst| matches!(inst.op, Op::System(System::InvalidateScalar)));
        let entry = *at.get(&entry).ok_or(Error::Jump { address: entry })?;
        Ok(Program {
            insts,
            entry,
            at,
            ds_count,
            invalidates,
            vectors: vectors + SLACK,
            vgprs,
            agprs,
            sgprs,
        })
    }

    /// Index of the instruction after the given one, if it follows directly.
    pub(crate) fn jump(&self, address: u64) -> Result<usize, Error> {
        self.at
            .get(&address)
            .copied()
            .ok_or(Error::Jump { address })
    }
}

/// LLVM's text, but for the rotations of `ds_swizzle_b32`, whose mask it leaves out: those are
/// spelled by the number that the instruction's first two bytes hold.
fn with_mask(text: String, bytes: &[u8]) -> String {
    let rotation = text.split_once(" offset:swizzle(ROTATE,");
    match (rotation, bytes) {
        (Some((before, _)), &[low, high, ..]) if low & 31 != 0 => {
            let offset = u16::from_le_bytes([low, high]);
            format!("{before} offset:{offset:#x}")
        }
        _ => text,
    }
}

/// Which operand of a move gfx9 offsets by M0.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Indexing {
    Source,
    Target,
    /// Others, or several.
    Unknown,
}

/// The instruction that a line means where gfx9's indexing mode is on: a move relative to M0, as
/// other chips spell it. LLVM switches the mode on right before a move and off right after it.
fn indexed<'a>(text: &'a str, indexing: &mut Option<Indexing>) -> Cow<'a, str> {
    if let Some(rest) = text.strip_prefix("s_set_gpr_idx_on ") {
        let (index, mode) = rest.split_once(',').unwrap_or((rest, ""));
        *indexing = Some(match mode.trim() {
            "gpr_idx(SRC0)" => Indexing::Source,
            "gpr_idx(DST)" => Indexing::Target,
            _ => Indexing::Unknown,
        });
        return Cow::Owned(format!("s_mov_b32 m0, {index}"));
    }
    if let Some(index) = text.strip_prefix("s_set_gpr_idx_idx ") {
        return Cow::Owned(format!("s_mov_b32 m0, {index}"));
    }
    if text.starts_with("s_set_gpr_idx_off") {
        *indexing = None;
        return Cow::Borrowed("s_nop 0");
    }
    match (*indexing, text.strip_prefix("v_mov_b32_e32 ")) {
        (Some(Indexing::Source), Some(rest)) => Cow::Owned(format!("v_movrels_b32 {rest}")),
        (Some(Indexing::Target), Some(rest)) => Cow::Owned(format!("v_movreld_b32 {rest}")),
        (Some(_), _) if text.starts_with("v_") => Cow::Owned(format!("indexed_{text}")),
        _ => Cow::Borrowed(text),
    }
}

fn disassembler(chip: Chip, wave: usize) -> Result<Disassembler, Error> {
    let error = |error: tilefold_llvm::LlvmError| Error::Format(error.to_string());
    let llvm = tilefold_llvm::Chip::find(chip.name()).map_err(error)?;
    Disassembler::with_wave_size(llvm, wave as u32).map_err(error)
}

/// Condition and target of a branch; offsets count words from the instruction after it.
fn branch(line: &Line, next: u64) -> Option<(Condition, u64)> {
    let condition = match line.name.as_str() {
        "s_branch" => Condition::Always,
        "s_cbranch_scc0" => Condition::Scc(false),
        "s_cbranch_scc1" => Condition::Scc(true),
        "s_cbranch_vccz" => Condition::Vcc(false),
        "s_cbranch_vccnz" => Condition::Vcc(true),
        "s_cbranch_execz" => Condition::Exec(false),
        "s_cbranch_execnz" => Condition::Exec(true),
        _ => return None,
    };
    let offset = match line.operands.first()?.value {
        Value::Int(int) => int as u16 as i16,
        Value::Literal(bits) => bits as u16 as i16,
        _ => return None,
    };
    Some((condition, next.wrapping_add_signed(i64::from(offset) * 4)))
}

/// Builds one instruction; what is not known about it becomes [`Op::Unknown`].
fn inst<const W: usize>(address: u64, text: &str, chip: Chip, ds_count: &mut usize) -> Inst<W> {
    let mut uses = Registers::default();
    let (mut fills, mut moves) = (None, None);
    let (class, op) = match text.split_once("::") {
        Some((x, y)) => {
            let lines = [Line::parse(x), Line::parse(y)];
            for line in &lines {
                add_operands(line, 0, &mut uses);
                add_implicit(line, W, &mut uses);
            }
            (
                Class::Valu,
                dual(&lines, chip.isa).unwrap_or_else(Op::Unknown),
            )
        }
        None => {
            let line = Line::parse(text);
            let (class, op) = match system::control(&line, text) {
                Some(control) => control,
                None => operation(&line, chip, ds_count),
            };
            let queue = match &op {
                Op::Vmem(vmem) if vmem.has_result() => Some(Queue::Load),
                Op::Ds(ds) if ds.has_result() => Some(Queue::Lds),
                Op::Broadcast(_) => Some(Queue::Direct),
                Op::Smem(_) | Op::System(System::Time(_)) => Some(Queue::Scalar),
                _ => None,
            };
            add_operands(&line, usize::from(queue.is_some()), &mut uses);
            add_implicit(&line, W, &mut uses);
            if let Some(queue) = queue {
                let mut filled = Registers::default();
                add_operand(
                    line.operands.first().map(|operand| &operand.value),
                    &mut filled,
                );
                fills = Some((queue, filled));
            } else if matches!(op, Op::Vmem(_)) && chip.isa == Isa::Gfx9 {
                // Stores are counted and return in the order of the loads.
                fills = Some((Queue::Load, Registers::default()));
            }
            let direct = matches!(&op, Op::Vmem(vmem) if vmem.touches_lds() && !vmem.is_flat());
            let counts = matches!(&op, Op::Ds(ds) if ds.reads_m0());
            if direct || counts || matches!(op, Op::Broadcast(_)) {
                uses.add_scalar(M0, 1);
            }
            // A flat access waits in two queues, and for both halves. On gfx9 whole registers count.
            let by_half =
                matches!(&op, Op::Ds(_)) || matches!(&op, Op::Vmem(vmem) if !vmem.is_flat());
            if by_half && chip.isa != Isa::Gfx9 {
                moves = half_moved(&line);
            }
            (class, op)
        }
    };
    let hazard = Some(Box::new(hazards::Facts::new(text, chip, W)));
    Inst {
        address,
        text: text.into(),
        class,
        facts: Facts::of(text, class),
        op,
        uses,
        fills,
        moves,
        hazard,
    }
}

/// The half of a register that an access of memory moves, as its name tells. Bytes and halves are
/// stored from the lower one unless it says otherwise; loads without `d16` fill the whole register.
fn half_moved(line: &Line) -> Option<Moves> {
    let narrow = ["_b8", "_b16", "_byte", "_short"];
    let loads = !line.name.contains("store") && !line.name.contains("write");
    let low = match loads {
        true => line.name.contains("d16") && !line.name.contains("format"),
        false => narrow.iter().any(|end| line.name.ends_with(end)),
    };
    let half = match line.name.contains("d16_hi") {
        true => Half::High,
        false if low => Half::Low,
        false => return None,
    };
    // The data come first but where a store names its address before.
    let first = loads || line.name.contains("buffer");
    let at = usize::from(!first);
    let Some(&Value::Vector {
        first: register,
        count: 1,
        ..
    }) = line.operands.get(at).map(|operand| &operand.value)
    else {
        return None;
    };
    // As an address it counts as a whole.
    let mut others = Registers::default();
    for (place, operand) in line.operands.iter().enumerate() {
        if place != at {
            add_operand(Some(&operand.value), &mut others);
        }
    }
    let mut own = Registers::default();
    own.add_vector(register, 1);
    (!others.meets(&own)).then_some(Moves { register, half })
}

/// Adds the registers of an operand.
pub(crate) fn add_operand(value: Option<&Value>, registers: &mut Registers) {
    match value {
        Some(&Value::Vector { first, count, .. }) => registers.add_vector(first, count),
        Some(&Value::Scalar { first, count }) if first != NULL => {
            registers.add_scalar(first, count);
        }
        _ => {}
    }
}

fn add_operands(line: &Line, skip: usize, registers: &mut Registers) {
    for operand in line.operands.iter().skip(skip) {
        add_operand(Some(&operand.value), registers);
    }
}

/// VCC, where an instruction reads it without saying so.
fn add_implicit(line: &Line, wave: usize, registers: &mut Registers) {
    let reads_vcc = line.name.starts_with("v_div_fmas")
        || line.name.starts_with("s_cbranch_vcc")
        || line.name == "v_dual_cndmask_b32";
    if reads_vcc {
        registers.add_scalar(VCC, wave as u16 / 32);
    }
}

// A range that begins at the last scalar register must still lie in the file.
const _: () = assert!(SCALARS >= 128 + SLACK);
