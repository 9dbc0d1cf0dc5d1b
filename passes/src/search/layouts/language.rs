//! The language of the search: placements of a tile in LDS, copies of it by a workgroup, and the
//! choices among them.
//!
//! What it means that two terms are equal depends on their sort:
//!
//! | sort | terms | two are equal where |
//! |---|---|---|
//! | placement | `rows`, `cols`, `(tiled r b)`, `(pad n)`, `(sw B M S P)` | they are one function from the tile's elements to offsets |
//! | copy | `(along n)`, `(across n)`, `(split-along n f)`, `(split-across n f)`, `(raked c C)`, `(turned f C)` | they are one function from (thread, value) to the tile's elements, both as loaded and as stored |
//! | memory | `(hold P)` | reading an element gives what was written for it: P gives every element a place of its own, within the bytes there are |
//! | carriage | `(carry C)` | the workgroup moves every element of the tile exactly once |
//! | use | `(lds memory carriage)` | fragments hold what the matrix held |
//!
//! A padded placement is thus not equal to a plain one, but the two memories are: whatever is
//! written and read back is the same. Choices are classes of memories and of carriages, and a
//! use, being a function of the two alone, has every member by congruence.
//!
//! The terms mean, for a tile of R rows and K columns:
//! - `rows`: `(R,K):(K,1)`, `cols`: `(R,K):(1,R)`;
//! - `(tiled r b)`: runs of b elements of a row, r rows of them after one another, then the next
//!   runs of these rows, then the next rows: `((r,R/r),(b,K/b)):((b,r*K),(1,r*b))`;
//! - `(pad n)`: rows with n unused elements after each, `(R,K):(K+n,1)`;
//! - `(sw B M S P)`: `Sw<B,M,S>` of the offsets of P;
//! - `(along n)`: n threads side by side on a line of memory, consecutive threads moving on along
//!   it first, each with as many neighbours as one load moves; the other threads across, and all
//!   of it repeated until the tile is full; `(across n)`: consecutive threads go across first;
//! - `(split-along n f)`: f threads along, then all across, then the rest along;
//!   `(split-across n f)`: f threads across, then all along, then the rest across;
//! - `(raked c C)`: as C, but each thread has c neighbouring lines at once;
//! - `(turned f C)`: loaded as C, but stored in another order: f neighbours of each of a thread's
//!   neighbouring lines, then the next f.

use egg::{ENodeOrVar, Id, PatternAst, Var, define_language};
use std::sync::LazyLock;

define_language! {
    /// A node of a term; the variants are named as the table above writes them.
    #[allow(missing_docs, reason = "the macro makes the variants, which the table names")]
    pub enum Term {
        "lds" = Lds([Id; 2]),
        "hold" = Hold(Id),
        "carry" = Carry(Id),
        "rows" = Rows,
        "cols" = Cols,
        "tiled" = Tiled([Id; 2]),
        "pad" = Pad(Id),
        "sw" = Swizzle([Id; 4]),
        "along" = Along(Id),
        "across" = Across(Id),
        "split-along" = SplitAlong([Id; 2]),
        "split-across" = SplitAcross([Id; 2]),
        "raked" = Raked([Id; 2]),
        "turned" = Turned([Id; 2]),
        Number(i64),
    }
}

/// Builds patterns node by node.
#[derive(Default)]
pub(super) struct Build(pub PatternAst<Term>);

impl Build {
    pub fn number(&mut self, value: i64) -> Id {
        self.0.add(ENodeOrVar::ENode(Term::Number(value)))
    }

    pub fn numbers<const N: usize>(&mut self, values: [i64; N]) -> [Id; N] {
        values.map(|value| self.number(value))
    }

    pub fn var(&mut self, name: &'static str) -> Id {
        self.0.add(ENodeOrVar::Var(variable(name)))
    }

    pub fn node(&mut self, node: Term) -> Id {
        self.0.add(ENodeOrVar::ENode(node))
    }

    pub fn swizzle(&mut self, [bits, base, shift]: [i64; 3], of: Id) -> Id {
        let [bits, base, shift] = self.numbers([bits, base, shift]);
        self.node(Term::Swizzle([bits, base, shift, of]))
    }

    /// The pattern, whose root is the node added last.
    pub fn done(self) -> PatternAst<Term> {
        self.0
    }
}

/// The variables of rules, each a question mark and a letter.
static VARIABLES: LazyLock<Vec<Var>> = LazyLock::new(|| {
    let names = ('a'..='z').map(|letter| format!("?{letter}"));
    let variables = names.map(|name| name.parse().expect("a name of a variable begins with ?"));
    variables.collect()
});

/// A variable by its name, which is not parsed each time.
pub(super) fn variable(name: &str) -> Var {
    let letter = name.as_bytes().get(1).copied().unwrap_or(b'?');
    let known = VARIABLES.get(usize::from(letter.wrapping_sub(b'a')));
    *known.expect("variables of rules are a question mark and a letter")
}
