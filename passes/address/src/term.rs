//! Terms: offsets as functions of thread, step and kernel arguments.

use crate::{
    AddressError,
    node::Node,
    program::{Instruction, Program},
    word::{Operator, Word},
};
use egg::{Id, Language, RecExpr};
use serde::{Deserialize, Serialize};
use std::fmt;
use tilefold_layout::{ComposedLayout, Layout, Outer, Swizzle};

/// How often a variable changes, and over what.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Differs between threads, the same in every step: the work-item id.
    Thread,
    /// The same for all threads, differs between steps: the step, the number of a buffer.
    Step,
    /// The same for all threads and steps: a kernel argument, the workgroup's id.
    Uniform,
}

/// A variable of terms. Two variables are the same where all fields are.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct Variable {
    /// Its name.
    pub name: Box<str>,
    /// What it changes with.
    pub kind: Kind,
    /// The smallest value it has.
    pub min: u32,
    /// The largest value it has.
    pub max: u32,
}

impl Variable {
    /// A variable with values from `min` to `max`, both included; in either order.
    pub fn new(name: &str, kind: Kind, min: u32, max: u32) -> Self {
        Self {
            name: name.into(),
            kind,
            min: min.min(max),
            max: min.max(max),
        }
    }

    /// The work-item id of a workgroup of `threads` threads.
    pub fn thread(threads: u32) -> Self {
        Self::new("thread", Kind::Thread, 0, threads.saturating_sub(1))
    }
}

/// An offset as a function of variables, in words of 32 bits.
///
/// ```
/// use tilefold_address::{Term, Variable};
/// let row = Term::variable(Variable::thread(32)) & 15;
/// let offset = (row * 64 + 8).swizzled("Sw<3,3,3>".parse()?);
/// assert_eq!(offset.to_string(), "((((thread & 15) * 64) + 8) ^ (((((thread & 15) * 64) + 8) & 448) >> 3))");
/// assert_eq!(offset.evaluate(|_| 3), 3 * 64 + (8 ^ (3 * 8)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Term {
    /// Nodes, operands before their users, each node once; the last is the term.
    nodes: Vec<Node>,
}

impl Term {
    /// A constant.
    pub fn constant(value: u32) -> Self {
        Self {
            nodes: vec![Node::Constant(value)],
        }
    }

    /// A variable.
    pub fn variable(variable: Variable) -> Self {
        Self {
            nodes: vec![Node::Variable(variable)],
        }
    }

    /// The operator on two terms.
    pub fn binary(operator: Operator, left: Self, right: Self) -> Self {
        let mut nodes = left.nodes;
        let left = Id::from(nodes.len() - 1);
        let mut places: Vec<Id> = Vec::with_capacity(right.nodes.len());
        for node in right.nodes {
            let node = node.map_children(|child| places[usize::from(child)]);
            places.push(insert(&mut nodes, node));
        }
        let right = places[places.len() - 1];
        let root = Node::Binary(operator, [left, right]);
        // The root comes last: an operand that already holds it cannot contain it.
        nodes.push(root);
        Self { nodes }
    }

    /// A layout's offset at the 1-D coordinate `index`: the sum over its modes of
    /// ((index / d) mod extent) * stride, d the product of the extents before. As in the algebra,
    /// the last mode runs on past its extent.
    ///
    /// # Errors
    /// [`AddressError::Layout`] where a stride is negative or leaves 32 bits.
    pub fn of_layout(layout: &Layout, index: &Self) -> Result<Self, AddressError> {
        let refused = || AddressError::Layout {
            layout: layout.to_string(),
        };
        let word = |value: i64| u32::try_from(value).map_err(|_| refused());
        let coalesced = layout.coalesce();
        let modes = coalesced.flat_modes();
        let mut divisor: i64 = 1;
        let mut sum: Option<Self> = None;
        for (position, (extent, stride)) in modes.iter().copied().enumerate() {
            let (own, is_last) = (word(divisor)?, position + 1 == modes.len());
            divisor = divisor.checked_mul(extent).ok_or_else(refused)?;
            if stride == 0 || extent == 1 {
                continue;
            }
            let mut part = index.clone();
            if own > 1 {
                part = part.of(Operator::Udiv, own);
            }
            if !is_last {
                part = part.of(Operator::Urem, word(extent)?);
            }
            if stride != 1 {
                part = part * word(stride)?;
            }
            sum = Some(match sum {
                Some(sum) => sum + part,
                None => part,
            });
        }
        Ok(sum.unwrap_or_else(|| Self::constant(0)))
    }

    /// The same of a composed layout: what comes last applied to offset and inner layout.
    ///
    /// # Errors
    /// As [`Term::of_layout`].
    pub fn of_composed(layout: &ComposedLayout, index: &Self) -> Result<Self, AddressError> {
        let refused = || AddressError::Layout {
            layout: layout.to_string(),
        };
        let offset = u32::try_from(layout.offset()).map_err(|_| refused())?;
        let inner = Self::of_layout(layout.inner(), index)? + offset;
        match layout.outer() {
            Outer::Swizzle(swizzle) => Ok(inner.swizzled(*swizzle)),
            Outer::Layout(outer) => Self::of_layout(outer, &inner),
        }
    }

    /// The swizzle of this term.
    pub fn swizzled(self, swizzle: Swizzle) -> Self {
        // Bits past the word are never set, so that a swizzle that reads them changes nothing.
        let source = (swizzle.source_mask() & i64::from(u32::MAX)) as u32;
        if swizzle.is_identity() || source == 0 {
            return self;
        }
        let shift = swizzle.shift().unsigned_abs();
        let operator = if swizzle.shift() >= 0 {
            Operator::Lshr
        } else {
            Operator::Shl
        };
        let moved = (self.clone() & source).of(operator, shift);
        self ^ moved
    }

    /// The operator on this term and a constant; the term itself where the constant is neutral.
    fn of(self, operator: Operator, constant: u32) -> Self {
        let neutral = match operator {
            Operator::Mul | Operator::Udiv => 1,
            Operator::And => u32::MAX,
            Operator::Add | Operator::Xor | Operator::Shl | Operator::Lshr => 0,
            // The remainder by 0 is 0.
            Operator::Urem => return Self::binary(operator, self, Self::constant(constant)),
        };
        if constant == neutral {
            self
        } else {
            Self::binary(operator, self, Self::constant(constant))
        }
    }

    /// The value where variables have those of `value`, in 32 bits.
    pub fn evaluate(&self, value: impl Fn(&Variable) -> u32) -> u32 {
        let mut values: Vec<u32> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            values.push(match node {
                Node::Constant(constant) => *constant,
                Node::Variable(variable) => value(variable),
                Node::Binary(operator, [left, right]) => Word::MACHINE.apply(
                    *operator,
                    values[usize::from(*left)],
                    values[usize::from(*right)],
                ),
            });
        }
        values[values.len() - 1]
    }

    /// Emits the term as it stands; its value.
    pub fn emit<V: Clone>(&self, mut emit: impl FnMut(Instruction<'_, V>) -> V) -> V {
        let program = Program::new([self]);
        let entry = program.entry(&mut emit);
        program.step(&entry, &mut emit).remove(0)
    }

    /// The variables, each once, in order.
    pub fn variables(&self) -> Vec<Variable> {
        let mut variables: Vec<Variable> = self
            .nodes
            .iter()
            .filter_map(|node| match node {
                Node::Variable(variable) => Some(variable.clone()),
                _ => None,
            })
            .collect();
        variables.sort();
        variables
    }

    /// Number of operations.
    pub fn operations(&self) -> usize {
        let binary = |node: &&Node| matches!(node, Node::Binary(..));
        self.nodes.iter().filter(binary).count()
    }

    pub(crate) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    pub(crate) fn expression(&self) -> RecExpr<Node> {
        self.nodes.clone().into()
    }

    /// A term from nodes that may repeat or be unused, operands before their users.
    pub(crate) fn from_nodes(source: &[Node]) -> Self {
        let mut nodes = Vec::with_capacity(source.len());
        let mut places: Vec<Option<Id>> = vec![None; source.len()];
        copy(source, source.len() - 1, &mut places, &mut nodes);
        Self { nodes }
    }
}

/// The place of a node among `nodes`, appended where it is new.
pub(crate) fn insert(nodes: &mut Vec<Node>, node: Node) -> Id {
    let place = nodes.iter().position(|other| *other == node);
    Id::from(place.unwrap_or_else(|| {
        nodes.push(node);
        nodes.len() - 1
    }))
}

/// Copies the part of `source` below `root`.
fn copy(source: &[Node], root: usize, places: &mut [Option<Id>], nodes: &mut Vec<Node>) -> Id {
    if let Some(place) = places[root] {
        return place;
    }
    let node = source[root].clone();
    let node = node.map_children(|child| copy(source, usize::from(child), places, nodes));
    let place = insert(nodes, node);
    places[root] = Some(place);
    place
}

macro_rules! operators {
    ($($trait:ident $method:ident $operator:ident)*) => {$(
        impl<T: Into<Term>> std::ops::$trait<T> for Term {
            type Output = Term;

            fn $method(self, right: T) -> Term {
                let right = right.into();
                match right.nodes[..] {
                    [Node::Constant(constant)] => self.of(Operator::$operator, constant),
                    _ => Term::binary(Operator::$operator, self, right),
                }
            }
        }
    )*};
}

operators! {
    Add add Add
    Mul mul Mul
    BitXor bitxor Xor
    BitAnd bitand And
    Div div Udiv
    Rem rem Urem
    Shl shl Shl
    Shr shr Lshr
}

impl From<u32> for Term {
    fn from(value: u32) -> Self {
        Self::constant(value)
    }
}

impl From<Variable> for Term {
    fn from(variable: Variable) -> Self {
        Self::variable(variable)
    }
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn write(nodes: &[Node], node: usize, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            match &nodes[node] {
                Node::Binary(operator, [left, right]) => {
                    f.write_str("(")?;
                    write(nodes, usize::from(*left), f)?;
                    write!(f, " {operator} ")?;
                    write(nodes, usize::from(*right), f)?;
                    f.write_str(")")
                }
                leaf => write!(f, "{leaf}"),
            }
        }
        write(&self.nodes, self.nodes.len() - 1, f)
    }
}

impl fmt::Debug for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
