//! Hazards of RDNA 3, 3.5 and 4 compared with LLVM: random instructions, to which LLVM adds the waits
//! that it thinks they need. With all of them nothing is found; without any one of them, what
//! follows it is.
//!
//! `HAZARD_CASES=N` tries N sequences for every chip and wave size instead of a few.

use std::collections::BTreeSet;
use std::fmt::Write;

use tilefold_sim::{Check, Checks, CodeObject, Finding, Launch, Report, Simulator};

use crate::{Numbers, build};

/// Instructions of a sequence, besides what LLVM adds.
const LENGTH: usize = 24;

/// Waits of one sequence that are left out, one at a time.
const ROUNDS: usize = 8;

/// Random instructions as LLVM's machine code, over few registers, so that they meet.
struct Pool {
    numbers: Numbers,
    wave: usize,
    chip: &'static str,
}

impl Pool {
    fn below(&mut self, end: u32) -> u32 {
        self.numbers.next() % end
    }

    fn vector(&mut self) -> String {
        format!("$vgpr{}", self.below(5))
    }

    fn scalar(&mut self) -> String {
        format!("$sgpr{}", 8 + self.below(6))
    }

    fn pair(&mut self) -> String {
        let first = 8 + 2 * self.below(3);
        format!("$sgpr{first}_sgpr{}", first + 1)
    }

    /// A lane mask in scalar registers.
    fn mask(&mut self) -> String {
        if self.wave == 64 {
            self.pair()
        } else {
            self.scalar()
        }
    }

    fn instruction(&mut self) -> String {
        let (a, b, c) = (self.vector(), self.vector(), self.vector());
        let (s, t, m) = (self.scalar(), self.scalar(), self.mask());
        let (vcc, exec, bits) = match self.wave {
            64 => ("$vcc", "$exec", "B64"),
            _ => ("$vcc_lo", "$exec_lo", "B32"),
        };
        let real = "implicit $mode, implicit $exec";
        // Two rows need chains of vector instructions and writes of EXEC, the others scalars.
        match self.below(28) {
            // Moves of a register to itself are LLVM's alone.
            0 if a != b => format!("{a} = V_MOV_B32_e32 {b}, implicit $exec"),
            0 | 1 => format!("{a} = V_MOV_B32_e32 {s}, implicit $exec"),
            2 | 3 => format!("{a} = V_ADD_F32_e32 {b}, {c}, {real}"),
            4 => format!("{a} = V_FMAC_F32_e32 {b}, {c}, {a}, {real}"),
            5 => format!("{a} = V_FMA_F32_e64 0, {a}, 0, {b}, 0, {c}, 0, 0, {real}"),
            6 => format!("{a} = V_RCP_F32_e32 {b}, {real}"),
            7 => format!("{a} = V_SIN_F32_e32 {b}, {real}"),
            8 => format!("{a} = V_CNDMASK_B32_e32 {b}, {c}, implicit $vcc, implicit $exec"),
            9 | 10 => format!("{a} = V_CNDMASK_B32_e64 0, {b}, 0, {c}, {m}, implicit $exec"),
            11 => format!(
                "{a} = V_ADDC_U32_e32 {b}, {c}, implicit-def $vcc, implicit $vcc, implicit $exec"
            ),
            12 => format!("{a}, {m} = V_ADDC_U32_e64 {b}, {c}, {m}, 0, implicit $exec"),
            13 => format!("V_CMP_EQ_U32_e32 {b}, {c}, implicit-def $vcc, implicit $exec"),
            14 => format!("{m} = V_CMP_EQ_U32_e64 {b}, {c}, implicit $exec"),
            15 => format!("V_CMPX_EQ_U32_nosdst_e32 {b}, {c}, implicit-def $exec, implicit $exec"),
            16 | 17 => format!(
                "{a} = V_PERMLANEX16_B32_e64 0, {a}, 0, {s}, 0, {t}, {a}, 0, implicit $exec"
            ),
            18 | 19 => format!("{s} = V_READFIRSTLANE_B32 {a}, implicit $exec"),
            20 => format!("{s} = S_MOV_B32 {t}"),
            21 => format!("{s} = S_OR_B32 {s}, {t}, implicit-def $scc"),
            22 => format!("{} = S_MOV_B64 {}", self.pair(), self.pair()),
            23 => format!("{vcc} = S_MOV_{bits} {m}"),
            24 | 25 => format!("{exec} = S_MOV_{bits} {m}"),
            26 => match self.wave {
                64 => format!(
                    "{m} = S_AND_SAVEEXEC_B64 $vcc, implicit-def $exec, implicit-def $scc, \
                     implicit $exec"
                ),
                _ => format!(
                    "{m} = S_AND_SAVEEXEC_B32 $vcc_lo, implicit-def $exec, implicit-def $scc, \
                     implicit $exec"
                ),
            },
            _ if self.below(3) == 0 => format!("DS_WRITE_B32_gfx9 {a}, {b}, 0, 0, implicit $exec"),
            _ => format!(
                "{a} = V_DIV_FMAS_F32_e64 0, {a}, 0, {b}, 0, {c}, 0, 0, {real}, implicit $vcc"
            ),
        }
    }

    /// Kernels `c0`, `c1`, ... as a file of machine code.
    fn file(&mut self, cases: usize) -> String {
        let mut text = String::from("--- |\n");
        for case in 0..cases {
            writeln!(
                text,
                "  define amdgpu_kernel void @c{case}() {{ ret void }}"
            )
            .unwrap();
        }
        text.push_str("...\n");
        for case in 0..cases {
            writeln!(text, "---\nname: c{case}\nmachineFunctionInfo:\n  isEntryFunction: true\nbody: |\n  bb.0:").unwrap();
            for _ in 0..LENGTH {
                writeln!(text, "    {}", self.instruction()).unwrap();
            }
            text.push_str("    S_ENDPGM 0\n...\n");
        }
        text
    }
}

/// An assembly file's lines and, for every kernel, where its code begins and ends.
struct Kernels<'t> {
    /// As LLVM wrote them, and without indentation and comments.
    file: Vec<&'t str>,
    lines: Vec<&'t str>,
    code: Vec<(usize, usize)>,
}

impl<'t> Kernels<'t> {
    fn new(text: &'t str, cases: usize) -> Kernels<'t> {
        let lines: Vec<&str> = text.lines().map(code).collect();
        let code = (0..cases)
            .map(|case| {
                let label = format!("c{case}:");
                let first = lines.iter().position(|line| *line == label).unwrap();
                let last = lines[first..]
                    .iter()
                    .position(|line| *line == "s_endpgm")
                    .unwrap();
                (first, first + last)
            })
            .collect();
        // Machine code alone does not say how many arguments lie in registers.
        let count = ".amdhsa_user_sgpr_count";
        let argument = |line: &str| line.trim_start().starts_with(count);
        let file = text
            .lines()
            .map(|line| if argument(line) { "" } else { line });
        let file = file.collect();
        Kernels { file, lines, code }
    }

    /// Where LLVM added something to a kernel: waits, and moves of a register to itself in front of
    /// permutations.
    fn added(&self, case: usize) -> Vec<usize> {
        let (first, last) = self.code[case];
        (first..last)
            .filter(|&at| is_wait(self.lines[at]) || is_self_move(self.lines[at]))
            .collect()
    }

    /// The next instruction that does something.
    fn after(&self, at: usize) -> usize {
        let idle = |line: &str| is_wait(line) || line.starts_with("s_delay_alu");
        (at + 1..).find(|&at| !idle(self.lines[at])).unwrap()
    }

    /// Without the lines of `out`.
    fn without(&self, out: &BTreeSet<usize>) -> String {
        let kept = (0..self.file.len()).filter(|at| !out.contains(at));
        kept.map(|at| format!("{}\n", self.file[at])).collect()
    }

    /// The readers that lack the wait at `at`, one at most for each of its fields. Where RDNA 3 has
    /// lane masks, LLVM puts waits behind writes, whoever reads; elsewhere in front of readers.
    fn readers(&self, case: usize, at: usize) -> BTreeSet<usize> {
        let line = self.lines[at];
        let fields = ["sa_sdst(0)", "va_sdst(0)", "va_vcc(0)"];
        if line.starts_with("s_wait_alu") {
            // LLVM may have put it for one reader, and the first that needs it may be another.
            let behind = at + 1..self.code[case].1;
            let behind = behind.take_while(|&it| !self.lines[it].contains(fields[1]));
            let vector = behind.filter(|&it| self.lines[it].starts_with("v_"));
            let mut needs = vector.filter(|&reader| self.waits_alone(case, at, reader));
            let of_vector = line.contains(fields[1]).then(|| needs.next()).flatten();
            let others = line != "s_wait_alu depctr_va_sdst(0)";
            let of_others = others.then(|| self.after(at));
            return of_vector.into_iter().chain(of_others).collect();
        }
        if !line.starts_with("s_waitcnt_depctr") || line.contains("va_vdst(0)") {
            return BTreeSet::from([self.after(at)]);
        }
        let own = fields.iter().filter(|field| line.contains(**field));
        own.filter_map(|field| self.mask_reader(case, at, field))
            .collect()
    }

    /// RDNA 4: whether nothing but the wait at `at` waits for what a vector instruction wrote before
    /// the one at `reader` reads it. A scalar instruction that reads scalar registers does; LLVM
    /// counts it where vector instructions had read them, or their neighbours, as well.
    fn waits_alone(&self, case: usize, at: usize, reader: usize) -> bool {
        let first = self.code[case].0;
        let reads_scalars = |at: usize| {
            let line = self.lines[at];
            let others = |name: &String| !name.starts_with("vcc");
            line.starts_with("s_") && !is_wait(line) && scalars(line).1.iter().any(others)
        };
        let (_, sources, _) = scalars(self.lines[reader]);
        let mut sources = sources.iter().filter(|name| !name.starts_with("vcc"));
        sources.any(|source| {
            // A scalar instruction that wrote it since does not settle it.
            let writes = |at: &usize| {
                let line = self.lines[*at];
                line.starts_with("v_") && scalars(line).0.contains(source)
            };
            let writer = (first + 1..reader).rev().find(writes);
            // Only what vector instructions read before, or its neighbour in 64 bits.
            let known = |at: usize| {
                let line = self.lines[at];
                let read = scalars(line).1;
                line.starts_with("v_") && read.iter().any(|it| pair(it) == pair(source))
            };
            writer.is_some_and(|writer| {
                writer < at
                    && !(writer..reader).any(reads_scalars)
                    && (first + 1..=writer).any(known)
            })
        })
    }

    /// The first reader behind the wait at `at` and before another one by the same field, of what
    /// was a lane mask and then written by the kind of instruction that the field is about.
    fn mask_reader(&self, case: usize, at: usize, field: &str) -> Option<usize> {
        let (first, last) = self.code[case];
        let vector = field.starts_with("va_");
        let (mut masks, mut written) = (BTreeSet::new(), BTreeSet::new());
        for here in first + 1..last {
            let line = self.lines[here];
            if here != at && line.contains(field) {
                if here > at {
                    return None;
                }
                written.clear();
            }
            // A wait for vector results is one for their scalar ones.
            if vector && (line.starts_with("ds_") || line.contains("va_vdst(0)")) {
                written.clear();
            }
            if is_wait(line) || line.starts_with("s_delay_alu") {
                continue;
            }
            let by_vector = line.starts_with("v_");
            let (targets, sources, mask) = scalars(line);
            if here > at && (!vector || by_vector) && !sources.is_disjoint(&written) {
                return Some(here);
            }
            for register in &targets {
                let vcc = register.starts_with("vcc");
                let counts = by_vector == vector && (!vector || vcc == (field == "va_vcc(0)"));
                if !counts {
                    written.remove(register);
                } else if masks.contains(register) {
                    written.insert(register.clone());
                }
                masks.remove(register);
            }
            masks.extend(mask);
        }
        None
    }
}

/// A line without comment.
fn code(line: &str) -> &str {
    line.split(';').next().unwrap_or("").trim()
}

/// Which pair of scalar registers one of them is in.
fn pair(name: &str) -> Option<u32> {
    let number: u32 = name.strip_prefix('s')?.parse().ok()?;
    Some(number / 2)
}

/// What LLVM puts between a comparison that writes EXEC and a permutation. It looks for no hazards of
/// its own there: where it reads a transcendental result too early, the wait comes behind it.
fn is_self_move(line: &str) -> bool {
    let operands = line.strip_prefix("v_mov_b32_e32 ");
    let operands = operands.and_then(|rest| rest.split_once(", "));
    operands.is_some_and(|(a, b)| a == b)
}

fn is_wait(line: &str) -> bool {
    line.starts_with("s_waitcnt_depctr") || line.starts_with("s_wait_alu")
}

/// Names of the scalar registers that an instruction writes, that it reads, and that it reads as a
/// lane mask, for the instructions of the pool.
fn scalars(line: &str) -> (BTreeSet<String>, BTreeSet<String>, BTreeSet<String>) {
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    let operands: Vec<BTreeSet<String>> = rest.split(", ").map(names).collect();
    let written = match name {
        _ if name.starts_with("v_cmpx") => 0,
        _ if name.contains("_co_") => 2,
        _ => 1,
    };
    let all = |some: &[BTreeSet<String>]| some.iter().flatten().cloned().collect();
    let (targets, mut sources): (BTreeSet<String>, BTreeSet<String>) =
        (all(&operands[..written]), all(&operands[written..]));
    let mask = match name {
        _ if name.starts_with("v_div_fmas") => names("vcc"),
        _ if name.starts_with("v_cndmask") || name.contains("_ci_") => {
            operands.last().unwrap().clone()
        }
        _ => BTreeSet::new(),
    };
    sources.extend(mask.clone());
    (targets, sources, mask)
}

/// The registers of `s9`, `s[8:9]` or `vcc`.
fn names(operand: &str) -> BTreeSet<String> {
    match operand {
        "vcc" => return BTreeSet::from(["vcc_lo".to_owned(), "vcc_hi".to_owned()]),
        "vcc_lo" | "vcc_hi" => return BTreeSet::from([operand.to_owned()]),
        _ => {}
    }
    let range = operand
        .strip_prefix("s[")
        .and_then(|rest| rest.strip_suffix(']'));
    let single = operand
        .strip_prefix('s')
        .and_then(|rest| rest.parse::<u32>().ok());
    match (range.and_then(|range| range.split_once(':')), single) {
        (Some((first, last)), _) => {
            let (first, last): (u32, u32) = (first.parse().unwrap(), last.parse().unwrap());
            (first..=last).map(|index| format!("s{index}")).collect()
        }
        (None, Some(index)) => BTreeSet::from([format!("s{index}")]),
        _ => BTreeSet::new(),
    }
}

fn run(object: &CodeObject, wave: usize, case: usize) -> Report {
    let launch = Launch {
        block: [wave as u32, 1, 1],
        checks: Checks::none().with(Check::Hazard),
        ..Launch::default()
    };
    Simulator::new()
        .launch(object, &format!("c{case}"), launch)
        .unwrap()
}

/// Compares one chip and wave size; returns how many waits LLVM added and how many of them mattered.
fn compare(chip: &'static str, wave: usize, cases: usize) -> (usize, usize) {
    let numbers = Numbers(0x5eed ^ wave as u64);
    let mut pool = Pool {
        numbers,
        wave,
        chip,
    };
    let text = build::padded(pool.chip, wave, &pool.file(cases));
    let kernels = Kernels::new(&text, cases);
    let load = |out: &BTreeSet<usize>| {
        CodeObject::load(&build::assemble_in(chip, wave, &kernels.without(out))).unwrap()
    };
    let object = load(&BTreeSet::new());
    let own = |found: &Finding| !is_self_move(&found.instruction);
    for case in 0..cases {
        let report = run(&object, wave, case);
        let findings: Vec<_> = report.findings.iter().filter(|found| own(found)).collect();
        assert!(findings.is_empty(), "{chip} wave{wave}: {findings:#?}");
    }
    let added: Vec<Vec<usize>> = (0..cases).map(|case| kernels.added(case)).collect();
    let (mut waits, mut mattered) = (0, 0);
    for round in 0..ROUNDS {
        let out: BTreeSet<usize> = added
            .iter()
            .filter_map(|added| added.get(round).copied())
            .collect();
        if out.is_empty() {
            break;
        }
        let object = load(&out);
        for (case, added) in added.iter().enumerate() {
            let Some(&at) = added.get(round) else {
                continue;
            };
            let report = run(&object, wave, case);
            if report.findings.iter().any(|found| !own(found)) {
                continue;
            }
            // Without a move, vector instructions behind it lie nearer to those before it.
            let moved = is_self_move(kernels.lines[at]);
            let all = report.findings.iter().map(|f| f.instruction.as_str());
            let found: Vec<&str> = all.take(if moved { 1 } else { usize::MAX }).collect();
            let readers = kernels.readers(case, at);
            let expected: Vec<&str> = readers.iter().map(|&at| kernels.lines[at]).collect();
            let (first, last) = kernels.code[case];
            assert_eq!(
                found,
                expected,
                "{chip} wave{wave} without line {}: {}\n{}",
                at - first,
                kernels.lines[at],
                kernels.lines[first..last].join("\n")
            );
            waits += 1;
            mattered += usize::from(!readers.is_empty());
        }
    }
    (waits, mattered)
}

#[test]
fn every_wait_that_llvm_adds_is_missed() {
    let cases = std::env::var("HAZARD_CASES")
        .ok()
        .and_then(|text| text.parse().ok());
    let cases = cases.unwrap_or(24);
    for chip in crate::CHIPS {
        for wave in [32, 64] {
            let (waits, mattered) = compare(chip, wave, cases);
            println!("{chip} wave{wave}: {cases} sequences, {waits} waits, {mattered} needed");
            // RDNA 3.5 in wave32 has permutations alone.
            let least = if (chip, wave) == ("gfx1151", 32) {
                0
            } else {
                cases
            };
            assert!(
                mattered >= least,
                "{chip} wave{wave}: {mattered} of {waits}"
            );
        }
    }
}
