//! Models of what graphics left in the vector ALU: places on a cube, and Direct3D 9's products.

use super::harness::Kind;
use super::numbers::{f, f32_bits, fused};
use super::table::{Table, op, words};

const F32: (Kind, u32) = (Kind::F32, 32);

/// The axis of the cube's face, the last of those with the largest coordinate; a NaN is none's
/// equal.
fn axis(all: [f64; 3]) -> usize {
    let [x, y, z] = all.map(f64::abs);
    match () {
        _ if z >= x && z >= y => 2,
        _ if y >= x => 1,
        _ => 0,
    }
}

pub fn add(t: &mut Table) {
    let three = "D, f0, f1, f2";
    let model = words!(|a, b, c| {
        let all = [a, b, c].map(f);
        let at = axis(all);
        f32_bits(2.0 * at as f64 + if all[at] < 0.0 { 1.0 } else { 0.0 })
    });
    t.kind("v_cubeid_f32", "3", three, F32, model);
    let model = words!(|a, b, c| {
        let all = [a, b, c].map(f);
        f32_bits(2.0 * all[axis(all)])
    });
    t.kind("v_cubema_f32", "3", three, F32, model);
    // Which coordinate is the face's first and second, and whether it is negated on the face of the
    // positive axis and on that of the negative one.
    type Place = (usize, [bool; 2]);
    const FIRST: [Place; 3] = [(2, [true, false]), (0, [false, false]), (0, [false, true])];
    const SECOND: [Place; 3] = [(1, [true, true]), (2, [false, true]), (1, [true, true])];
    for (name, places) in [("v_cubesc_f32", FIRST), ("v_cubetc_f32", SECOND)] {
        let model = words!(|a, b, c| {
            let all = [a, b, c].map(f);
            let at = axis(all);
            let (from, negated) = places[at];
            let sign = u32::from(negated[usize::from(all[at] < 0.0)]) << 31;
            [a, b, c][from] ^ sign
        });
        t.kind(name, "3", three, F32, model);
    }
    if t.gfx9() {
        return;
    }
    let sum = |a: u32, b: u32, c: u32| match f(a) == 0.0 || f(b) == 0.0 {
        true => c,
        false => f32_bits(fused(f(a), f(b), f(c))),
    };
    let model = words!(|a, b, c| sum(a, b, c));
    t.kind("v_fma_dx9_zero_f32", "3", three, F32, model);
    if !t.gfx12() {
        let model =
            op(move |[a, b, _], lane| (sum(a as u32, b as u32, lane.tuple().f[2]).into(), false));
        let before = "v_mov_b32 D, f2";
        t.accumulating(
            "v_fmac_dx9_zero_f32",
            "e32",
            "D, f0, f1",
            before,
            F32,
            model,
        );
    }
}
