//! What every class of terms is known to be.

use super::{
    domain::{Copy, Domain, Threads},
    language::Term,
    placement::Placement,
};
use egg::{Analysis, DidMerge, EGraph, Id};
use std::rc::Rc;
use tilefold_layout::Swizzle;

/// The e-graph of one use.
pub(super) type Graph = EGraph<Term, Meaning>;

/// Evaluates terms as they are added.
#[derive(Debug)]
pub(super) struct Meaning {
    pub domain: Rc<Domain>,
}

/// What a class is.
#[derive(Clone, Debug)]
pub(super) enum Data {
    Number(i64),
    /// A placement with its bytes, runs and swizzle; none where it is no layout with one swizzle
    /// in front, as far as is known.
    Placement(Option<Rc<Placement>>),
    /// A copy with what it costs; none where it is no copy of the tile.
    Copy(Option<Rc<Copy>>),
    /// One of the choices.
    Choice,
}

impl Data {
    /// Whether what the class is will not change any more.
    pub fn is_known(&self) -> bool {
        !matches!(self, Self::Placement(None) | Self::Copy(None))
    }

    pub fn number(&self) -> Option<i64> {
        match self {
            Self::Number(value) => Some(*value),
            _ => None,
        }
    }

    pub fn placement(&self) -> Option<&Rc<Placement>> {
        match self {
            Self::Placement(placement) => placement.as_ref(),
            _ => None,
        }
    }

    pub fn copy(&self) -> Option<&Rc<Copy>> {
        match self {
            Self::Copy(copy) => copy.as_ref(),
            _ => None,
        }
    }
}

impl Analysis<Term> for Meaning {
    type Data = Data;

    fn make(graph: &mut Graph, node: &Term, _: Id) -> Data {
        let domain = Rc::clone(&graph.analysis.domain);
        let number = |id: &Id| graph[*id].data.number();
        let placed = |placement: Option<Placement>| Data::Placement(placement.map(Rc::new));
        let copied = |copy: Option<Copy>| Data::Copy(copy.map(Rc::new));
        let order = |line: Option<i64>, split: &dyn Fn(i64, i64) -> Option<[i64; 2]>| {
            let line = line.filter(|line| *line > 0)?;
            let [first_along, then_across] = split(line, domain.usage.threads / line)?;
            let order = Threads {
                line,
                first_along,
                then_across,
            };
            Copy::new(&domain, order, 1)
        };
        match node {
            Term::Number(value) => Data::Number(*value),
            Term::Lds(_) | Term::Hold(_) | Term::Carry(_) => Data::Choice,
            Term::Rows => placed(Placement::rows(&domain)),
            Term::Cols => placed(Placement::cols(&domain)),
            Term::Tiled([panel, run]) => {
                placed((|| Placement::tiled(&domain, number(panel)?, number(run)?))())
            }
            Term::Pad(padding) => {
                placed(number(padding).and_then(|n| Placement::padded(&domain, n)))
            }
            Term::Swizzle([bits, base, shift, of]) => placed((|| {
                let swizzle = swizzle([number(bits)?, number(base)?, number(shift)?])?;
                graph[*of].data.placement()?.swizzled(&domain, swizzle)
            })()),
            Term::Along(line) => copied(order(number(line), &|line, across| Some([line, across]))),
            Term::Across(line) => copied(order(number(line), &|_, across| Some([1, across]))),
            Term::SplitAlong([line, first]) => {
                let first = number(first);
                copied(order(number(line), &|_, across| Some([first?, across])))
            }
            Term::SplitAcross([line, first]) => {
                let first = number(first);
                copied(order(number(line), &|_, _| Some([1, first?])))
            }
            Term::Raked([raked, copy]) => copied((|| {
                let copy = graph[*copy].data.copy()?;
                // Lines are shared out once.
                let whole = copy.raked == 1 && copy.turned == domain.load;
                let raked = number(raked).filter(|_| whole)?;
                Copy::new(&domain, copy.order, raked)
            })()),
            Term::Turned([turned, copy]) => copied((|| {
                let copy = graph[*copy].data.copy()?;
                copy.turned(&domain, number(turned)?)
            })()),
        }
    }

    fn merge(&mut self, to: &mut Data, from: Data) -> DidMerge {
        match (&mut *to, from) {
            (Data::Placement(to @ None), Data::Placement(Some(from))) => {
                *to = Some(from);
                DidMerge(true, false)
            }
            (Data::Copy(to @ None), Data::Copy(Some(from))) => {
                *to = Some(from);
                DidMerge(true, false)
            }
            (Data::Placement(Some(_)), Data::Placement(None))
            | (Data::Copy(Some(_)), Data::Copy(None)) => DidMerge(false, true),
            (Data::Placement(Some(to)), Data::Placement(Some(from))) => {
                debug_assert!(
                    to.composed().offsets().eq(from.composed().offsets()),
                    "{to:?} and {from:?} are two functions"
                );
                DidMerge(false, false)
            }
            _ => DidMerge(false, false),
        }
    }
}

/// The swizzle of three numbers, if they are its fields.
pub(super) fn swizzle([bits, base, shift]: [i64; 3]) -> Option<Swizzle> {
    let bits = bits.try_into().ok()?;
    let base = base.try_into().ok()?;
    Swizzle::new(bits, base, shift.try_into().ok()?).ok()
}
