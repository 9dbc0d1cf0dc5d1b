//! Atomic operations of a whole grid, whose results do not depend on the order.

use super::{Case, Value, edgy, edgy64, get, put};
use crate::Numbers;

const N: usize = 3 * 96;

#[test]
fn words_and_pairs_of_words() {
    let x = edgy(61, N);
    let start = [0, 0, u32::MAX, 0, 0, 0, u32::MAX, 0, 0, 7];
    let values = vec![Value::In(put(&x)), Value::InOut(put(&start))];
    let words = Case::new("atomics.cl", "words", 3, 96, values);
    words.check(|label, out| {
        let sum = x.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
        let signed = || x.iter().map(|&x| x as i32).chain([0]);
        let expected = [
            sum,
            sum.wrapping_neg(),
            x.iter().copied().min().unwrap(),
            x.iter().copied().max().unwrap(),
            signed().min().unwrap() as u32,
            signed().max().unwrap() as u32,
            x.iter().fold(u32::MAX, |bits, x| bits & (x | 0xf000_0000)),
            x.iter().fold(0, |bits, x| bits | x & 0x0f0f_0f0f),
            x.iter().fold(0, |bits, x| bits ^ x),
            sum.wrapping_add(7),
        ];
        assert_eq!(get::<u32>(&out[0]), expected, "{label}");
    });
    let x = edgy64(62, N);
    let start = [0, 0, u64::MAX, 0, 0, 0, u64::MAX, 0, 0, 7];
    let values = vec![Value::In(put(&x)), Value::InOut(put(&start))];
    let longs = Case::new("atomics.cl", "longs", 3, 96, values);
    longs.check(|label, out| {
        let sum = x.iter().fold(0_u64, |sum, x| sum.wrapping_add(*x));
        let signed = || x.iter().map(|&x| x as i64).chain([0]);
        let expected = [
            sum,
            sum.wrapping_neg(),
            x.iter().copied().min().unwrap(),
            x.iter().copied().max().unwrap(),
            signed().min().unwrap() as u64,
            signed().max().unwrap() as u64,
            x.iter().fold(u64::MAX, |bits, x| bits & (x | 0xf << 60)),
            x.iter().fold(0, |bits, x| bits | x & 0x0f0f_0f0f_0f0f_0f0f),
            x.iter().fold(0, |bits, x| bits ^ x),
            sum.wrapping_add(7),
        ];
        assert_eq!(get::<u64>(&out[0]), expected, "{label}");
    });
}

#[test]
fn tickets() {
    let values = vec![
        Value::InOut(put(&[0_u32])),
        Value::Out(4 * N),
        Value::InOut(put(&[0_u64])),
        Value::Out(4 * N + 4),
    ];
    let tickets = Case::new("atomics.cl", "tickets", 3, 96, values);
    tickets.check(|label, out| {
        assert_eq!(get::<u32>(&out[0]), [N as u32], "{label}");
        let mut taken = get::<u32>(&out[1]);
        taken.sort_unstable();
        assert_eq!(taken, (0..N as u32).collect::<Vec<_>>(), "{label}");
        assert_eq!(get::<u64>(&out[2]), [0x1_0000_0001 * N as u64], "{label}");
        let round = get::<u32>(&out[3]);
        assert!(
            round[0] < N as u32 && round[1..].iter().all(|&x| x == 1),
            "{label}"
        );
    });
}

#[test]
fn sums_of_reals() {
    let mut numbers = Numbers(63);
    let x: Vec<f32> = (0..N).map(|_| numbers.small() as f32).collect();
    let values = vec![Value::In(put(&x)), Value::InOut(put(&[0.0_f32; 5]))];
    let floats = Case::new("atomics.cl", "floats", 3, 96, values);
    floats.check(|label, out| {
        let part = |from: usize| x.iter().skip(from).step_by(4).sum::<f32>();
        let expected = [x.iter().sum(), part(0), part(1), part(2), part(3)];
        assert_eq!(get::<f32>(&out[0]), expected, "{label}");
    });
}

#[test]
fn sums_of_wide_reals() {
    let mut numbers = Numbers(65);
    let x: Vec<f32> = (0..N).map(|_| numbers.small() as f32).collect();
    let values = vec![
        Value::In(put(&x)),
        Value::InOut(put(&[0.0_f64; 8])),
        Value::Out(8 * N),
    ];
    let doubles = Case::new("atomics.cl", "doubles", 3, 96, values);
    doubles.check(|label, out| {
        let sum = |x: &mut dyn Iterator<Item = &f32>| x.map(|&x| f64::from(x)).sum::<f64>();
        let blocks = x.chunks(96).map(|x| sum(&mut x.iter()));
        let parts = (0..4).map(|from| sum(&mut x.iter().skip(from).step_by(4)));
        let expected = [2.0 * sum(&mut x.iter())]
            .into_iter()
            .chain(blocks)
            .chain(parts);
        assert_eq!(get::<f64>(&out[0]), expected.collect::<Vec<_>>(), "{label}");
        let own: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
        assert_eq!(get::<f64>(&out[1]), own, "{label}");
    });
}

#[test]
fn words_in_lds() {
    let x = edgy(64, N);
    let values = vec![Value::In(put(&x)), Value::Out(3 * 44), Value::Out(3 * 32)];
    Case::new("atomics.cl", "shared_words", 3, 96, values).check(|label, out| {
        let (words, wide) = (get::<u32>(&out[0]), get::<u64>(&out[1]));
        for (block, x) in x.chunks(96).enumerate() {
            let sum = x.iter().fold(0_u32, |sum, x| sum.wrapping_add(*x));
            let signed = || x.iter().map(|&x| x as i32).chain([0]);
            let real: f32 = x.iter().map(|x| (x & 15) as f32).sum();
            let expected = [
                sum,
                sum.wrapping_neg(),
                x.iter().copied().min().unwrap(),
                x.iter().copied().max().unwrap(),
                signed().min().unwrap() as u32,
                signed().max().unwrap() as u32,
                x.iter().fold(u32::MAX, |bits, x| bits & (x | 0xf000_0000)),
                x.iter().fold(0, |bits, x| bits | x & 0x0f0f_0f0f),
                x.iter().fold(0, |bits, x| bits ^ x),
                sum,
                real.to_bits(),
            ];
            assert_eq!(words[11 * block..][..11], expected, "{label}");
            let sum: u64 = x.iter().map(|&x| u64::from(x)).sum();
            let expected = [
                sum << 7,
                x.iter().map(|&x| u64::from(x) << 9).max().unwrap().max(1),
                x.iter().fold(2, |bits, &x| bits ^ u64::from(x) << 31),
                3 + sum,
            ];
            assert_eq!(wide[4 * block..][..4], expected, "{label}");
        }
    });
}
