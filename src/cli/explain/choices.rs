//! Every choice of a searched plan beside the best kernel with another value, and what decided.

use super::{choice_values, leaf_value};
use serde::Serialize;
use serde_json::{Value, json as object};
use std::cmp::Ordering;
use tilefold::{Compiled, Score};
use tilefold_passes::search::{
    Proposal, alternatives,
    schedules::{
        Alternatives, Choices, Decided, Figures, Kind, Leaf, Limits, MARGIN, Reason, Refusal,
        Refused, Step, Weighed, Why,
    },
};

/// One choice.
#[derive(Serialize)]
pub struct Choice {
    /// Its name.
    pub choice: &'static str,
    /// The plan's value.
    pub value: Value,
    /// What decided, in a word.
    pub decided_by: &'static str,
    /// What decided, in a sentence.
    pub reason: String,
    /// The best kernel with another value, by the model.
    pub other: Option<Rival>,
    /// The best kernel with another value among those that were compiled.
    pub compiled: Option<CompiledRival>,
    /// The rules that lead to the value, one step after the other.
    pub chain: Vec<Step>,
    /// The plan with another value and all else the same.
    pub alone: Vec<Alone>,
    /// Of these what is refused, in lines.
    #[serde(skip)]
    pub alone_refused: Vec<String>,
    /// Kernels with another value that the search leaves out, by the reason.
    pub refused: Refused,
}

/// A kernel that was weighed.
#[derive(Serialize)]
pub struct Rival {
    /// Its value of the choice.
    pub value: Value,
    /// All its choices that differ from the plan's, but for that one.
    pub with: Value,
    /// What the model expects of it.
    pub expected: Figures,
}

/// A kernel that was compiled.
#[derive(Serialize)]
pub struct CompiledRival {
    /// Its value of the choice.
    pub value: Value,
    /// All its choices that differ from the plan's, but for that one.
    pub with: Value,
    /// What its code is.
    pub compiled: Score,
}

/// The plan with another value of one choice.
#[derive(Serialize)]
pub struct Alone {
    /// The value.
    pub value: Value,
    /// What the model expects, if the search takes the kernel.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<Figures>,
    /// What refuses it, if not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refused: Option<Refusal>,
}

/// Every choice of the compiled plan, with the figures that the model expects of it.
pub struct Explained {
    /// What the model expects of the plan.
    pub expected: Result<Figures, Refusal>,
    /// The least modelled time of all kernels, in microseconds.
    pub least_us: f64,
    /// Whether all kernels were looked at.
    pub complete: bool,
    /// The choices.
    pub choices: Vec<Choice>,
}

/// Explains the choices of a compiled plan of a spec. None where the chip's rates are unknown.
pub fn explain(
    spec: &tilefold::Spec,
    compiled: &Compiled,
) -> Result<Option<Explained>, tilefold::Error> {
    let schedules = compiled.search.proposals.schedules.as_ref();
    let limits = schedules.map_or_else(Limits::default, |it| it.limits);
    let Some(found) = alternatives(spec, &compiled.plan, &limits)? else {
        return Ok(None);
    };
    let case = Case {
        plan: Choices::of(&compiled.plan),
        proposals: &compiled.search.proposals.plans,
        finalists: schedules.map_or(&[], |it| &it.finalists),
        scores: &compiled.search.scores,
        kept: compiled.search.kept,
        spilled: compiled.search.spilled > 0,
        found: &found,
    };
    Ok(Some(Explained {
        expected: found.figures,
        least_us: found.least_us,
        complete: found.complete,
        choices: found.choices.iter().map(|why| case.choice(why)).collect(),
    }))
}

struct Case<'a> {
    plan: Choices,
    proposals: &'a [Proposal],
    /// What was expected of them before their layouts were found.
    finalists: &'a [Weighed],
    scores: &'a [Score],
    kept: usize,
    /// Whether compiled kernels spilled.
    spilled: bool,
    found: &'a Alternatives,
}

impl Case<'_> {
    fn choice(&self, why: &Why) -> Choice {
        let kind = why.value.kind();
        let (decided_by, reason) = self.decided(why);
        let alone = why.alone.iter().map(|(leaf, figures)| Alone {
            value: leaf_value(*leaf),
            expected: figures.ok().map(|figures| {
                let choices = self.plan.with(*leaf);
                self.expected(&Weighed { choices, figures })
            }),
            refused: figures.err(),
        });
        Choice {
            choice: kind.name(),
            value: leaf_value(why.value),
            decided_by,
            reason,
            other: why.best.as_ref().map(|best| Rival {
                value: leaf_value(best.choices.get(kind)),
                with: self.besides(kind, &best.choices),
                expected: self.expected(best),
            }),
            compiled: self.compiled(why.value),
            chain: self.chain(kind),
            alone: alone.collect(),
            alone_refused: grouped(&why.alone),
            refused: why.refused.clone(),
        }
    }

    /// What is expected of a kernel: where it has a plan, of the layouts of that.
    fn expected(&self, kernel: &Weighed) -> Figures {
        let proposal = self.position(&kernel.choices);
        let known = proposal.and_then(|index| self.proposals[index].figures);
        known.unwrap_or(kernel.figures)
    }

    /// The steps of the plan's chain that make one choice.
    fn chain(&self, kind: Kind) -> Vec<Step> {
        let of = |step: &&Step| {
            let name = step.choice.split('=').next();
            name == Some(kind.name())
        };
        let kept = self.proposals.get(self.kept);
        let chain = kept.map_or(&[][..], |kept| &kept.chain);
        chain.iter().filter(of).cloned().collect()
    }

    /// The choices that differ from the plan's, but for one.
    fn besides(&self, kind: Kind, choices: &Choices) -> Value {
        let mut values = choice_values(choices);
        if let Some(values) = values.as_object_mut() {
            values.retain(|name, _| {
                let of = Kind::ALL.into_iter().find(|kind| kind.name() == name);
                of.is_some_and(|of| of != kind && choices.get(of) != self.plan.get(of))
            });
        }
        values
    }

    /// The best of the compiled kernels with another value.
    fn compiled(&self, value: Leaf) -> Option<CompiledRival> {
        let kind = value.kind();
        let others = self.proposals.iter().zip(self.scores);
        let others = others.map(|(proposal, score)| (Choices::of(&proposal.plan), *score));
        let others = others.filter(|(choices, _)| choices.get(kind) != value);
        let (choices, compiled) = others.min_by(|(_, a), (_, b)| a.compare(b))?;
        Some(CompiledRival {
            value: leaf_value(choices.get(kind)),
            with: self.besides(kind, &choices),
            compiled,
        })
    }

    /// What decided a choice, in a word and in a sentence.
    fn decided(&self, why: &Why) -> (&'static str, String) {
        if why.said {
            return ("spec", "the spec says so".into());
        }
        let plan = match self.found.figures {
            Ok(figures) => Weighed {
                choices: self.plan,
                figures,
            },
            Err(refusal) => {
                let how = match self.spilled {
                    true => "by default, or to take fewer registers than what spilled",
                    false => "by default",
                };
                let reason = format!(
                    "{how}: the search does not build the plan, for {}",
                    says(&refusal)
                );
                return ("default", reason);
            }
        };
        if why.others.is_empty() {
            return ("no-other", "no rule reaches another value".into());
        }
        let Some(best) = &why.best else {
            let reasons = grouped(&why.alone);
            return (
                "refused",
                format!("the search takes no other; {}", reasons.join("; ")),
            );
        };
        if let Some(index) = self.position(&best.choices) {
            return self.by_code(index);
        }
        let (decided, order) = self.found.decided(&plan, best);
        let (word, figures) = self.figure(decided, &plan.figures, &best.figures);
        match (decided, order) {
            (Decided::Order, Ordering::Less) => (
                "order",
                "equal by the model, and not compiled: the first in a fixed order is taken".into(),
            ),
            (_, Ordering::Less) => (word, figures),
            _ => self.not_compiled(best, &figures),
        }
    }

    /// Why a kernel that the model puts before the plan was not compiled. What is compiled is chosen
    /// before any layout is known, so that nothing else counts here.
    fn not_compiled(&self, best: &Weighed, figures: &str) -> (&'static str, String) {
        let before = |index: usize| {
            let choices = Choices::of(&self.proposals[index].plan);
            let finalist = self.finalists.iter().find(|it| it.choices == choices)?;
            let (by, order) = self.found.decided(finalist, best);
            let (_, against) = self.figure(by, &finalist.figures, &best.figures);
            order.is_le().then_some(against)
        };
        let kept = (self.kept < self.proposals.len()).then_some(self.kept);
        if let Some(against) = kept.and_then(before) {
            return (
                "not-compiled",
                format!(
                    "before the plan by the model ({figures}), but not before it by what was \
                     expected until its tiles had their places ({against}), and not compiled"
                ),
            );
        }
        let mut others = (0..self.proposals.len()).filter(|index| *index != self.kept);
        if let Some((index, against)) = others.find_map(|index| Some((index, before(index)?))) {
            let (_, code) = self.by_code(index);
            return (
                "compiled",
                format!(
                    "before the plan by the model ({figures}), but not before the compiled kernel \
                     {} ({against}), which lost: {code}",
                    index + 1
                ),
            );
        }
        (
            "not-compiled",
            format!("before the plan by the model ({figures}), but not among the few compiled"),
        )
    }

    fn position(&self, choices: &Choices) -> Option<usize> {
        let mut proposals = self.proposals.iter();
        proposals.position(|proposal| Choices::of(&proposal.plan) == *choices)
    }

    /// What of their code tells the plan and another compiled kernel apart.
    fn by_code(&self, index: usize) -> (&'static str, String) {
        let (Some(plan), Some(other)) = (self.scores.get(self.kept), self.scores.get(index)) else {
            return ("order", "not compiled to compare".into());
        };
        if (plan.scratch_bytes, plan.vgpr_spills) != (other.scratch_bytes, other.vgpr_spills) {
            let spills =
                |it: &Score| format!("{} VGPRs and {} bytes", it.vgpr_spills, it.scratch_bytes);
            let reason = format!(
                "compiled, {} spilled against {}",
                spills(plan),
                spills(other)
            );
            return ("compiled-spills", reason);
        }
        if plan.cut_short != other.cut_short {
            let reason = "the other has conflicts, the search for its places cut short";
            return ("compiled-cut-short", reason.into());
        }
        if plan.instructions() != other.instructions() {
            return (
                "compiled-instructions",
                format!(
                    "compiled, {:.3} instructions per mma against {:.3}",
                    plan.instructions(),
                    other.instructions()
                ),
            );
        }
        if plan.conflict_cycles != other.conflict_cycles {
            let reason = format!(
                "compiled, {} conflict cycles of a K tile against {}",
                plan.conflict_cycles, other.conflict_cycles
            );
            return ("compiled-conflicts", reason);
        }
        if plan.sgpr_spills != other.sgpr_spills {
            let reason = format!(
                "compiled, {} SGPRs in lanes of VGPRs against {}",
                plan.sgpr_spills, other.sgpr_spills
            );
            return ("compiled-scalars", reason);
        }
        let reason = "compiled to equal counts: the first in a fixed order is taken";
        ("order", reason.into())
    }

    fn figure(&self, decided: Decided, plan: &Figures, other: &Figures) -> (&'static str, String) {
        match decided {
            Decided::Margin => (
                "margin",
                format!(
                    "modelled time: {:.1} us against {:.1}; the margin is {:.0} % over the least of \
                     all, {:.1}",
                    plan.modelled_us,
                    other.modelled_us,
                    100.0 * MARGIN,
                    self.found.least_us
                ),
            ),
            Decided::Instructions => {
                let [plan, other] = apart(plan.instructions(), other.instructions());
                let reason = format!("{plan} instructions per mma expected against {other}");
                ("instructions", reason)
            }
            Decided::Time => {
                let [plan, other] = apart(plan.modelled_us, other.modelled_us);
                ("time", format!("modelled time: {plan} us against {other}"))
            }
            Decided::Registers => (
                "registers",
                format!("{} VGPRs expected against {}", plan.vgprs, other.vgprs),
            ),
            Decided::Order => ("order", "equal, and earlier in a fixed order".into()),
        }
    }
}

/// What refuses the plan with other values of one choice, reason by reason: `8 (8 of 4): reason`.
pub fn grouped(alone: &[(Leaf, Result<Figures, Refusal>)]) -> Vec<String> {
    let mut reasons: Vec<(Reason, Vec<String>)> = Vec::new();
    for (leaf, figures) in alone {
        let Err(refusal) = figures else { continue };
        let figure = match (refusal.need, refusal.limit) {
            (Some(need), Some(limit)) => format!(" ({need} of {limit})"),
            _ => String::new(),
        };
        let value = leaf.value() + &figure;
        match reasons.iter_mut().find(|(why, _)| *why == refusal.reason) {
            Some((_, values)) => values.push(value),
            None => reasons.push((refusal.reason, vec![value])),
        }
    }
    let text = |(reason, values): (Reason, Vec<String>)| format!("{}: {reason}", values.join(", "));
    reasons.into_iter().map(text).collect()
}

/// Two figures with as many digits as tell them apart.
fn apart(a: f64, b: f64) -> [String; 2] {
    let with = |digits: usize| [a, b].map(|figure| format!("{figure:.digits$}"));
    let mut texts = (3..=15).map(with);
    let different = texts.find(|[a, b]| a != b);
    different.unwrap_or_else(|| [a, b].map(|figure| figure.to_string()))
}

/// What refuses a kernel, with the figure where there is one.
pub fn says(refusal: &Refusal) -> String {
    match (refusal.need, refusal.limit) {
        (Some(need), Some(limit)) => format!("{}, {need} of {limit}", refusal.reason),
        _ => refusal.reason.to_string(),
    }
}

/// Explained choices as JSON.
pub fn value(explained: &Explained) -> Value {
    object!({
        "expected": explained.expected.as_ref().ok(),
        "complete": explained.complete,
        "least_modelled_us": explained.least_us.is_finite().then_some(explained.least_us),
        "margin": MARGIN,
        "choices": explained.choices,
    })
}
