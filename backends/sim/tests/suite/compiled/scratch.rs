//! Scratch, calls, generic pointers and control flow.

use super::{Case, Value, edgy, get, put};

const N: usize = 128;

/// A kernel that makes a word of each word of `x`.
fn map(file: &'static str, kernel: &'static str, x: &[u32], more: Vec<Value>) -> Case {
    let mut values = vec![Value::In(put(x)), Value::Out(4 * N)];
    values.extend(more);
    Case::new(file, kernel, N as u32 / 64, 64, values)
}

fn check(case: &Case, x: &[u32], model: impl Fn(u32, u32) -> u32 + Sync) {
    case.check(|label, out| {
        for (i, (got, x)) in get::<u32>(&out[0]).into_iter().zip(x).enumerate() {
            assert_eq!(got, model(*x, i as u32), "{label} {i}: {x:#x}");
        }
    });
}

#[test]
fn private_arrays_and_spills() {
    let x = edgy(71, 24 * N);
    let values = vec![Value::In(put(&x)), Value::Out(96 * N)];
    Case::new("spills.cl", "sort", 2, 64, values).check(|label, out| {
        for (got, x) in get::<u32>(&out[0]).chunks(24).zip(x.chunks(24)) {
            let mut expected = x.to_vec();
            expected.sort_unstable();
            assert_eq!(got, expected, "{label}");
        }
    });
    let pressure = map("spills.cl", "pressure", &x[..N], vec![Value::I32(5)]);
    check(&pressure, &x, |x, _| {
        let mut a: Vec<u32> = (0..96).map(|j| x.wrapping_mul(2 * j + 1)).collect();
        for _ in 0..5 {
            for j in 0..96 {
                a[j] = a[j].wrapping_mul(5).wrapping_add(a[(j + 1) % 96]);
            }
        }
        a.iter()
            .fold(0, |sum, a| sum.wrapping_mul(3).wrapping_add(*a))
    });
    check(&map("spills.cl", "bytes", &x[..N], vec![]), &x, |x, _| {
        let b: Vec<u8> = (0..40).map(|j| (x >> (j % 32)) as u8).collect();
        let at = |x: u32, n: u32| (x % n) as usize;
        let h: Vec<u16> = (0..20)
            .map(|j| u16::from_le_bytes([b[2 * j as usize], b[at(x.wrapping_add(j), 40)]]))
            .collect();
        let w: Vec<u64> = (0..5)
            .map(|j| u64::from(h[4 * j]) << 32 | u64::from(h[at(x >> 3, 20)]))
            .collect();
        let sum = (0..5).fold(0_u32, |sum, j| {
            let part = (w[at(x.wrapping_add(j), 5)] >> (x % 24)) as u32;
            sum.wrapping_mul(31).wrapping_add(part)
        });
        let (byte, half) = (b[at(x, 40)] as i8, h[at(x, 20)] as i16);
        sum.wrapping_add((i32::from(byte) - i32::from(half)) as u32)
    });
    check(
        &map("spills.cl", "arguments", &x[..N], vec![]),
        &x,
        |x, _| {
            let vectors = (0..4).fold(0, |bits, part: u32| {
                let sum = (0..9_u32).fold(0_u32, |sum, at| {
                    let v = x.wrapping_add(part).wrapping_add(at);
                    sum.wrapping_add(v.wrapping_mul(at + 1))
                });
                bits ^ sum
            });
            let square = u64::from(x) * u64::from(x);
            vectors ^ x.wrapping_mul(3) ^ (square >> 5) as u32 ^ (x & 0xff)
        },
    );
}

fn ackermann(m: u32, n: u32) -> u32 {
    match (m, n) {
        (0, n) => n + 1,
        (m, 0) => ackermann(m - 1, 1),
        (m, n) => ackermann(m - 1, ackermann(m, n - 1)),
    }
}

fn fibonacci(n: u32) -> u32 {
    if n < 2 {
        n
    } else {
        fibonacci(n - 1) + fibonacci(n - 2)
    }
}

#[test]
fn calls() {
    let x = edgy(72, N);
    check(&map("calls.hip", "pointers", &x, vec![]), &x, |x, i| {
        (0..4).fold(x, |v, j| {
            let b = x.wrapping_add(j);
            match v.wrapping_add(i) & 3 {
                0 => v.wrapping_add(b),
                1 => (v ^ b).wrapping_mul(0x9e37_79b1),
                2 => v.rotate_left(b & 31),
                _ => v / (b | 1),
            }
        })
    });
    check(&map("calls.hip", "recursion", &x, vec![]), &x, |x, _| {
        ackermann(x % 3, x % 4) * 1000 + fibonacci(x % 10)
    });
    check(&map("calls.hip", "structures", &x, vec![]), &x, |x, _| {
        let big: Vec<u32> = (1..13).map(|i| x.wrapping_mul(i)).collect();
        let mut other = big.clone();
        other[(x % 12) as usize] = other[(x % 12) as usize].wrapping_add(7);
        (0..12).fold(0_u32, |sum, j| {
            let at = (x.wrapping_add(j) % 12) as usize;
            let part = other[at].wrapping_sub(big[j as usize]);
            sum.wrapping_mul(5).wrapping_add(part)
        })
    });
}

#[test]
fn generic_pointers() {
    let x = edgy(73, 256);
    let values = |x: &[u32]| vec![Value::InOut(put(x)), Value::Out(256)];
    Case::new("spaces.cl", "any_space", 1, 64, values(&x)).check(|label, out| {
        let (after, got) = (get::<u32>(&out[0]), get::<u32>(&out[1]));
        for l in 0..64_u32 {
            let at = 4 * l as usize;
            let mut spaces = [
                x[at..at + 4].to_vec(),
                (0..4).map(|j| 100 * l + j).collect(),
                (0..4).map(|j| 1000 * l + j).collect(),
            ];
            let mut sum = 0_u32;
            for cell in &mut spaces[(l % 3) as usize] {
                sum = sum.wrapping_mul(7).wrapping_add(*cell);
                *cell = sum ^ l;
            }
            for j in 0..4 {
                let all = spaces
                    .iter()
                    .fold(0_u32, |all, space| all.wrapping_add(space[j]));
                sum = sum.wrapping_mul(3).wrapping_add(all);
            }
            assert_eq!(got[l as usize], sum, "{label} {l}");
            assert_eq!(after[at..at + 4], spaces[0], "{label} {l}");
        }
    });
    Case::new("spaces.cl", "kinds", 1, 64, values(&x)).check(|label, out| {
        assert_eq!(
            get::<u32>(&out[1]),
            (0..64).map(|l| l % 3).collect::<Vec<_>>(),
            "{label}"
        );
    });
    Case::new("spaces.cl", "widths", 1, 64, values(&x)).check(|label, out| {
        for (l, got) in get::<u32>(&out[1]).into_iter().enumerate() {
            let start = match l % 2 {
                1 => x[4 * l..4 * l + 4].to_vec(),
                _ => vec![l as u32; 4],
            };
            let mut bytes = put(&start);
            bytes[5] = (l + 3) as u8;
            bytes[8..10].copy_from_slice(&put(&[(l * 257) as u16]));
            let mut v = get::<u32>(&bytes);
            v.reverse();
            v[0] = v[0].wrapping_add(5);
            let bytes = put(&v);
            let half = i16::from_le_bytes([bytes[6], bytes[7]]);
            let expected = v[0]
                ^ v[1].wrapping_mul(3)
                ^ v[2].wrapping_mul(5)
                ^ v[3].wrapping_mul(7)
                ^ bytes[6] as i8 as u32
                ^ half as u32;
            assert_eq!(got, expected, "{label} {l}");
        }
    });
}

#[test]
fn control_flow() {
    let x = edgy(74, N / 2);
    let map = |kernel, more| {
        let mut values = vec![Value::In(put(&x)), Value::Out(4 * x.len())];
        values.extend::<Vec<Value>>(more);
        Case::new("control.ll", kernel, 1, 64, values)
    };
    check(&map("choose", vec![]), &x, |x, _| {
        let mut v = x;
        for step in 0..20 {
            v = match v % 7 {
                0 => return v ^ step,
                1 | 5 => v.wrapping_mul(3),
                2 => v << 5 | x >> 27,
                _ => v.wrapping_add(13),
            };
        }
        v ^ 20
    });
    for size in [1_i32, 9, 40] {
        check(&map("stack", vec![Value::I32(size)]), &x, |x, _| {
            let mut sum = 0_u32;
            for _ in 0..3 {
                for i in (0..size as u32).rev() {
                    sum = sum.wrapping_mul(3).wrapping_add(x.wrapping_mul(i));
                }
            }
            sum
        });
    }
    check(&map("irreducible", vec![]), &x, |x, _| {
        let (mut v, mut n, mut left) = (x, 0, x % 2 == 1);
        loop {
            v = if left {
                v.wrapping_add(5)
            } else {
                v.wrapping_mul(3)
            };
            n += 1;
            if n > if left { 9 } else { 7 } {
                return v;
            }
            left = !left;
        }
    });
    let wide: Vec<u64> = super::edgy64(75, 64);
    let values = vec![Value::In(put(&wide)), Value::Out(512)];
    Case::new("control.ll", "odd", 1, 64, values).check(|label, out| {
        for (got, v) in get::<u64>(&out[0]).into_iter().zip(&wide) {
            let five = ((v << 59) as i64 >> 59) as u64;
            let middle = v >> 5 & 0xff_ffff;
            let squared = (middle * middle) & 0xff_ffff;
            let top = ((v >> 29 << 31) as i64 >> 34) as u64;
            let parts = [100, -100, 0, 5000].into_iter().enumerate();
            let mask = parts.fold(0, |mask, (at, limit)| {
                mask | u64::from(((v >> (16 * at)) as i16) < limit) << at
            });
            let sum = five.wrapping_add(squared) ^ top;
            assert_eq!(got, sum.wrapping_mul(16) | mask, "{label} {v:#x}");
        }
    });
}
