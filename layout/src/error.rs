//! The one error of the algebra: which operation, which mode, which rule, which operands.

use std::fmt;

/// A mode, as the path of indices that leads to it from the top: `0.1` is the second mode of the
/// first.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ModePath(pub Vec<usize>);

impl fmt::Display for ModePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, index) in self.0.iter().enumerate() {
            write!(f, "{}{index}", if i > 0 { "." } else { "" })?;
        }
        Ok(())
    }
}

/// An operation of the algebra that its operands do not admit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LayoutError {
    /// Name of the operation, as in the text notation.
    pub operation: &'static str,
    /// The mode of the operand at fault, where the rule is about a mode: of the right one where
    /// there are two, unless the rule is one of the left operand's strides or shape.
    pub mode: Option<ModePath>,
    /// The rule that does not hold.
    pub rule: Rule,
    /// The left (or only) operand, as text.
    pub left: Box<str>,
    /// The right operand, as text; empty where there is none.
    pub right: Box<str>,
}

impl std::error::Error for LayoutError {}

impl fmt::Display for LayoutError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}", self.operation, self.left)?;
        if !self.right.is_empty() {
            write!(f, ", {}", self.right)?;
        }
        f.write_str("): ")?;
        if let Some(mode) = &self.mode {
            write!(f, "mode {mode}: ")?;
        }
        write!(f, "{}", self.rule)
    }
}

/// What the operands of an operation must satisfy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Rule {
    /// Shape and stride must have the same tree.
    #[error("shape and stride must be congruent: {shape} and {stride} are not")]
    Congruence {
        /// The shape's part that disagrees.
        shape: Box<str>,
        /// The stride's part that disagrees.
        stride: Box<str>,
    },
    /// Extents must be positive.
    #[error("extents must be at least 1, this one is {extent}")]
    PositiveExtent {
        /// The extent found.
        extent: i64,
    },
    /// Tuples must hold something.
    #[error("a tuple must have at least one element")]
    EmptyTuple,
    /// Tuples nest to a limit.
    #[error("tuples may nest {limit} deep, these nest {depth} deep")]
    Depth {
        /// Depth found.
        depth: usize,
        /// [`MAX_DEPTH`](crate::MAX_DEPTH).
        limit: usize,
    },
    /// Every size and offset must fit in 64 bits.
    #[error("{what} does not fit in 64 bits")]
    Overflow {
        /// The quantity that overflows.
        what: &'static str,
    },
    /// Composition: a stride and the extent it walks over must divide one another.
    #[error(
        "stride divisibility: stride {stride} walks over extent {extent} of the left layout, and \
         neither divides the other"
    )]
    StrideDivisibility {
        /// Remaining stride of the right mode.
        stride: i64,
        /// Extent of the coalesced left layout's mode.
        extent: i64,
    },
    /// Composition: the extent taken from a mode must divide what remains.
    #[error("shape divisibility: {taken} elements fit, which does not divide the remaining {rest}")]
    ShapeDivisibility {
        /// Elements that fit in the left layout's mode.
        taken: i64,
        /// Extent of the right mode that remains.
        rest: i64,
    },
    /// Composition: modes of the right layout must not carry into one another.
    #[error(
        "the modes of the right layout together reach {reach} within extent {extent} of the left \
         layout's mode {left_mode}, so they carry into the next mode and no layout is the composition"
    )]
    Carry {
        /// Mode of the coalesced left layout.
        left_mode: usize,
        /// Largest coordinate reached.
        reach: i64,
        /// That mode's extent.
        extent: i64,
    },
    /// Complement: the layout must be injective.
    #[error(
        "the layout must be injective: stride {stride} lies within the {covered} offsets before it"
    )]
    Injective {
        /// The stride at fault.
        stride: i64,
        /// Offsets that the smaller strides cover.
        covered: i64,
    },
    /// Strides must not be negative here.
    #[error("stride {stride} is negative, which has no such result")]
    NonNegativeStride {
        /// The stride found.
        stride: i64,
    },
    /// Left inverse: sorted strides must divide one another.
    #[error("left inverse divisibility: stride {stride} is not a multiple of {covered}")]
    LeftInverseDivisibility {
        /// The stride at fault.
        stride: i64,
        /// The stride before it in sorted order.
        covered: i64,
    },
    /// No layout inverts this function.
    #[error("no layout is its inverse: {why}")]
    Invertible {
        /// What stands in the way.
        why: &'static str,
    },
    /// A tiler or profile must not have more modes than the layout.
    #[error("{found} modes given for a layout of rank {rank}")]
    TooManyModes {
        /// Modes given.
        found: usize,
        /// The layout's rank.
        rank: usize,
    },
    /// Ranks must agree.
    #[error("ranks must agree: expected {expected}, found {found}")]
    Rank {
        /// Rank needed.
        expected: usize,
        /// Rank found.
        found: usize,
    },
    /// A range of modes must hold some and lie in the layout.
    #[error("modes {begin}..{end} are none of the {rank} modes of the layout")]
    NoSuchModes {
        /// First mode of the range.
        begin: usize,
        /// First mode past it.
        end: usize,
        /// The layout's rank.
        rank: usize,
    },
    /// There must be such a mode.
    #[error("there is no mode {index} in a layout of rank {rank}")]
    NoSuchMode {
        /// Index asked for.
        index: usize,
        /// The layout's rank.
        rank: usize,
    },
    /// The layout's mode must be a pair (tile, rest) to be unzipped.
    #[error(
        "`_` leaves this mode whole, so there is nothing to zip; use a tile of 1 or the whole extent"
    )]
    NothingToZip,
    /// A size must divide another.
    #[error("{divisor} does not divide {value}")]
    Divisibility {
        /// What should be a multiple.
        value: i64,
        /// What should divide it.
        divisor: i64,
    },
    /// A swizzle's fields must be in range.
    #[error("a swizzle needs bits, base >= 0, |shift| >= bits and at most 62 bits in all")]
    SwizzleFields,
    /// The swizzle does not survive this operation as a swizzle.
    #[error("the swizzle does not stay a swizzle: {why}")]
    Swizzle {
        /// What stands in the way.
        why: &'static str,
    },
    /// Factors and counts must be positive.
    #[error("the factor must be at least 1, it is {factor}")]
    PositiveFactor {
        /// The factor found.
        factor: i64,
    },
    /// Downcast needs adjacent elements.
    #[error("exactly one mode must have stride 1, and none -1, for elements to be adjacent")]
    AdjacentElements,
    /// A coordinate must lie within the shape.
    #[error("coordinate {coordinate} lies outside extent {extent}")]
    OutOfRange {
        /// Coordinate given.
        coordinate: i64,
        /// Extent it indexes.
        extent: i64,
    },
    /// What is drawn or listed must stay small enough to read.
    #[error("{cells} are too many, the limit is {limit}")]
    TooLarge {
        /// How many there are.
        cells: i64,
        /// How many there may be.
        limit: i64,
    },
    /// The result depends on a name's value.
    #[error("{extent} would have to be a number: {why}")]
    NeedsStatic {
        /// The symbolic extent.
        extent: Box<str>,
        /// What depends on it.
        why: &'static str,
    },
    /// The result depends on a name's divisibility.
    #[error("{extent} would have to be known as a multiple of {divisor}")]
    NeedsMultiple {
        /// The symbolic extent.
        extent: Box<str>,
        /// What should divide it.
        divisor: i64,
    },
    /// A name takes only values of its range and divisibility.
    #[error("{symbol} cannot be {value}")]
    SymbolValue {
        /// The name.
        symbol: Box<str>,
        /// The value given.
        value: i64,
    },
    /// What is known of a name must leave it a value.
    #[error(
        "no number from {min}{} is {}",
        max.map_or(String::new(), |max| format!(" to {max}")),
        if *multiple == 0 {
            "so large a multiple".to_string()
        } else {
            format!("a multiple of {multiple}")
        }
    )]
    SymbolRange {
        /// What it must be a multiple of; 0 where that is past 64 bits.
        multiple: i64,
        /// Least value.
        min: i64,
        /// Greatest value, if there is one.
        max: Option<i64>,
    },
    /// Names must read as such in text.
    #[error("a name is a letter and then letters, digits and `_`")]
    SymbolName,
    /// An operation that works with numbers alone was given a name.
    #[error("this operation takes no symbolic extents, and this one is {extent}")]
    Unsupported {
        /// The symbolic extent.
        extent: Box<str>,
    },
    /// Order of modes for compact strides must match the shape.
    #[error("the order must have the shape's profile")]
    OrderProfile,
    /// Two maps that should agree do not.
    #[error("{why}")]
    Mismatch {
        /// What disagrees.
        why: &'static str,
    },
}

/// A broken rule and where, before it is known which operation on which operands broke it.
#[derive(Debug)]
pub(crate) struct Fault {
    /// Indices that lead to the mode, innermost first.
    path: Vec<usize>,
    rule: Rule,
}

impl From<Rule> for Fault {
    fn from(rule: Rule) -> Fault {
        Fault { path: vec![], rule }
    }
}

impl From<LayoutError> for Fault {
    fn from(error: LayoutError) -> Fault {
        let mut path = error.mode.unwrap_or_default().0;
        path.reverse();
        let rule = error.rule;
        Fault { path, rule }
    }
}

impl Fault {
    /// The rule broken in the mode that this path leads to, outermost index first.
    pub(crate) fn at(rule: Rule, mut path: Vec<usize>) -> Fault {
        path.reverse();
        Fault { path, rule }
    }

    /// The same fault seen from outside of mode `index`.
    pub(crate) fn within(mut self, index: usize) -> Fault {
        self.path.push(index);
        self
    }

    /// The rule broken.
    pub(crate) fn rule(&self) -> &Rule {
        &self.rule
    }

    /// The same fault seen from within mode `index`; of no mode where it lies in another.
    pub(crate) fn inside(mut self, index: usize) -> Fault {
        match self.path.pop() {
            Some(outermost) if outermost == index => self,
            _ => self.anywhere(),
        }
    }

    /// The same rule broken in no mode of an operand.
    pub(crate) fn anywhere(self) -> Fault {
        self.rule.into()
    }

    /// Whether it is a tree that nests too deep to print.
    pub(crate) fn is_depth(&self) -> bool {
        matches!(self.rule, Rule::Depth { .. })
    }

    /// The fault of an operation on two operands.
    pub(crate) fn of(
        mut self,
        operation: &'static str,
        left: &impl fmt::Display,
        right: &impl fmt::Display,
    ) -> LayoutError {
        self.path.reverse();
        let mode = (!self.path.is_empty()).then_some(ModePath(self.path));
        LayoutError {
            mode,
            ..LayoutError::binary(operation, left, right, self.rule)
        }
    }

    /// The fault of an operation on one operand.
    pub(crate) fn of_one(self, operation: &'static str, left: &impl fmt::Display) -> LayoutError {
        self.of(operation, left, &"")
    }
}

/// `Result` with [`LayoutError`].
pub type Result<T, E = LayoutError> = std::result::Result<T, E>;

impl LayoutError {
    pub(crate) fn unary(operation: &'static str, left: &impl fmt::Display, rule: Rule) -> Self {
        LayoutError {
            operation,
            mode: None,
            rule,
            left: left.to_string().into(),
            right: Box::default(),
        }
    }

    pub(crate) fn binary(
        operation: &'static str,
        left: &impl fmt::Display,
        right: &impl fmt::Display,
        rule: Rule,
    ) -> Self {
        let (left, right) = (left.to_string().into(), right.to_string().into());
        LayoutError {
            operation,
            mode: None,
            rule,
            left,
            right,
        }
    }

    /// The same failure as one of a whole operation, with its operands.
    pub(crate) fn shown(
        self,
        operation: &'static str,
        left: &impl fmt::Display,
        right: &impl fmt::Display,
    ) -> Self {
        let whole = LayoutError::binary(operation, left, right, self.rule);
        LayoutError {
            mode: self.mode,
            ..whole
        }
    }

    /// The mode at fault; the whole operand for an empty path.
    pub(crate) fn at(mut self, mode: impl Into<Vec<usize>>) -> Self {
        let mode = mode.into();
        self.mode = (!mode.is_empty()).then_some(ModePath(mode));
        self
    }
}
