//! The rules: equations between terms, as data.
//!
//! A rule has a name, an equation between two patterns, and a side condition on what is known of
//! the terms that the pattern's variables stand for. `?c`, `?d` and `?e` stand for constants, all
//! other variables of the left side for any term; what only the right side names is a constant
//! that the condition computes. To add a rule: add it to its family's table, and in the family's
//! tests one line that evaluates it over all small words and one wrong use that it refuses.

mod disjoint;
mod distribute;
mod gather;
mod inner;
mod power;
mod redundant;
mod shift;
mod split;

#[cfg(test)]
mod check;

use crate::{facts::Facts, node::Node, search::Knowledge, word::Word};
use egg::{Applier, EGraph, Id, Pattern, PatternAst, Rewrite, Subst, Symbol, Var};
use serde::{Deserialize, Serialize};

/// Rules of one subject. What is found without a family is worse, never wrong.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Multiplication and division by powers of two.
    Power,
    /// Operations that change nothing.
    Redundant,
    /// Sums without carry are exclusive ors.
    Disjoint,
    /// Operations on sums are sums of operations.
    Distribute,
    /// Constants and uniform parts move outward and meet.
    Gather,
    /// Exclusive ors with bits that are known are sums.
    Split,
    /// Shifts and masks of shifts and masks.
    Shift,
    /// Operations on sums of parts that depend on the thread.
    Inner,
}

impl Family {
    /// All families.
    pub const ALL: [Self; 8] = [
        Self::Power,
        Self::Redundant,
        Self::Disjoint,
        Self::Distribute,
        Self::Gather,
        Self::Split,
        Self::Shift,
        Self::Inner,
    ];

    /// Whether its rules let accesses share registers. The others only make terms cheaper, and are
    /// applied to the few terms that are left then.
    pub(crate) fn shares(self) -> bool {
        !matches!(self, Self::Shift | Self::Inner)
    }

    /// Its rules.
    pub fn rules(self) -> &'static [Rule] {
        match self {
            Self::Power => power::RULES,
            Self::Redundant => redundant::RULES,
            Self::Disjoint => disjoint::RULES,
            Self::Distribute => distribute::RULES,
            Self::Gather => gather::RULES,
            Self::Split => split::RULES,
            Self::Shift => shift::RULES,
            Self::Inner => inner::RULES,
        }
    }
}

/// Constants that a condition computes, by name.
type Computed = Option<Vec<(&'static str, u32)>>;

/// An equation between terms that holds where its condition does.
pub struct Rule {
    /// Its name, in kebab case.
    pub name: &'static str,
    /// The left side, prefix notation.
    pub left: &'static str,
    /// The right side, prefix notation.
    pub right: &'static str,
    /// The condition in words; empty where there is none.
    pub when: &'static str,
    condition: fn(&Scope<'_>) -> Computed,
}

/// What a condition sees.
struct Scope<'a> {
    word: Word,
    facts: &'a dyn Fn(&str) -> Facts,
}

impl Scope<'_> {
    fn facts(&self, name: &str) -> Facts {
        (self.facts)(name)
    }

    /// The value of a variable that stands for a constant.
    fn constant(&self, name: &str) -> u32 {
        self.facts(name).min
    }

    /// Bits that some value may have.
    fn maybe(&self, name: &str) -> u32 {
        self.facts(name).maybe(self.word)
    }

    fn rank(&self, name: &str) -> u8 {
        self.facts(name).depends.rank()
    }

    /// Number of bits up to the highest that some value may have.
    fn length(&self, name: &str) -> u32 {
        32 - self.maybe(name).leading_zeros()
    }
}

/// The condition of rules that always hold.
fn always(_: &Scope<'_>) -> Computed {
    Some(Vec::new())
}

/// Holds or not, computing nothing.
fn holds(condition: bool) -> Computed {
    condition.then(Vec::new)
}

/// Whether a pattern's variable stands for constants alone.
fn is_constant(name: &str) -> bool {
    matches!(name, "c" | "d" | "e")
}

impl Rule {
    /// The equation, in a line.
    pub fn equation(&self) -> String {
        format!("{} = {}", self.left, self.right)
    }

    /// Its two sides as patterns.
    pub(crate) fn sides(&self) -> [Pattern<Node>; 2] {
        [self.left, self.right].map(|side| {
            side.parse().unwrap_or_else(|error| {
                panic!(
                    "the sides of a rule are patterns, {}'s are not: {error}",
                    self.name
                )
            })
        })
    }

    pub(crate) fn rewrite(&'static self) -> Rewrite<Node, Knowledge> {
        let [left, right] = self.sides();
        let named = |variable: Var| (name(variable), variable);
        let variables: Vec<_> = left.vars().into_iter().map(named).collect();
        let others = right.vars().into_iter().map(named);
        let computed = others.filter(|own| !variables.contains(own)).collect();
        let application = Application {
            rule: self,
            right,
            variables,
            computed,
        };
        Rewrite::new(self.name, left, application).unwrap_or_else(|error| {
            panic!(
                "what the right side of {} names is bound: {error}",
                self.name
            )
        })
    }
}

/// A variable's name without the mark of variables.
pub(crate) fn name(variable: Var) -> String {
    variable.to_string().trim_start_matches('?').to_string()
}

/// A rule in the e-graph: the right side, once the condition holds and has computed its constants.
struct Application {
    rule: &'static Rule,
    right: Pattern<Node>,
    /// Variables of the left side.
    variables: Vec<(String, Var)>,
    /// What only the right side names.
    computed: Vec<(String, Var)>,
}

impl Application {
    fn variable(&self, among: &[(String, Var)], wanted: &str) -> Var {
        let found = among.iter().find(|(name, _)| name == wanted);
        let (_, variable) = found.unwrap_or_else(|| {
            panic!(
                "the condition of {} names variables of its sides",
                self.rule.name
            )
        });
        *variable
    }
}

impl Applier<Node, Knowledge> for Application {
    fn apply_one(
        &self,
        egraph: &mut EGraph<Node, Knowledge>,
        class: Id,
        bindings: &Subst,
        left: Option<&PatternAst<Node>>,
        name: Symbol,
    ) -> Vec<Id> {
        let facts = |wanted: &str| egraph[bindings[self.variable(&self.variables, wanted)]].data;
        let constants = self.variables.iter().filter(|(name, _)| is_constant(name));
        if constants
            .into_iter()
            .any(|(_, variable)| egraph[bindings[*variable]].data.value().is_none())
        {
            return Vec::new();
        }
        let scope = Scope {
            word: Word::MACHINE,
            facts: &facts,
        };
        let Some(computed) = (self.rule.condition)(&scope) else {
            return Vec::new();
        };
        let mut bindings = bindings.clone();
        for (name, value) in computed {
            let variable = self.variable(&self.computed, name);
            bindings.insert(variable, egraph.add(Node::Constant(value)));
        }
        // The left side is of use to explanations only.
        let left = left.filter(|_| egraph.are_explanations_enabled());
        self.right.apply_one(egraph, class, &bindings, left, name)
    }
}
