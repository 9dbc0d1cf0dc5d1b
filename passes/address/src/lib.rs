//! # Addresses as terms
//!
//! The offset of every access is a [`Term`] over the work-item id, the step of the loop, the number
//! of a buffer and the kernel's arguments. [`place`] splits the offsets of a group of accesses, all
//! those of one operand, into what instructions have room for: a vector register, a scalar operand
//! and an immediate. What depends on the thread alone is computed once, before the loop, and shared
//! by as many accesses as can share it; what is the same for all threads is scalar; constants are
//! immediates as far as these reach.
//!
//! ```
//! use tilefold_address::{Instruction, Limits, Operator, Space, Term, Variable, place};
//! use tilefold_layout::Layout;
//!
//! // 32 lanes read a tile of 64 rows of 64 elements of two bytes: 16 rows, and halves 8 elements
//! // apart. The tile is swizzled, so that a column does not lie in one bank.
//! let lanes: Layout = "(16,2):(64,8)".parse()?;
//! let values: Layout = "(4,4):(1024,16)".parse()?;
//! let swizzle = "Sw<3,3,3>".parse()?;
//! let lane = Term::variable(Variable::thread(32));
//! let base = Term::of_layout(&lanes, &lane)?;
//! let offsets: Vec<Term> = values
//!     .offsets()
//!     .map(|value| (base.clone() + value as u32).swizzled(swizzle) * 2)
//!     .collect();
//!
//! // Sixteen accesses share four registers: sixteen rows further down is an immediate.
//! let placement = place(&offsets, &Space::lds(), &Limits::default())?;
//! assert_eq!((placement.accesses().len(), placement.registers().len()), (16, 4));
//! assert_eq!(placement.accesses()[3].immediate, 6144);
//!
//! // Emission is by a closure: here into text, in a compiler into operations.
//! let mut code = Vec::new();
//! let entry = placement.entry(|instruction: Instruction<'_, String>| match instruction {
//!     Instruction::Constant(value) => value.to_string(),
//!     Instruction::Variable(variable) => variable.name.to_string(),
//!     Instruction::Binary(operator, left, right) => {
//!         let name = format!("v{}", code.len());
//!         code.push(format!("{name} = {left} {operator} {right}"));
//!         name
//!     }
//! });
//! // Once in each step: nothing here, as nothing depends on it.
//! let operands = placement.step(&entry, |_| unreachable!());
//! assert_eq!(code.len(), 10, "{code:#?}");
//! let access = placement.accesses()[3];
//! let text = format!("ds_load_b128 {} offset:{}", operands.registers[access.register], access.immediate);
//! assert!(text.ends_with("offset:6144"), "{text}");
//!
//! // Why that is the same: a chain of rules, which checks itself.
//! let chain = placement.explain(3)?;
//! chain.check(&Limits::default())?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # How
//!
//! 1. The offsets are evaluated for all threads. Accesses that differ by one constant everywhere
//!    are one offset and constants ([`Limits::evaluated`]). Where symbols have too many values to
//!    try, this step is left out.
//! 2. An e-graph takes in the offsets, with what is known of every class as its analysis: bits,
//!    range, and what it depends on. The [rules](Family) move constants and uniform parts outward,
//!    through swizzles, shifts and products.
//! 3. Each offset's class now has its ways to be base + scalar + constant. What registers cost is
//!    no sum over accesses; so the fewest registers are found as a minimal cover: a register is a
//!    base plus a constant, and serves all accesses within an immediate of it.
//! 4. The terms of the registers are made cheaper by the remaining rules, together: what they share
//!    counts once.
//! 5. The result is evaluated for all threads and compared. Should it ever differ, every offset
//!    gets a register of its own, and [`Placement::origin`] says so.
//!
//! Offsets are words of 32 bits that wrap; offsets that do wrap are refused, since the machine adds
//! the parts of an address in more bits.

mod cover;
mod error;
mod explain;
mod extract;
mod facts;
mod node;
mod place;
mod program;
mod rules;
mod search;
mod space;
mod term;
mod word;

pub use error::AddressError;
pub use explain::{Chain, ChainError, Step};
pub use place::{Access, Entry, Operands, Origin, Placement, place};
pub use program::{Cost, Instruction};
pub use rules::{Family, Rule};
pub use space::{Costs, Limits, ScalarOperand, Space};
pub use term::{Kind, Term, Variable};
pub use word::Operator;
