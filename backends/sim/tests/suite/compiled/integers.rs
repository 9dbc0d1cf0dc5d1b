//! Integer arithmetic that the compiler expands.

use super::{Case, Value, edgy, edgy64, get, put};

const N: usize = 512;

fn dividends() -> (Vec<u64>, Vec<u64>) {
    let y = edgy64(22, N).into_iter().map(|y| y.max(1)).collect();
    (edgy64(21, N), y)
}

#[test]
fn divisions_of_64_bits() {
    let (x, y) = dividends();
    let values = vec![Value::In(put(&x)), Value::In(put(&y)), Value::Out(32 * N)];
    Case::new("integers.hip", "divide64", 4, 128, values).check(|label, out| {
        for (i, got) in get::<u64>(&out[0]).chunks(4).enumerate() {
            let (a, b) = (x[i], y[i]);
            let (signed, other) = (a as i64, b as i64);
            let expected = [
                a / b,
                a % b,
                signed.wrapping_div(other) as u64,
                signed.wrapping_rem(other) as u64,
            ];
            // The quotient of the smallest number and -1 is not defined in C.
            let defined = if a == 1 << 63 && other == -1 { 2 } else { 4 };
            assert_eq!(got[..defined], expected[..defined], "{label} {a:#x} {b:#x}");
        }
    });
    for (by, small) in [
        (3, 10),
        (u64::MAX, 7),
        (1 << 40, 0x8000_0001),
        (0x1_0000_0001, u32::MAX),
    ] {
        let values = vec![
            Value::In(put(&x)),
            Value::Out(24 * N),
            Value::U64(by),
            Value::I32(small as i32),
        ];
        Case::new("integers.hip", "divide_uniform", 4, 128, values).check(|label, out| {
            for (x, got) in x.iter().zip(get::<u64>(&out[0]).chunks(3)) {
                let third = (by / u64::from(small)).wrapping_add((by as i64 % 1_000_003) as u64);
                let expected = [x / by, u64::from(*x as u32 % small), third];
                assert_eq!(got, expected, "{label} {x:#x} {by:#x} {small:#x}");
            }
        });
    }
}

#[test]
fn divisions_of_32_bits() {
    let x = edgy(23, N);
    let y: Vec<u32> = edgy(24, N).into_iter().map(|y| y.max(1)).collect();
    let values = vec![Value::In(put(&x)), Value::In(put(&y)), Value::Out(24 * N)];
    Case::new("integers.hip", "divide32", 4, 128, values).check(|label, out| {
        for (i, got) in get::<u32>(&out[0]).chunks(6).enumerate() {
            let (a, b) = (x[i], y[i]);
            let (signed, other) = (a as i32, b as i32);
            let expected = [
                u32::from(a as u16 / (b as u16 | 1)),
                (i32::from(a as i8) / i32::from(b as i8 | 1)) as u32,
                a / b,
                a % b,
                signed.wrapping_div(other) as u32,
                signed.wrapping_rem(other) as u32,
            ];
            let defined = if a == 1 << 31 && other == -1 { 4 } else { 6 };
            let got = [got[4], got[5], got[0], got[1], got[2], got[3]];
            // LLVM 22 takes the quotient of two bytes for a byte, which -128 / -1 is not.
            let first = if (a as u8, b as u8 | 1) == (0x80, 0xff) {
                2
            } else {
                0
            };
            let range = first..defined;
            assert_eq!(got[range.clone()], expected[range], "{label} {a:#x} {b:#x}");
        }
    });
}

#[test]
fn products_counts_rotations_and_saturation() {
    let (x, y) = (edgy64(25, N), edgy64(26, N));
    let values = vec![Value::In(put(&x)), Value::In(put(&y)), Value::Out(96 * N)];
    Case::new("integers.hip", "bits", 4, 128, values).check(|label, out| {
        for (i, got) in get::<u64>(&out[0]).chunks(12).enumerate() {
            let (a, b) = (x[i], y[i]);
            let (c, d) = (a as u32, b as u32);
            let (sc, sd) = (c as i32, d as i32);
            let pair = |low: u32, high: u32| u64::from(low) | u64::from(high) << 32;
            let expected = [
                ((u128::from(a) * u128::from(b)) >> 64) as u64,
                ((i128::from(a as i64) * i128::from(b as i64)) >> 64) as u64,
                pair(a.count_ones(), d.count_ones()),
                if a == 0 {
                    64
                } else {
                    pair(a.leading_zeros(), a.trailing_zeros())
                },
                if c == 0 {
                    32
                } else {
                    pair(c.leading_zeros(), c.trailing_zeros())
                },
                a.reverse_bits(),
                a.swap_bytes() ^ u64::from(d.swap_bytes()),
                a.rotate_left((b & 63) as u32) ^ u64::from(c.rotate_right(d & 31)),
                pair(c.saturating_add(d), c.saturating_sub(d)),
                pair(sc.saturating_add(sd) as u32, sc.saturating_sub(sd) as u32),
                ((a as i64) >> (b & 63)) as u64 ^ (a << (d & 63)) ^ (a >> (c & 63)),
                u64::from(a < b)
                    | u64::from((a as i64) < (b as i64)) << 1
                    | u64::from(a == b) << 2
                    | u64::from(c.abs_diff(d)) << 8,
            ];
            for (part, (got, expected)) in got.iter().zip(expected).enumerate() {
                assert_eq!(*got, expected, "{label} part {part} of {a:#x} {b:#x}");
            }
        }
    });
}
