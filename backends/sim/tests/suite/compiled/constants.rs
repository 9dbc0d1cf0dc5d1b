//! Constants that stand in the instruction for two numbers.

use half::{bf16, f16};

use super::{Case, Value, get, put};

#[test]
fn halves_of_packed_constants() {
    let x: Vec<u32> = (0..64_u32)
        .map(|i| 0x8001_3c00_u32.wrapping_add(i * 0x0301_0007))
        .collect();
    let values = vec![Value::In(put(&x)), Value::Out(16 * 64)];
    let pair = |low: u16, high: u16| u32::from(low) | u32::from(high) << 16;
    let expected: Vec<u32> = x
        .iter()
        .flat_map(|&x| {
            let (low, high) = (x as u16, (x >> 16) as u16);
            let one_more = f16::from_f64(f16::from_bits(low).to_f64() + 1.0);
            [
                pair(low, high.wrapping_add(0x4000)),
                pair(0, high.wrapping_mul(0x3f80)),
                pair(low.wrapping_sub(0x3f80), high),
                pair(one_more.to_bits(), high),
            ]
        })
        .collect();
    Case::new("constants.hip", "packed", 1, 64, values).check(|label, out| {
        assert_eq!(get::<u32>(&out[0]), expected, "{label}");
    });
}

#[test]
fn constants_of_dot_products() {
    let numbers = |i: u32| (f32::from(i as u8) - 32.0, 3.0 * f32::from(i as u8 % 9));
    let x: Vec<u32> = (0..64)
        .map(|i| {
            let (low, high) = numbers(i);
            u32::from(f16::from_f32(low).to_bits()) | u32::from(f16::from_f32(high).to_bits()) << 16
        })
        .collect();
    let values = vec![Value::In(put(&x)), Value::Out(16 * 64)];
    Case::new("constants.hip", "dots", 1, 64, values).check(|label, out| {
        for (i, found) in get::<f32>(&out[0]).chunks(4).enumerate() {
            let (low, high) = numbers(i as u32);
            let as_bf16 = bf16::from_bits(x[i] as u16).to_f32();
            let last = if label.contains("gfx950") {
                0.0
            } else {
                low + 2.0
            };
            let expected = [low + 0.5, 2.0 - 4.0 * high, as_bf16 + 0.5, last];
            assert_eq!(found, expected, "{label} {i}");
        }
    });
}
