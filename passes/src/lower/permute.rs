//! Bytes of registers in another order, by permutes of two registers.

use super::emit::Emit;
use melior::ir::Value;
use std::collections::{HashMap, HashSet};

/// Bytes of a register.
const WORD: usize = 4;

/// One `v_perm_b32`: four bytes of two registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Permute {
    /// Registers, numbered from those given on through what the steps before make.
    of: [usize; 2],
    /// Of each byte of the result, the least first, its place among the eight bytes of the two:
    /// 0 to 3 in the first, 4 to 7 in the second.
    places: [usize; WORD],
}

/// Two bytes of registers, by their numbers in all that are given.
type Half = [usize; 2];

/// How registers are made of the bytes of others: one permute for bytes of two registers, and
/// where they are of more, one for each half before, which serves another register's half too. To
/// transpose bytes takes two permutes a register, and to transpose 16-bit values one.
#[derive(Debug, PartialEq, Eq)]
struct Permutes {
    steps: Vec<Permute>,
    /// The registers wanted, numbered as those of the steps.
    registers: Vec<usize>,
}

impl Permutes {
    /// Byte `index` of the result is byte `bytes[index]` of the `given` registers; whole
    /// registers.
    fn new(bytes: &[usize], given: usize) -> Self {
        let mut permutes = Self {
            steps: Vec::new(),
            registers: Vec::new(),
        };
        // Halves of two registers that no single permute serves, by these two.
        let mut halves: HashMap<[usize; 2], Vec<Half>> = HashMap::new();
        for half in bytes
            .chunks(WORD)
            .filter(|word| registers_of(word).len() > 2)
            .flat_map(|word| word.chunks(2))
        {
            if let [first, second] = registers_of(half)[..] {
                let due = halves.entry([first, second]).or_default();
                let half = [half[0], half[1]];
                if !due.contains(&half) {
                    due.push(half);
                }
            }
        }
        let mut made: HashMap<Half, (usize, usize)> = HashMap::new();
        for word in bytes.chunks(WORD) {
            let register = match registers_of(word)[..] {
                [only] if word.iter().enumerate().all(|(at, byte)| byte % WORD == at) => only,
                [only] => permutes.push(given, [only; 2], word),
                [first, second] => permutes.push(given, [first, second], word),
                _ => {
                    let parts = [&word[..2], &word[2..]].map(|half| match registers_of(half)[..] {
                        [first, second] => {
                            let half = [half[0], half[1]];
                            let due = halves.entry([first, second]).or_default();
                            if !made.contains_key(&half) {
                                due.retain(|other| *other != half);
                                let other = due.pop().unwrap_or(half);
                                let both = [half, other].concat();
                                let register = permutes.push(given, [first, second], &both);
                                made.insert(other, (register, 2));
                                made.insert(half, (register, 0));
                            }
                            let (register, at) = made[&half];
                            (register, [at, at + 1])
                        }
                        _ => (half[0] / WORD, [half[0] % WORD, half[1] % WORD]),
                    });
                    let [(low, [a, b]), (high, [c, d])] = parts;
                    permutes.step(
                        given,
                        Permute {
                            of: [low, high],
                            places: [a, b, WORD + c, WORD + d],
                        },
                    )
                }
            };
            permutes.registers.push(register);
        }
        permutes
    }

    /// Adds the permute that takes `bytes` from two of the registers given.
    fn push(&mut self, given: usize, of: [usize; 2], bytes: &[usize]) -> usize {
        let place = |byte: usize| match byte / WORD {
            register if register == of[0] => byte % WORD,
            _ => WORD + byte % WORD,
        };
        let places = [0, 1, 2, 3].map(|at| place(bytes[at]));
        self.step(given, Permute { of, places })
    }

    fn step(&mut self, given: usize, step: Permute) -> usize {
        self.steps.push(step);
        given + self.steps.len() - 1
    }
}

/// The registers that bytes are of, each once, in their order.
fn registers_of(bytes: &[usize]) -> Vec<usize> {
    let mut known = HashSet::new();
    let registers = bytes.iter().map(|byte| byte / WORD);
    registers.filter(|it| known.insert(*it)).collect()
}

/// 32-bit values whose byte `index` is byte `bytes[index]` of `words`, all of 32 bits.
pub fn permute<'c>(
    emit: &Emit<'c>,
    words: &[Value<'c, 'c>],
    bytes: &[usize],
) -> Vec<Value<'c, 'c>> {
    let permutes = Permutes::new(bytes, words.len());
    let mut values = words.to_vec();
    for Permute { of, places } in permutes.steps {
        let selector = places.iter().rev().fold(0, |all, at| all << 8 | *at as i64);
        // The instruction counts bytes from those of its second operand on.
        let [first, second] = of.map(|index| values[index]);
        let operands = [second, first, emit.constant(32, selector)];
        values.push(emit.op(
            "llvm.call_intrinsic",
            &operands,
            emit.int(32),
            &[
                ("intrin", emit.text("llvm.amdgcn.perm")),
                ("op_bundle_sizes", emit.attribute("array<i32>")),
                ("operandSegmentSizes", emit.attribute("array<i32: 3, 0>")),
            ],
        ));
    }
    let registers = permutes.registers.into_iter();
    registers.map(|index| values[index]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes that the permutes make, each by its number among those given.
    fn carried(permutes: &Permutes, given: usize) -> Vec<usize> {
        let mut registers: Vec<[usize; WORD]> = (0..given)
            .map(|register| [0, 1, 2, 3].map(|at| WORD * register + at))
            .collect();
        for step in &permutes.steps {
            let both = step.of.map(|register| registers[register]).concat();
            registers.push(step.places.map(|place| both[place]));
        }
        let wanted = permutes.registers.iter();
        wanted.flat_map(|register| registers[*register]).collect()
    }

    /// Where the elements of `rows` rows of `columns` stand when they are taken by columns.
    fn transposed(rows: usize, columns: usize, element: usize) -> Vec<usize> {
        let elements = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
        elements
            .flat_map(|(row, column)| {
                let first = (row * columns + column) * element;
                first..first + element
            })
            .collect()
    }

    #[test]
    fn transposing_takes_two_permutes_for_bytes_and_one_for_halves() {
        for (rows, columns, element, each) in [
            (4, 4, 1, 2),
            (4, 16, 1, 2),
            (8, 16, 1, 2),
            (16, 16, 1, 2),
            (2, 16, 1, 1),
            (2, 8, 2, 1),
            (4, 8, 2, 1),
            (4, 4, 4, 0),
        ] {
            let bytes = transposed(rows, columns, element);
            let registers = bytes.len() / WORD;
            let permutes = Permutes::new(&bytes, registers);
            assert_eq!(carried(&permutes, registers), bytes);
            assert_eq!(permutes.steps.len(), each * registers, "{rows} x {columns}");
        }
    }

    #[test]
    fn any_order_of_bytes_is_made() {
        let mut state = 1_u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005);
            state = state.wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for given in 1..12 {
            for _ in 0..50 {
                let bytes: Vec<usize> = (0..WORD * (1 + next(8)))
                    .map(|_| next(WORD * given))
                    .collect();
                let permutes = Permutes::new(&bytes, given);
                assert_eq!(carried(&permutes, given), bytes);
                // No register takes more than one step for each half and one for both.
                assert!(permutes.steps.len() <= 3 * bytes.len() / WORD);
            }
        }
    }
}
