//! Why a kernel's choices are as they are: of each the best kernel with another value.
//!
//! What is judged are the kernels that the search weighs, by the same figures and in the same
//! order. The answer is for people to read: nothing is decided here.

use super::{
    Choices, Figures, Kind, Leaf, Limits, MARGIN, Open, Options, Reason, Refused, Weighed, Weigher,
    climb::{Climb, bases},
};
use serde::Serialize;
use std::cmp::Ordering;

/// For every choice of a kernel what else there was.
#[derive(Clone, Debug)]
pub struct Alternatives {
    /// What the model expects of the kernel itself, if the search can build it.
    pub figures: Result<Figures, Refusal>,
    /// The least modelled time of all kernels that were weighed, in microseconds.
    pub least_us: f64,
    /// Whether all kernels were looked at; else those that came before the limit.
    pub complete: bool,
    /// Every choice.
    pub choices: Vec<Why>,
}

/// One choice, and what else there was.
#[derive(Clone, Debug)]
pub struct Why {
    /// The value that the kernel has.
    pub value: Leaf,
    /// Whether the spec says so, so that there was no choice.
    pub said: bool,
    /// The other values that the rules reach, least first.
    pub others: Vec<Leaf>,
    /// The best of all kernels that have one of them.
    pub best: Option<Weighed>,
    /// The kernel itself with each of them and all else the same: its figures, or what refused it.
    pub alone: Vec<(Leaf, Result<Figures, Refusal>)>,
    /// Kernels with one of them that cannot be built, by what refused them.
    pub refused: Refused,
}

/// What keeps a kernel from being built.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Refusal {
    /// The reason, as in [`super::ScheduleSearch::refused`].
    pub reason: Reason,
    /// What the kernel needs, where the reason is a figure's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub need: Option<i64>,
    /// What there is of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<i64>,
}

/// The first figure, in the order in which the search compares, that tells two kernels apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decided {
    /// One lies within the margin of the least modelled time, and the other beyond it.
    Margin,
    /// Expected instructions of the main loop per matrix instruction of what is asked for.
    Instructions,
    /// Modelled time, within the margin.
    Time,
    /// Expected registers.
    Registers,
    /// No figure of the model: of equal ones the first in a fixed order is taken.
    Order,
}

impl Alternatives {
    /// What tells two kernels apart, and which of them is the better: less is better.
    pub fn decided(&self, one: &Weighed, other: &Weighed) -> (Decided, Ordering) {
        decided(self.least_us, one, other)
    }
}

fn decided(least_us: f64, one: &Weighed, other: &Weighed) -> (Decided, Ordering) {
    let (a, b) = (&one.figures, &other.figures);
    let beyond = |it: &Figures| it.modelled_us > least_us * (1.0 + MARGIN);
    let steps = [
        (Decided::Margin, beyond(a).cmp(&beyond(b))),
        // Beyond the margin time alone counts: nothing else is looked at.
        (
            Decided::Time,
            match beyond(a) && beyond(b) {
                true => a.modelled_us.total_cmp(&b.modelled_us),
                false => Ordering::Equal,
            },
        ),
        (
            Decided::Instructions,
            a.instructions().total_cmp(&b.instructions()),
        ),
        (Decided::Time, a.modelled_us.total_cmp(&b.modelled_us)),
        (Decided::Registers, a.vgprs.cmp(&b.vgprs)),
    ];
    let first = steps.into_iter().find(|(_, order)| order.is_ne());
    first.unwrap_or((Decided::Order, one.choices.cmp(&other.choices)))
}

/// Of every choice of `kernel` the best kernel with another value, among those that the search
/// weighs for `open` within the same limits: of registers to spare, where compiled kernels spilled,
/// and of combinations.
pub fn alternatives(open: &Open<'_>, kernel: &Choices, limits: &Limits) -> Option<Alternatives> {
    let spare_vgprs = limits.spare_vgprs;
    let options = Options::of(&super::saturate(open).egraph, false);
    let mut weigher = Weigher::new(open)?;
    let mut refused: Vec<Refused> = vec![Refused::new(); Kind::ALL.len()];
    let mut refuse = |choices: &Choices, kinds: &[Kind], reason: Reason, count: usize| {
        for (kind, refused) in Kind::ALL.iter().zip(&mut refused) {
            if kinds.contains(kind) && choices.get(*kind) != kernel.get(*kind) {
                *refused.entry(reason).or_default() += count;
            }
        }
    };
    let per_buffers = options.per_buffers();
    let per_tile = options.buffers.len() * per_buffers;
    let tile_kinds = Options::TILE;
    let with_buffers = [&tile_kinds[..], &[Kind::Buffers]].concat();
    let mut weighed: Vec<Weighed> = Vec::new();
    let (mut left, mut complete) = (limits.combinations, true);
    for tile in options.largest_first(super::start(open)) {
        if left == 0 {
            complete = false;
            break;
        }
        let widths = match weigher.tile(&tile).and_then(|()| weigher.widths(&tile)) {
            Ok(widths) => widths,
            Err(reason) => {
                left = left.saturating_sub(1);
                refuse(&tile, &tile_kinds, reason, per_tile);
                continue;
            }
        };
        for buffers in &options.buffers {
            let tile = tile.with(*buffers);
            if let Err(reason) = weigher.lds_bytes(&tile, &widths) {
                left = left.saturating_sub(1);
                refuse(&tile, &with_buffers, reason, per_buffers);
                continue;
            }
            left = left.saturating_sub(per_buffers);
            for choices in options.schedules(tile) {
                match weigher.figures(&choices) {
                    Ok(figures) if figures.spare_vgprs < spare_vgprs => {
                        refuse(&choices, &Kind::ALL, Reason::TooFewSpare, 1);
                    }
                    Ok(figures) => weighed.push(Weighed { choices, figures }),
                    Err(reason) => refuse(&choices, &Kind::ALL, reason, 1),
                }
            }
        }
    }
    let mut climb = Climb {
        weigher: &mut weigher,
        options: &options,
        spare_vgprs,
        left,
        weighed: 0,
        complete,
    };
    // As the search finds it.
    let fastest = weighed.iter().copied().min_by(Weighed::compare_time);
    let fastest = fastest.map(|it| climb.climb(it, f64::INFINITY, Weighed::compare_time, |_| true));
    let least_us = fastest.map_or(f64::INFINITY, |it| it.figures.modelled_us);
    weighed.extend(fastest);
    let judged = |weigher: &mut Weigher<'_>, choices: &Choices| {
        let figures = judge(open, weigher, choices)?;
        if figures.spare_vgprs < spare_vgprs && choices != kernel {
            return Err(Refusal {
                reason: Reason::TooFewSpare,
                need: Some(spare_vgprs),
                limit: Some(figures.spare_vgprs),
            });
        }
        Ok(figures)
    };
    // Of equal kernels the one that differs least from the kernel in question.
    let differing = |it: &Choices| {
        let differs = |kind: &&Kind| it.get(**kind) != kernel.get(**kind);
        Kind::ALL.iter().filter(differs).count()
    };
    let better = |a: &Weighed, b: &Weighed| match decided(least_us, a, b) {
        (Decided::Order, order) => differing(&a.choices)
            .cmp(&differing(&b.choices))
            .then(order),
        (_, order) => order,
    };
    weighed.sort_by(|a, b| better(a, b));

    let mut choices = Vec::new();
    for (kind, refused) in Kind::ALL.into_iter().zip(refused) {
        let value = kernel.get(kind);
        let others: Vec<Leaf> = options.values(kind).to_vec();
        let others: Vec<Leaf> = others.into_iter().filter(|leaf| *leaf != value).collect();
        let alone: Vec<_> = others
            .iter()
            .map(|leaf| (*leaf, judged(climb.weigher, &kernel.with(*leaf))))
            .collect();
        let built = alone.iter().filter_map(|(leaf, figures)| {
            let choices = kernel.with(*leaf);
            figures.ok().map(|figures| Weighed { choices, figures })
        });
        let other = |it: &Choices| it.get(kind) != value;
        let mut found: Vec<Weighed> = built.min_by(|a, b| better(a, b)).into_iter().collect();
        let tried: Vec<Weighed> = weighed
            .iter()
            .filter(|it| other(&it.choices))
            .copied()
            .collect();
        for base in bases(&tried).into_iter().chain(found.clone()) {
            found.push(climb.climb(base, f64::INFINITY, better, other));
        }
        choices.push(Why {
            value,
            said: open.fixed.iter().any(|leaf| leaf.kind() == kind),
            others,
            best: found.into_iter().min_by(|a, b| better(a, b)),
            alone,
            refused,
        });
    }
    let complete = climb.complete;
    Some(Alternatives {
        figures: judged(&mut weigher, kernel),
        least_us,
        complete,
        choices,
    })
}

/// What refuses the kernel that a search starts from, the smallest with the choices already made,
/// with the figure that does; none where it can be built.
pub fn refusal(open: &Open<'_>) -> Option<Refusal> {
    let mut weigher = Weigher::new(open)?;
    judge(open, &mut weigher, &super::start(open)).err()
}

/// The figures of a kernel, or what refuses it with the figure that does.
fn judge(
    open: &Open<'_>,
    weigher: &mut Weigher<'_>,
    choices: &Choices,
) -> Result<Figures, Refusal> {
    weigher.figures(choices).map_err(|reason| {
        let machine = open.machine;
        let [need, limit] = match reason {
            Reason::TooMuchLds => [
                weigher
                    .widths(choices)
                    .ok()
                    .map(|widths| widths.lds_bytes(choices.buffers)),
                Some(i64::from(machine.lds.per_workgroup)),
            ],
            Reason::TooManyVgprs => weigher
                .registers(choices)
                .map_or([None; 2], |registers| registers.map(Some)),
            Reason::TooManyWaves => [
                Some(choices.waves[0] * choices.waves[1]),
                Some(i64::from(machine.max_waves_per_workgroup)),
            ],
            _ => [None; 2],
        };
        Refusal {
            reason,
            need,
            limit,
        }
    })
}
