//! Models of comparisons.

use super::numbers::{f, h, sext};
use super::table::Table;

/// Relations of numbers by AMD's names: which of less, equal, greater and unordered they hold for.
const REAL: [(&str, [bool; 4]); 14] = [
    ("lt", [true, false, false, false]),
    ("eq", [false, true, false, false]),
    ("le", [true, true, false, false]),
    ("gt", [false, false, true, false]),
    ("lg", [true, false, true, false]),
    ("ge", [false, true, true, false]),
    ("o", [true, true, true, false]),
    ("u", [false, false, false, true]),
    ("nge", [true, false, false, true]),
    ("nlg", [false, true, false, true]),
    ("ngt", [true, true, false, true]),
    ("nle", [false, false, true, true]),
    ("neq", [true, false, true, true]),
    ("nlt", [false, true, true, true]),
];
const INTEGER: [(&str, [bool; 4]); 6] = [
    ("lt", [true, false, false, false]),
    ("eq", [false, true, false, false]),
    ("le", [true, true, false, false]),
    ("gt", [false, false, true, false]),
    ("ne", [true, false, true, false]),
    ("ge", [false, true, true, false]),
];

/// What two values are to each other.
fn holds<T: PartialOrd>(relation: [bool; 4], a: T, b: T) -> bool {
    relation[match a.partial_cmp(&b) {
        Some(std::cmp::Ordering::Less) => 0,
        Some(std::cmp::Ordering::Equal) => 1,
        Some(std::cmp::Ordering::Greater) => 2,
        None => 3,
    }]
}

/// Whether a number's class is among those of a mask.
fn class(bits: u64, mantissa: u32, width: u32, mask: u64) -> bool {
    let negative = bits >> (width - 1) & 1 == 1;
    let fraction = bits & ((1 << mantissa) - 1);
    let top = (1_u64 << (width - 1 - mantissa)) - 1;
    let exponent = bits >> mantissa & top;
    // Distance from the middle of the mask, between -0 and +0.
    let bit = match (exponent == top, exponent, fraction) {
        (true, _, 0) => {
            if negative {
                2
            } else {
                9
            }
        }
        (true, _, _) => u32::from(fraction >> (mantissa - 1) == 1),
        (_, 0, 0) => {
            if negative {
                5
            } else {
                6
            }
        }
        (_, 0, _) => {
            if negative {
                4
            } else {
                7
            }
        }
        _ => {
            if negative {
                3
            } else {
                8
            }
        }
    };
    mask >> bit & 1 == 1
}

pub fn add(t: &mut Table) {
    let forms: [(&'static str, bool); 2] = match t.gfx9() {
        true => [("e32 sdwa", true), ("e64", false)],
        false => [("e32", true), ("e64", false)],
    };
    for (form, vcc) in forms {
        let operands = |short: &'static str, long: &'static str| if vcc { short } else { long };
        for (name, relation) in REAL {
            let text = operands("VCC, f0, f1", "M, f0, f1");
            t.mask(&format!("v_cmp_{name}_f32"), form, text, move |a, b| {
                holds(relation, f(a as u32), f(b as u32))
            });
            let text = operands("VCC, h0, h1", "M, h0, h1");
            t.mask(&format!("v_cmp_{name}_f16"), form, text, move |a, b| {
                holds(relation, h(a as u32), h(b as u32))
            });
            let text = operands("VCC, d0, d1", "M, d0, d1");
            let plain = if vcc { "e32" } else { "e64" };
            t.mask(&format!("v_cmp_{name}_f64"), plain, text, move |a, b| {
                holds(relation, f64::from_bits(a), f64::from_bits(b))
            });
        }
        for (name, relation) in INTEGER {
            let text = operands("VCC, i0, i1", "M, i0, i1");
            t.mask(&format!("v_cmp_{name}_i32"), form, text, move |a, b| {
                holds(relation, sext(a as u32, 32), sext(b as u32, 32))
            });
            t.mask(&format!("v_cmp_{name}_u32"), form, text, move |a, b| {
                holds(relation, a, b)
            });
            let sixteen: &'static str = match form {
                "e32 sdwa" => "e32 sdwa !l",
                "e32" => "e32 !l",
                _ => "e64 !l",
            };
            t.mask(&format!("v_cmp_{name}_i16"), sixteen, text, move |a, b| {
                holds(relation, sext(a as u32, 16), sext(b as u32, 16))
            });
            t.mask(&format!("v_cmp_{name}_u16"), sixteen, text, move |a, b| {
                holds(relation, a & 0xffff, b & 0xffff)
            });
            let text = operands("VCC, q0, q1", "M, q0, q1");
            let plain = if vcc { "e32" } else { "e64" };
            t.mask(&format!("v_cmp_{name}_i64"), plain, text, move |a, b| {
                holds(relation, a as i64, b as i64)
            });
            t.mask(&format!("v_cmp_{name}_u64"), plain, text, move |a, b| {
                holds(relation, a, b)
            });
            exec(t, name, relation, vcc);
        }
        let plain = if vcc { "e32" } else { "e64" };
        let text = operands("VCC, f0, i1", "M, f0, i1");
        t.mask("v_cmp_class_f32", plain, text, |a, b| class(a, 23, 32, b));
        let text = operands("VCC, h0, i1", "M, h0, i1");
        let half: &'static str = if vcc { "e32 !l" } else { "e64 !l" };
        t.mask("v_cmp_class_f16", half, text, |a, b| {
            class(a & 0xffff, 10, 16, b)
        });
        let text = operands("VCC, d0, i1", "M, d0, i1");
        t.mask("v_cmp_class_f64", plain, text, |a, b| class(a, 52, 64, b));
    }
}

/// Comparisons that set EXEC, and on gfx9 a mask besides.
fn exec(t: &mut Table, name: &str, relation: [bool; 4], short: bool) {
    let form = if short { "e32" } else { "e64" };
    let text = match (t.gfx9(), short) {
        (false, _) => "i0, i1",
        (true, true) => "VCC, i0, i1",
        (true, false) => "M, i0, i1",
    };
    t.mask(&format!("v_cmpx_{name}_i32"), form, text, move |a, b| {
        holds(relation, sext(a as u32, 32), sext(b as u32, 32))
    });
    t.mask(&format!("v_cmpx_{name}_u32"), form, text, move |a, b| {
        holds(relation, a, b)
    });
}
