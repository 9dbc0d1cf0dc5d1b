//! One kernel a chip that applies every instruction to all operands, and the comparison.

use std::rc::Rc;

use tilefold_sim::{Arg, Check, Checks, Launch, Simulator};

use super::operands::{LAUNCH, TUPLES, Tuple, record, tuples};
use crate::{Bytes, build, words};

/// VCC before every instruction; `s[22:23]` holds the complement.
const CARRY: u64 = 0x0f0f_f0f0_5555_aaaa;
/// What s30 holds: a float, an integer and two halves as good as any.
pub const SCALAR: u32 = 0xc049_3c0f;

/// One lane and its wave, before an instruction.
pub struct Lane<'a> {
    pub wave: &'a [Tuple],
    pub at: usize,
    /// The lane's bit in VCC.
    pub carry: bool,
}

impl Lane<'_> {
    pub fn tuple(&self) -> &Tuple {
        &self.wave[self.at]
    }

    /// The same for another lane of the wave.
    pub fn other(&self, at: usize) -> Lane<'_> {
        Lane {
            wave: self.wave,
            at,
            carry: CARRY >> at & 1 == 1,
        }
    }
}

/// How a result is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Bit by bit.
    Bits,
    /// Floats bit by bit, but any quiet NaN where the model has a NaN: which payload results is
    /// not in AMD's text.
    F32,
    F16,
    /// Two f16.
    Pair16,
    /// Two bf16.
    PairBf16,
    /// Two f32.
    Pair32,
    F64,
    /// Floats within so many units in the last place, specials and NaNs as above.
    Close32,
    Close16,
    /// Within 2^-22 of the value: what AMD states for reciprocals and roots of f64.
    Close64,
}

/// What an instruction leaves behind: v[8:9], and the lane's bit of the mask it writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct After {
    pub value: u64,
    pub mask: bool,
}

pub type Model = Rc<dyn Fn(&Lane<'_>) -> After>;

/// An instruction in one operand form.
#[derive(Clone)]
pub struct Case {
    /// Instructions before it, which the mnemonic is not taken from.
    pub before: &'static str,
    /// As the assembler reads it, with `f0` to `q2` for operands and `D`, `DD` for a register or a
    /// pair that is written, `M` a mask written, `C` a mask read, `VCC` that register.
    pub text: String,
    pub kind: Kind,
    pub model: Model,
}

impl Case {
    /// The vector instructions in the text.
    pub fn mnemonics(&self) -> impl Iterator<Item = &str> {
        let parts = self.text.split('\n').flat_map(|line| line.split("::"));
        let first = parts.filter_map(|part| part.split_whitespace().next());
        first.filter(|name| name.starts_with("v_"))
    }
}

fn registers(chip: &str, text: &str) -> String {
    let wide = chip.starts_with("gfx9");
    let mut out = String::new();
    let mut token = String::new();
    let flush = |token: &mut String, out: &mut String| {
        let register = match (token.as_bytes(), token.as_str()) {
            ([kind @ (b'f' | b'i' | b'h'), at @ b'0'..=b'2'], _) => {
                let first = match kind {
                    b'f' => 20,
                    b'i' => 24,
                    _ => 28,
                };
                format!("v{}", first + u32::from(at - b'0'))
            }
            ([kind @ (b'd' | b'q'), at @ b'0'..=b'2'], _) => {
                let first = if *kind == b'd' { 32 } else { 38 } + 2 * u32::from(at - b'0');
                format!("v[{first}:{}]", first + 1)
            }
            (_, "p0") => "v23".to_owned(),
            (_, "D") => "v8".to_owned(),
            (_, "DD") => "v[8:9]".to_owned(),
            (_, "M") => if wide { "s[20:21]" } else { "s20" }.to_owned(),
            (_, "C") => if wide { "s[22:23]" } else { "s22" }.to_owned(),
            (_, "VCC") => if wide { "vcc" } else { "vcc_lo" }.to_owned(),
            (_, other) => other.to_owned(),
        };
        out.push_str(&register);
        token.clear();
    };
    for c in text.chars() {
        if c.is_ascii_alphanumeric() || c == '_' {
            token.push(c);
        } else {
            flush(&mut token, &mut out);
            out.push(c);
        }
    }
    flush(&mut token, &mut out);
    out
}

/// The kernel of all cases.
fn source(chip: &str, cases: &[Case]) -> String {
    let gfx9 = chip.starts_with("gfx9");
    let advance = match chip {
        "gfx1201" => "s_add_co_u32 s6, s6, 0x4000\ns_add_co_ci_u32 s7, s7, 0",
        _ => "s_add_u32 s6, s6, 0x4000\ns_addc_u32 s7, s7, 0",
    };
    let (load, load2, store) = match gfx9 {
        true => (
            "global_load_dwordx4",
            "s_load_dwordx4",
            "global_store_dwordx4",
        ),
        false => ("global_load_b128", "s_load_b128", "global_store_b128"),
    };
    let loads: String = (0..7)
        .map(|at| {
            let first = 20 + 4 * at;
            format!(
                "{load} v[{first}:{}], v2, s[4:5] offset:{}\n",
                first + 3,
                16 * at
            )
        })
        .collect();
    let mut body = format!(
        "
{load2} s[4:7], s[0:1], 0x0
v_lshlrev_b32 v1, 4, v0
v_mul_u32_u24 v2, 112, v0
{{scalar}}
{loads}
s_mov_b32 s30, {SCALAR:#x}
s_mov_b32 s31, 0
s_mov_b32 s22, {:#x}
s_mov_b32 s23, {:#x}
{{load}}
",
        !CARRY as u32,
        (!CARRY >> 32) as u32,
    );
    for case in cases {
        let text = registers(chip, &format!("{}\n{}", case.before, case.text));
        let tokens: Vec<&str> = case.text.split([' ', ',']).collect();
        // A mask that goes to VCC or EXEC is fetched from there.
        let writes_exec = case.text.starts_with("v_cmpx");
        let writes_vcc =
            tokens.get(1) == Some(&"VCC") || tokens.get(3) == Some(&"VCC") && { tokens.len() > 5 };
        let from = match (writes_exec, writes_vcc) {
            (true, _) => "exec",
            (_, true) => "vcc",
            _ => "",
        };
        let mut fetch = String::new();
        if !from.is_empty() {
            fetch += &format!("s_mov_b32 s20, {from}_lo\n");
            if gfx9 {
                fetch += &format!("s_mov_b32 s21, {from}_hi\ns_mov_b64 exec, -1\n");
            } else {
                fetch += "s_mov_b32 exec_lo, -1\n";
            }
        }
        body += &format!(
            "
v_mov_b32 v8, v44
v_mov_b32 v9, v45
s_mov_b32 s20, 0
s_mov_b32 s21, 0
s_mov_b32 vcc_lo, {:#x}
s_mov_b32 vcc_hi, {:#x}
{text}
{fetch}
v_mov_b32 v10, s20
v_mov_b32 v11, s21
{store} v1, v[8:11], s[6:7]
{advance}
",
            CARRY as u32,
            (CARRY >> 32) as u32,
        );
    }
    body
}

/// Runs all cases on all tuples and returns what differs, one line a case.
pub fn differences(chip: &str, cases: &[Case]) -> Vec<String> {
    let width = if chip.starts_with("gfx9") { 64 } else { 32 };
    let object = build::kernel(chip, &source(chip, cases));
    let tuples = tuples();
    let mut wrong = vec![None; cases.len()];
    for part in 0..TUPLES / LAUNCH {
        let part = &tuples[part * LAUNCH..][..LAUNCH];
        let input: Vec<u32> = part.iter().flat_map(record).collect();
        let mut simulator = Simulator::new();
        let a = simulator.memory.alloc_input(&input.bytes());
        let b = simulator.memory.alloc_output(16 * LAUNCH * cases.len());
        let launch = Launch {
            block: [LAUNCH as u32, 1, 1],
            args: vec![Arg::Buffer(a), Arg::Buffer(b)],
            checks: Checks::all().without(Check::Hazard),
            ..Launch::default()
        };
        let report = simulator.launch(&object, "k", launch).unwrap();
        assert!(report.passed(), "{:#?}", report.findings);
        let out = words(&simulator.memory.read(b));
        for ((case, wrong), out) in cases.iter().zip(&mut wrong).zip(out.chunks(4 * LAUNCH)) {
            if wrong.is_some() {
                continue;
            }
            *wrong = (0..LAUNCH).find_map(|at| {
                let lane = Lane {
                    wave: &part[at / width * width..][..width],
                    at: at % width,
                    carry: CARRY >> (at % width) & 1 == 1,
                };
                let expected = (case.model)(&lane);
                let [low, high, m0, m1] = [0, 1, 2, 3].map(|word| u64::from(out[4 * at + word]));
                let got = After {
                    value: low | high << 32,
                    mask: (m0 | m1 << 32) >> lane.at & 1 == 1,
                };
                let old = lane.tuple().old;
                (!same(case.kind, got, expected, old)).then(|| {
                    let Tuple {
                        f, p, i, h, d, q, ..
                    } = lane.tuple();
                    format!(
                        "{chip} {}: lane {} of old {old:#x} carry {}, f {f:x?} p {p:x} i {i:x?} \
                         h {h:x?} d {d:x?} q {q:x?}: gives {:#x} {}, not {:#x} {}",
                        case.text,
                        lane.at,
                        lane.carry,
                        got.value,
                        got.mask,
                        expected.value,
                        expected.mask
                    )
                })
            });
        }
    }
    wrong.into_iter().flatten().collect()
}

/// Whether a float's bits are those expected, or a quiet NaN is where any is.
pub fn float(got: u64, expected: u64, mantissa: u32, width: u32, close: u64) -> bool {
    let sign = 1 << (width - 1);
    let infinity = sign - (1 << mantissa);
    let magnitude = |bits: u64| bits & (sign - 1);
    if got != expected && magnitude(expected) > infinity {
        return magnitude(got) > infinity && got >> (mantissa - 1) & 1 == 1;
    }
    // Magnitudes of one sign are in the order of their bits; zeros and infinities are exact.
    got == expected
        || got & sign == expected & sign
            && magnitude(got).abs_diff(magnitude(expected)) <= close
            && magnitude(expected) != 0
            && magnitude(expected) != infinity
}

fn same(kind: Kind, got: After, expected: After, old: u64) -> bool {
    let (x, y) = (got.value, expected.value);
    let halves = |bits: u64| [0, 16, 32, 48].map(|shift| bits >> shift & 0xffff);
    let words = |bits: u64| [bits & 0xffff_ffff, bits >> 32];
    let value = match kind {
        Kind::Bits => x == y,
        Kind::PairBf16 => (0..4).all(|at| {
            let (x, y) = (halves(x)[at], halves(y)[at]);
            if at < 2 {
                float(x, y, 7, 16, 0)
            } else {
                x == y
            }
        }),
        Kind::F32 | Kind::Close32 => {
            let close = u64::from(kind == Kind::Close32);
            words(x)[1] == words(y)[1] && float(words(x)[0], words(y)[0], 23, 32, close)
        }
        Kind::Pair32 => (0..2).all(|at| float(words(x)[at], words(y)[at], 23, 32, 0)),
        // Each half that the instruction leaves alone is what it was.
        Kind::F16 | Kind::Pair16 | Kind::Close16 => {
            let close = u64::from(kind == Kind::Close16);
            let old = halves(old);
            (0..4).all(|at| {
                let (x, y) = (halves(x)[at], halves(y)[at]);
                x == y || at < 2 && y != old[at] && float(x, y, 10, 16, close)
            })
        }
        Kind::F64 => float(x, y, 52, 64, 0),
        Kind::Close64 => float(x, y, 52, 64, 1 << 30),
    };
    value && got.mask == expected.mask
}
