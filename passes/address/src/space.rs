//! What instructions can add for nothing, what the rest costs, and how long to search.

use crate::{facts::Depends, rules::Family, term::Kind, word::Operator};
use serde::{Deserialize, Serialize};

/// What the scalar operand of an instruction may hold.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ScalarOperand {
    /// There is none: LDS instructions.
    #[default]
    None,
    /// What differs between steps alone. Uniform multiples of a line stay in the vector register,
    /// for range checks that see nothing else.
    Step,
    /// All that is the same for all threads.
    Uniform,
}

/// Weights of what a placement uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// A vector register that is held over the loop.
    pub register: u32,
    /// A vector operation in the loop.
    pub loop_vector: u32,
    /// A scalar operation in the loop.
    pub loop_scalar: u32,
    /// A vector operation before the loop.
    pub entry_vector: u32,
    /// A scalar operation before the loop.
    pub entry_scalar: u32,
}

impl Default for Costs {
    /// A vector operation in the loop takes an issue slot in every step, a scalar one goes beside
    /// it; a register lowers occupancy; what is done once hardly matters but decides ties.
    fn default() -> Self {
        Self {
            register: 1 << 10,
            loop_vector: 1 << 12,
            loop_scalar: 1 << 6,
            entry_vector: 2,
            entry_scalar: 1,
        }
    }
}

impl Costs {
    /// Cost of an operation on what depends on `depends`. A 32-bit product counts as four (it
    /// issues at a quarter of the rate), a quotient as thirty-two (it is a sequence of them).
    pub(crate) fn operation(&self, operator: Operator, depends: Depends) -> u64 {
        let each = match (depends.has(Kind::Step), depends.has(Kind::Thread)) {
            (true, true) => self.loop_vector,
            (true, false) => self.loop_scalar,
            (false, true) => self.entry_vector,
            (false, false) => self.entry_scalar,
        };
        let times = match operator {
            Operator::Mul => 4,
            Operator::Udiv | Operator::Urem => 32,
            _ => 1,
        };
        u64::from(each) * times
    }
}

/// The address operands of the instructions that access one operand.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Space {
    /// Number of bits of the unsigned immediate that is added to the address; at most 31.
    pub immediate_bits: u32,
    /// The scalar operand, also added.
    pub scalar: ScalarOperand,
    /// What the rest costs.
    pub costs: Costs,
}

impl Space {
    /// LDS: `offset` has 16 bits (RDNA 3 and RDNA 4 ISA guides, "DS instruction format").
    pub fn lds() -> Self {
        Self::new(16, ScalarOperand::None)
    }

    /// Buffers, whose instructions have an immediate of `immediate_bits` bits: 12 on RDNA 3, 23 on
    /// RDNA 4 (of the 24 the sign must be clear).
    pub fn buffer(immediate_bits: u32, scalar: ScalarOperand) -> Self {
        Self::new(immediate_bits, scalar)
    }

    fn new(immediate_bits: u32, scalar: ScalarOperand) -> Self {
        Self {
            immediate_bits,
            scalar,
            costs: Costs::default(),
        }
    }

    /// The number of values of the immediate.
    pub(crate) fn window(&self) -> i64 {
        1 << self.immediate_bits.min(31)
    }
}

/// Bounds of the search. No time is among them: the same question has the same answer.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Limits {
    /// Rounds of rewriting.
    pub iterations: usize,
    /// Nodes of the e-graph.
    pub nodes: usize,
    /// Choices tried for the registers that the group shares.
    pub choices: usize,
    /// Values of the thread's variables that are verified, at most.
    pub threads: usize,
    /// Rules to use.
    pub families: Vec<Family>,
    /// Whether accesses that differ by a constant for all values of all variables are taken as one,
    /// with the constant that evaluation shows. The rules find the same for nearly all layouts, in
    /// more time; where there are more values than are tried, they do so in any case.
    pub evaluated: bool,
}

impl Default for Limits {
    /// All rules; a workgroup's 1024 threads; room for some hundred accesses.
    fn default() -> Self {
        Self {
            iterations: 16,
            nodes: 10_000,
            choices: 10_000,
            threads: 4096,
            families: Family::ALL.to_vec(),
            evaluated: true,
        }
    }
}
