//! Placement of a group of accesses: which registers they share, and what each adds.

use crate::{
    AddressError,
    cover::{Candidate, candidates, cover},
    explain::{self, Chain},
    extract::together,
    node::Node,
    program::{Assignments, Cost, Instruction, Program},
    rules::Family,
    search::{Split, Weigh, saturate, splits},
    space::{Limits, ScalarOperand, Space},
    term::Term,
    word::Operator,
};
use egg::{Extractor, Id};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, HashMap};

/// Where an access finds its offset: register + scalar + immediate.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
pub struct Access {
    /// Index of the register.
    pub register: usize,
    /// Index of the scalar operand's term, where there is one.
    pub scalar: Option<usize>,
    /// The immediate.
    pub immediate: u32,
}

/// How a placement came about.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// By the rules.
    Rules,
    /// One register per distinct offset: the group was too large for the limits.
    Limits,
    /// The same, as what the rules gave was not what was asked for: a fault of a rule.
    Fault,
}

/// A verified placement of a group of accesses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    accesses: Vec<Access>,
    registers: Vec<Term>,
    scalars: Vec<Term>,
    offsets: Vec<Term>,
    program: Program,
    cost: Cost,
    origin: Origin,
    minimum: usize,
    limits: Limits,
}

/// The operands of a group's instructions in one step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operands<V> {
    /// Values of the registers.
    pub registers: Vec<V>,
    /// Values of the scalar operands.
    pub scalars: Vec<V>,
}

/// Values that were computed before the loop.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry<V>(Vec<Option<V>>);

/// Places the accesses of one operand, whose `offsets` are in bytes from one base.
///
/// The placement is verified: register + scalar + immediate are the offset for every value of the
/// variables that differ between threads, with every value of the others where those are few,
/// and with their least, largest and some other values where not.
///
/// ```
/// use tilefold_address::{Limits, Space, Term, Variable, place};
/// // Rows of 64 elements of two bytes, swizzled; lanes are rows, four accesses along the row.
/// let row = Term::variable(Variable::thread(16)) * 64;
/// let swizzle = "Sw<3,3,3>".parse()?;
/// let offsets: Vec<Term> = (0..4)
///     .map(|access| (row.clone() + 16 * access).swizzled(swizzle) * 2)
///     .collect();
/// let placement = place(&offsets, &Space::lds(), &Limits::default())?;
/// // The four differ in bits that every lane's row flips: no two share a register.
/// assert_eq!(placement.registers().len(), 4);
/// // Sixteen rows further down, the same bits are flipped: an immediate.
/// let offsets: Vec<Term> = (0..4)
///     .map(|access| (row.clone() + 16 * 64 * access).swizzled(swizzle) * 2)
///     .collect();
/// let placement = place(&offsets, &Space::lds(), &Limits::default())?;
/// let immediates: Vec<u32> = placement.accesses().iter().map(|it| it.immediate).collect();
/// assert_eq!((placement.registers().len(), immediates), (1, vec![0, 2048, 4096, 6144]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`AddressError::Threads`] where the variables that differ between threads have more values than
/// are verified; [`AddressError::Wraps`] where an offset leaves 32 bits.
pub fn place(offsets: &[Term], space: &Space, limits: &Limits) -> Result<Placement, AddressError> {
    let variables = offsets.iter().flat_map(Term::variables).collect();
    let assignments = Assignments::new(variables, limits.threads).map_err(|threads| {
        let limit = limits.threads;
        AddressError::Threads { threads, limit }
    })?;
    let wanted = Program::new(offsets).evaluate(&assignments, false);
    for (access, values) in wanted.iter().enumerate() {
        if let Some(index) = values.iter().position(|value| *value > u64::from(u32::MAX)) {
            let assignment = assignments.text(index);
            return Err(AddressError::Wraps { access, assignment });
        }
    }
    let minimum = minimum(&wanted, &assignments, space);
    let size: usize = offsets.iter().map(|term| term.nodes().len()).sum();
    let mut origin = Origin::Limits;
    if size <= limits.nodes {
        let shapes = if limits.evaluated && assignments.complete {
            shapes(&wanted, assignments.values.len())
        } else {
            let alone = |access| Shape {
                least: access,
                accesses: vec![(access, 0)],
            };
            (0..offsets.len()).map(alone).collect()
        };
        let found = search(offsets, &shapes, space, limits);
        let placement = found.finish(offsets, space, limits, Origin::Rules, minimum);
        if placement.is(&wanted, &assignments) {
            return Ok(placement);
        }
        origin = Origin::Fault;
    }
    Ok(apart(offsets).finish(offsets, space, limits, origin, minimum))
}

/// What is to become a placement.
struct Draft {
    accesses: Vec<Access>,
    registers: Vec<Term>,
    scalars: Vec<Term>,
}

impl Draft {
    /// Writes the terms in the cheapest way that all rules give.
    fn cheapen(&mut self, space: &Space, limits: &Limits) {
        let terms: Vec<Term> = self
            .registers
            .iter()
            .chain(&self.scalars)
            .cloned()
            .collect();
        // What is saved here is done once: a part of the effort is enough.
        let limits = Limits {
            nodes: limits.nodes / 5,
            ..limits.clone()
        };
        let (egraph, classes) = saturate(&terms, &limits.families, &limits, false);
        let cheaper = together(&egraph, space.costs, &classes, self.registers.len());
        // Within its limits the e-graph may miss what was there before.
        let total = |terms: &[Term]| {
            let program = Program::new(terms);
            program.cost(self.registers.len(), &space.costs).total
        };
        if total(&cheaper) < total(&terms) {
            let mut registers = cheaper;
            self.scalars = registers.split_off(self.registers.len());
            self.registers = registers;
        }
    }

    fn finish(
        self,
        offsets: &[Term],
        space: &Space,
        limits: &Limits,
        origin: Origin,
        minimum: usize,
    ) -> Placement {
        let program = Program::new(self.registers.iter().chain(&self.scalars));
        Placement {
            cost: program.cost(self.registers.len(), &space.costs),
            accesses: self.accesses,
            registers: self.registers,
            scalars: self.scalars,
            offsets: offsets.to_vec(),
            program,
            origin,
            minimum,
            limits: limits.clone(),
        }
    }
}

/// Every distinct offset in a register of its own: always right.
fn apart(offsets: &[Term]) -> Draft {
    let mut places: HashMap<&Term, usize> = HashMap::new();
    let mut registers = Vec::new();
    let mut accesses = Vec::new();
    for term in offsets {
        let register = *places.entry(term).or_insert_with(|| {
            registers.push(term.clone());
            registers.len() - 1
        });
        accesses.push(Access {
            register,
            scalar: None,
            immediate: 0,
        });
    }
    Draft {
        accesses,
        registers,
        scalars: Vec::new(),
    }
}

/// The cheapest placement that the rules give. Each of `shapes` is one offset and the accesses
/// that are it plus a constant.
fn search(offsets: &[Term], shapes: &[Shape], space: &Space, limits: &Limits) -> Draft {
    let mut terms: Vec<Term> = shapes
        .iter()
        .map(|shape| offsets[shape.least].clone())
        .collect();
    terms.push(Term::constant(0));
    let sharing = limits.families.iter().copied();
    let sharing: Vec<Family> = sharing.filter(|family| family.shares()).collect();
    let (egraph, mut classes) = saturate(&terms, &sharing, limits, false);
    let zero = classes.pop().unwrap_or_default();
    let weigh = Weigh {
        egraph: &egraph,
        costs: space.costs,
    };
    let extractor = Extractor::new(&egraph, weigh);

    // By base: the accesses that are the base plus a scalar plus a constant.
    let mut ways: Vec<Vec<Split>> = vec![Vec::new(); offsets.len()];
    for (shape, class) in shapes.iter().zip(&classes) {
        let splits = splits(&egraph, *class, zero, space.scalar);
        for (access, more) in &shape.accesses {
            let moved = |split: &Split| {
                let constant = i64::from(split.constant) + more;
                let constant = i32::try_from(constant).ok()?;
                Some(Split { constant, ..*split })
            };
            ways[*access] = splits.iter().filter_map(moved).collect();
        }
    }
    let mut bases: BTreeMap<Id, Vec<(usize, i64)>> = BTreeMap::new();
    for (access, ways) in ways.iter().enumerate() {
        for way in ways {
            bases
                .entry(way.base)
                .or_default()
                .push((access, i64::from(way.constant)));
        }
    }
    let register = |base: Id, start: i64| {
        let start = start as u32;
        // The sum may be known under another, cheaper form.
        let sum = egraph
            .lookup(Node::Constant(start))
            .and_then(|start| egraph.lookup(Node::Binary(Operator::Add, [base, start])));
        let best = |class: Id| Term::from_nodes(extractor.find_best(class).1.as_ref());
        sum.map_or_else(|| best(base) + start, best)
    };
    let mut possible: Vec<Candidate<Id>> = Vec::new();
    for (base, constants) in &bases {
        let cost = extractor.find_best_cost(*base);
        let cost = cost.saturating_add(space.costs.register.into());
        possible.extend(candidates(*base, cost, constants, space.window()));
    }
    let chosen = cover(&possible, offsets.len(), limits.choices);

    let mut draft = Draft {
        accesses: Vec::new(),
        registers: Vec::new(),
        scalars: Vec::new(),
    };
    let mut scalars: HashMap<Id, usize> = HashMap::new();
    for index in &chosen {
        let Candidate { base, start, .. } = possible[*index];
        draft.registers.push(register(base, start));
    }
    for (access, ways) in ways.iter().enumerate() {
        let serves = |place: &usize| possible[chosen[*place]].serves.contains(&access);
        let place = (0..chosen.len()).find(serves).unwrap_or_default();
        let Candidate { base, start, .. } = possible[chosen[place]];
        let reach = start..start + space.window();
        let way = ways
            .iter()
            .filter(|way| way.base == base && reach.contains(&i64::from(way.constant)))
            .min_by_key(|way| way.scalar.map(|scalar| extractor.find_best_cost(scalar)));
        let Some(way) = way else {
            continue;
        };
        let scalar = way.scalar.map(|scalar| {
            *scalars.entry(scalar).or_insert_with(|| {
                let (_, term) = extractor.find_best(scalar);
                draft.scalars.push(Term::from_nodes(term.as_ref()));
                draft.scalars.len() - 1
            })
        });
        draft.accesses.push(Access {
            register: place,
            scalar,
            immediate: (i64::from(way.constant) - start) as u32,
        });
    }
    draft.cheapen(space, limits);
    draft
}

/// Accesses whose offsets differ by constants.
struct Shape {
    /// The access with the least offset.
    least: usize,
    /// All of them, with what each adds to it.
    accesses: Vec<(usize, i64)>,
}

/// The accesses by shape: those of one shape differ by the same for all assignments, or, where
/// `period` is less than all assignments, by the same for each `period` of them.
fn shapes(wanted: &[Vec<u64>], period: usize) -> Vec<Shape> {
    let mut places: HashMap<Vec<i64>, usize> = HashMap::new();
    let mut shapes: Vec<Vec<usize>> = Vec::new();
    for (access, values) in wanted.iter().enumerate() {
        let offsets = values.iter().enumerate();
        let shape =
            offsets.map(|(index, value)| *value as i64 - values[index - index % period] as i64);
        let place = *places.entry(shape.collect()).or_insert_with(|| {
            shapes.push(Vec::new());
            shapes.len() - 1
        });
        shapes[place].push(access);
    }
    let first = |access: usize| wanted[access][0] as i64;
    let sorted = shapes.into_iter().map(|accesses| {
        let least = accesses.iter().copied().min_by_key(|access| first(*access));
        let least = least.unwrap_or_default();
        let from_least = |access: usize| (access, first(access) - first(least));
        Shape {
            least,
            accesses: accesses.into_iter().map(from_least).collect(),
        }
    });
    sorted.collect()
}

/// The fewest registers that any placement can have, told from the offsets' values alone: two
/// accesses can share one only where their offsets differ by the same for all threads (and for
/// all assignments, where no scalar operand could make up for it) and by what an immediate holds.
fn minimum(wanted: &[Vec<u64>], assignments: &Assignments, space: &Space) -> usize {
    if space.scalar != ScalarOperand::None {
        return shapes(wanted, assignments.threads).len();
    }
    let windows = |shape: &Shape| {
        let mut constants: Vec<i64> = shape.accesses.iter().map(|(_, more)| *more).collect();
        constants.sort_unstable();
        let (mut count, mut end) = (0, i64::MIN);
        for constant in constants {
            if constant >= end {
                count += 1;
                end = constant.saturating_add(space.window());
            }
        }
        count
    };
    shapes(wanted, assignments.values.len())
        .iter()
        .map(windows)
        .sum()
}

impl Placement {
    /// Where each access finds its offset, in the order asked for.
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// What the registers hold. Those that depend on no step are computed before the loop; of the
    /// others only what depends on the step is computed in it.
    pub fn registers(&self) -> &[Term] {
        &self.registers
    }

    /// What the scalar operands hold.
    pub fn scalars(&self) -> &[Term] {
        &self.scalars
    }

    /// What the placement uses.
    pub fn cost(&self) -> Cost {
        self.cost
    }

    /// How it came about.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// A number of registers that no placement can do with less than. Where
    /// `registers().len()` is more, the rules missed something, or registers were saved in the
    /// wrong place.
    pub fn minimum(&self) -> usize {
        self.minimum
    }

    /// Emits what is computed before the loop.
    pub fn entry<V: Clone>(&self, mut emit: impl FnMut(Instruction<'_, V>) -> V) -> Entry<V> {
        Entry(self.program.entry(&mut emit))
    }

    /// Emits what is computed in each step: nothing, for most groups. `entry` is of this
    /// placement.
    pub fn step<V: Clone>(
        &self,
        entry: &Entry<V>,
        mut emit: impl FnMut(Instruction<'_, V>) -> V,
    ) -> Operands<V> {
        let mut registers = self.program.step(&entry.0, &mut emit);
        let scalars = registers.split_off(self.registers.len());
        Operands { registers, scalars }
    }

    /// The chain of rules from an access's offset to register + scalar + immediate.
    ///
    /// # Errors
    /// [`AddressError::Chain`] where there is no such access, where the placement is not by rules,
    /// or where the limits did not suffice.
    pub fn explain(&self, access: usize) -> Result<Chain, AddressError> {
        let refused = AddressError::Chain { access };
        let (Some(place), Origin::Rules) = (self.accesses.get(access), self.origin) else {
            return Err(refused);
        };
        let mut placed = self.registers[place.register].clone();
        if let Some(scalar) = place.scalar {
            placed = placed + self.scalars[scalar].clone();
        }
        placed = placed + place.immediate;
        explain::chain(&self.offsets[access], &placed, &self.limits).ok_or(refused)
    }

    /// Whether every access's parts add up to what is wanted.
    fn is(&self, wanted: &[Vec<u64>], assignments: &Assignments) -> bool {
        let parts = self.program.evaluate(assignments, true);
        self.accesses.len() == wanted.len()
            && self.accesses.iter().zip(wanted).all(|(access, wanted)| {
                let register = &parts[access.register];
                let scalar = access
                    .scalar
                    .map(|scalar| &parts[self.registers.len() + scalar]);
                wanted.iter().enumerate().all(|(index, wanted)| {
                    let scalar = scalar.map_or(0, |scalar| scalar[index]);
                    register[index] + scalar + u64::from(access.immediate) == *wanted
                })
            })
    }
}
