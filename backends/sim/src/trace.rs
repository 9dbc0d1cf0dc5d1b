//! A readable trace of one wave.

use std::fmt::Write;

use crate::check::Checks;
use crate::error::Error;
use crate::group::Group;
use crate::lines::SourceLine;
use crate::memory::access::Vmem;
use crate::program::{Inst, Op};
use crate::text::{EXEC, Line, M0, SCALARS, VCC, Value};
use crate::waits::Registers;
use crate::wave::Wave;

/// Which wave is traced, and how far.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    /// The workgroup's id.
    pub workgroup: [u32; 3],
    /// The wave in it.
    pub wave: u32,
    /// Most instructions that are written; those after are counted.
    pub limit: u64,
}

impl Default for Trace {
    fn default() -> Self {
        Trace {
            workgroup: [0; 3],
            wave: 0,
            limit: 10_000,
        }
    }
}

/// Lanes, each with a value or an address.
pub(crate) type Lanes = Vec<(usize, u64)>;

/// A trace being written.
pub(crate) struct Tracer<'a, const W: usize> {
    request: Trace,
    /// Source line of every instruction of the program; empty where there are none.
    sources: &'a [Option<SourceLine>],
    text: String,
    executed: u64,
    before: Before<W>,
}

/// What an instruction found.
struct Before<const W: usize> {
    v: Vec<[u32; W]>,
    s: [u32; SCALARS],
    scc: bool,
    addresses: Option<String>,
}

impl<'a, const W: usize> Tracer<'a, W> {
    pub(crate) fn new(request: Trace, sources: &'a [Option<SourceLine>]) -> Self {
        Tracer {
            request,
            sources,
            text: String::new(),
            executed: 0,
            before: Before {
                v: Vec::new(),
                s: [0; SCALARS],
                scc: false,
                addresses: None,
            },
        }
    }

    /// The trace, with a note on what was left out and on the error that ended the run.
    pub(crate) fn finish(mut self, error: Option<&Error>) -> String {
        let left = self.executed.saturating_sub(self.request.limit);
        if left > 0 {
            line(
                &mut self.text,
                format_args!("{left} more instructions are not shown"),
            );
        }
        if let Some(error) = error {
            line(&mut self.text, format_args!("the run ended here: {error}"));
        }
        self.text
    }

    fn wants(&self) -> bool {
        self.executed < self.request.limit
    }

    /// Where the wave begins: scalars that are not zero, and the packed work-item ids.
    fn begin(&mut self, wave: &Wave<W>) {
        let [x, y, z] = self.request.workgroup;
        let text = &mut self.text;
        line(
            text,
            format_args!("wave {} of workgroup {x},{y},{z}", wave.id),
        );
        line(text, format_args!("    exec = {:#x}", wave.exec()));
        for (index, value) in wave.s.iter().enumerate() {
            if *value != 0 && index != usize::from(EXEC) && index != usize::from(EXEC) + 1 {
                line(text, format_args!("    {} = {value:#x}", scalar(index)));
            }
        }
        let ids = summary(&lanes(&wave.v[0], wave.exec()));
        line(text, format_args!("    v0 = {ids}"));
    }
}

fn line(text: &mut String, arguments: std::fmt::Arguments<'_>) {
    // Writing to a string does not fail.
    let _ = writeln!(text, "{arguments}");
}

impl<const W: usize> Group<'_, W> {
    /// Whether a wave is the one that is traced.
    pub(crate) fn traces(&self, wave: &Wave<W>) -> bool {
        self.trace
            .as_ref()
            .is_some_and(|trace| trace.request.wave == wave.id)
    }

    /// Remembers what an instruction is about to change.
    pub(crate) fn trace_before(&mut self, wave: &Wave<W>, inst: &Inst<W>) {
        let Some(mut trace) = self.trace.take() else {
            return;
        };
        if trace.executed == 0 {
            trace.begin(wave);
        }
        if trace.wants() {
            trace.before = Before {
                v: wave.v.clone(),
                s: wave.s,
                scc: wave.scc,
                addresses: self.addresses(wave, inst),
            };
        }
        self.trace = Some(trace);
    }

    /// Writes an instruction with what it changed.
    pub(crate) fn trace_after(&mut self, wave: &Wave<W>, inst: &Inst<W>) {
        let Some(trace) = &mut self.trace else {
            return;
        };
        let wants = trace.wants();
        trace.executed += 1;
        if !wants {
            return;
        }
        let Tracer {
            sources,
            text,
            before,
            ..
        } = &mut **trace;
        match sources.get(wave.pc).and_then(Option::as_ref) {
            Some(source) => line(
                text,
                format_args!("{:#06x}  {:<48}  {source}", inst.address, inst.text),
            ),
            None => line(text, format_args!("{:#06x}  {}", inst.address, inst.text)),
        }
        if let Some(addresses) = before.addresses.take() {
            line(text, format_args!("    at {addresses}"));
        }
        let (vectors, scalars) = results(inst);
        for (index, (now, then)) in wave.v.iter().zip(&before.v).enumerate() {
            if now != then || vectors.contains(&index) {
                let name = match index.checked_sub(256) {
                    Some(index) => format!("a{index}"),
                    None => format!("v{index}"),
                };
                let exec = wave.exec();
                // What was written outside EXEC, as matrix instructions do, counts too.
                let changed = (0..W).fold(exec, |lanes, lane| {
                    lanes | u64::from(now[lane] != then[lane]) << lane
                });
                let values = summary(&lanes(now, changed));
                line(text, format_args!("    {name} = {values}"));
            }
        }
        for (index, (now, then)) in wave.s.iter().zip(&before.s).enumerate() {
            if now != then || scalars.contains(&index) {
                line(text, format_args!("    {} = {now:#x}", scalar(index)));
            }
        }
        if wave.scc != before.scc {
            line(text, format_args!("    scc = {}", u8::from(wave.scc)));
        }
    }

    /// The addresses of a memory instruction.
    fn addresses(&mut self, wave: &Wave<W>, inst: &Inst<W>) -> Option<String> {
        match &inst.op {
            Op::Ds(ds) => {
                let (spans, bytes) = ds.addresses(wave)?;
                let spans: Vec<_> = spans.iter().map(|lanes| summary(lanes)).collect();
                Some(format!("LDS {}, {bytes} bytes each", spans.join(" and ")))
            }
            Op::Broadcast(_) => Some(format!("LDS {:#x}", wave.s[usize::from(M0)] & 0xffff)),
            Op::Vmem(vmem) => self.vector_addresses(vmem, wave, inst),
            Op::Smem(smem) => Some(self.memory.describe(smem.address(wave))),
            _ => None,
        }
    }

    fn vector_addresses(&mut self, vmem: &Vmem, wave: &Wave<W>, inst: &Inst<W>) -> Option<String> {
        // The instruction itself makes the findings.
        let checks = std::mem::replace(&mut self.checks, Checks::none());
        let lanes = vmem.addresses(wave, self, inst);
        self.checks = checks;
        let &(_, first) = lanes.first()?;
        let summary = summary(&lanes);
        match vmem.is_scratch() {
            true => Some(format!("scratch {summary}")),
            false => Some(format!("{summary}; {}", self.memory.describe(first))),
        }
    }
}

/// Indices of the registers that an instruction writes by its text, changed or not.
fn results<const W: usize>(inst: &Inst<W>) -> (Vec<usize>, Vec<usize>) {
    let (mut vectors, mut scalars) = (Vec::new(), Vec::new());
    let writes = match &inst.op {
        Op::Ds(_) | Op::Broadcast(_) | Op::Vmem(_) | Op::Smem(_) => inst
            .fills
            .is_some_and(|(_, registers)| registers != Registers::default()),
        Op::Salu(_) | Op::Real(_) => {
            !(inst.text.starts_with("s_cmp") || inst.text.starts_with("s_bitcmp"))
        }
        Op::Valu(_)
        | Op::Dual(_)
        | Op::Packed(_)
        | Op::Lane(_)
        | Op::Wmma(_)
        | Op::Swmmac(_)
        | Op::Mfma(_) => true,
        Op::Recode(_) | Op::Sums(_) | Op::Swap(_) => true,
        _ => false,
    };
    for part in inst.text.split("::").filter(|_| writes) {
        match Line::parse(part)
            .operands
            .first()
            .map(|operand| &operand.value)
        {
            Some(&Value::Vector { first, count, .. }) => {
                vectors.extend(usize::from(first)..usize::from(first + count));
            }
            Some(&Value::Scalar { first, count }) => {
                scalars.extend(usize::from(first)..usize::from(first + count));
            }
            _ => {}
        }
    }
    (vectors, scalars)
}

/// Name of a scalar register.
fn scalar(index: usize) -> String {
    match index as u16 {
        VCC => "vcc_lo".into(),
        107 => "vcc_hi".into(),
        EXEC => "exec_lo".into(),
        127 => "exec_hi".into(),
        crate::text::M0 => "m0".into(),
        index if (crate::text::TTMP..crate::text::TTMP + 16).contains(&index) => {
            format!("ttmp{}", index - crate::text::TTMP)
        }
        index => format!("s{index}"),
    }
}

fn lanes<const W: usize>(values: &[u32; W], mask: u64) -> Lanes {
    (0..W)
        .filter(|lane| mask >> lane & 1 == 1)
        .map(|lane| (lane, u64::from(values[lane])))
        .collect()
}

/// Lanes written out, or the rule they follow, or the first ones.
fn summary(lanes: &[(usize, u64)]) -> String {
    let list = |lanes: &[(usize, u64)]| {
        let each: Vec<_> = lanes
            .iter()
            .map(|(lane, value)| format!("{lane}:{value:#x}"))
            .collect();
        each.join(" ")
    };
    let (Some(&(first, start)), Some(&(last, _))) = (lanes.first(), lanes.last()) else {
        return "no lane".into();
    };
    let range = format!("lanes {first} to {last}");
    if lanes.len() == 1 {
        return list(lanes);
    }
    let dense = last - first + 1 == lanes.len();
    let step = lanes[1].1.wrapping_sub(start);
    let even = dense
        && lanes
            .windows(2)
            .all(|pair| pair[1].1.wrapping_sub(pair[0].1) == step);
    match even {
        true if step == 0 => format!("{start:#x} in {range}"),
        true if step < 1 << 63 => format!("{start:#x} and {step:#x} more each, {range}"),
        _ if lanes.len() <= 8 => list(lanes),
        _ => format!(
            "{} ... {}",
            list(&lanes[..4]),
            list(&lanes[lanes.len() - 1..])
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_summed_up() {
        let all = |f: fn(u32) -> u32| {
            lanes(
                &std::array::from_fn::<u32, 32, _>(|i| f(i as u32)),
                u64::MAX >> 32,
            )
        };
        assert_eq!(summary(&all(|_| 7)), "0x7 in lanes 0 to 31");
        assert_eq!(
            summary(&all(|i| 16 + 4 * i)),
            "0x10 and 0x4 more each, lanes 0 to 31"
        );
        assert_eq!(
            summary(&all(|i| i * i)),
            "0:0x0 1:0x1 2:0x4 3:0x9 ... 31:0x3c1"
        );
        assert_eq!(
            summary(&all(|i| i * i)[..5]),
            "0:0x0 1:0x1 2:0x4 3:0x9 4:0x10"
        );
        assert_eq!(summary(&[]), "no lane");
    }
}
