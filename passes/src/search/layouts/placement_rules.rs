//! Rules of placements and of memories.

use super::{
    analysis::swizzle,
    domain::Domain,
    language::{Build, Term},
    placement::{Placement, effective},
    rules::Rule,
};
use egg::PatternAst;
use tilefold_layout::Swizzle;

pub(super) static RULES: &[Rule] = &[
    Rule {
        name: "order-columns",
        equation: "(hold rows) = (hold cols)",
        condition: "",
        left: "(hold rows)",
        right: |_, _| {
            let mut right = Build::default();
            let cols = right.node(Term::Cols);
            right.node(Term::Hold(cols));
            Some(vec![right.done()])
        },
    },
    Rule {
        name: "order-tiles",
        equation: "(hold rows) = (hold (tiled r b))",
        condition: "r is R, or a power of two that divides it of at most so many shortest runs as \
                    fill all banks twice; b is a power of two that divides K; runs that both \
                    sides can move at once stay whole",
        left: "(hold rows)",
        right: |domain, _| {
            let [rows, depth] = domain.usage.tile;
            let powers = |of: i64| (0..of.ilog2() + 1).map(|bit| 1 << bit);
            let panels = powers(rows)
                .filter(|panel| *panel > 1 && *panel < rows)
                .filter(|panel| *panel * domain.run <= 2 * domain.period)
                .chain([rows]);
            let mut rights = Vec::new();
            for panel in panels.filter(|panel| rows % panel == 0) {
                let runs = powers(depth).filter(|run| *run >= domain.run && *run < depth);
                for run in runs.filter(|run| depth % run == 0) {
                    let mut right = Build::default();
                    let parts = right.numbers([panel, run]);
                    let tiled = right.node(Term::Tiled(parts));
                    right.node(Term::Hold(tiled));
                    rights.push(right.done());
                }
            }
            Some(rights)
        },
    },
    Rule {
        name: "pad-rows",
        equation: "(hold rows) = (hold (pad n))",
        condition: "n is a multiple of the runs that both sides can move at once, up to where the \
                    banks repeat, and the bytes are there",
        left: "(hold rows)",
        right: |domain, _| {
            let paddings = (1..=domain.period / domain.run).map(|count| count * domain.run);
            let fits = paddings.filter(|padding| {
                let padded = Placement::padded(domain, *padding);
                padded.is_some_and(|padded| padded.bytes <= domain.usage.max_bytes)
            });
            let rights = fits.map(|padding| {
                let mut right = Build::default();
                let padding = right.number(padding);
                let pad = right.node(Term::Pad(padding));
                right.node(Term::Hold(pad));
                right.done()
            });
            Some(rights.collect())
        },
    },
    Rule {
        name: "swizzle",
        equation: "(hold P) = (hold (sw 1 M S P))",
        condition: "P has neither swizzle nor padding, its offsets have both bits, the bit that \
                    changes is one of the bank's, runs that both sides can move at once stay \
                    whole, and the bytes are there",
        left: "(hold ?p)",
        right: |domain, bound| {
            let placement = bound.placement("?p")?;
            let top = 64 - i64::from(placement.used.leading_zeros());
            let mut rights = Vec::new();
            for base in 0..top {
                for shift in (base - top + 1..0).chain(1..top - base) {
                    let fields = [1, base, shift];
                    if !useful(domain, placement, swizzle(fields)?) {
                        continue;
                    }
                    let mut right = Build::default();
                    let of = right.var("?p");
                    let swizzled = right.swizzle(fields, of);
                    right.node(Term::Hold(swizzled));
                    rights.push(right.done());
                }
            }
            Some(rights)
        },
    },
    Rule {
        name: "grow-swizzle",
        equation: "(hold (sw B M S P)) = (hold (sw 1 (M+B) S (sw B M S P)))",
        condition: "B < |S|, and as for `swizzle` with Sw<B+1,M,S>",
        left: "(hold (sw ?b ?m ?s ?p))",
        right: |domain, bound| {
            let placement = bound.placement("?p")?;
            let [bits, base, shift] = bound.numbers(["?b", "?m", "?s"])?;
            let before = swizzle([bits, base, shift])?;
            let grown = swizzle([bits + 1, base, shift])?;
            if before.is_identity() || !useful(domain, placement, grown) {
                return None;
            }
            let mut right = Build::default();
            let of = right.var("?p");
            let inner = right.swizzle([bits, base, shift], of);
            let outer = right.swizzle([1, base + bits, shift], inner);
            right.node(Term::Hold(outer));
            Some(vec![right.done()])
        },
    },
    Rule {
        name: "compose-swizzles",
        equation: "(sw B M S (sw C N S P)) = (sw D L S P)",
        condition: "P has no swizzle, the inner one changes no bit that the outer one reads, and the \
                    bits that only one of them reads are one run: D bits from L",
        left: "(sw ?b ?m ?s (sw ?c ?n ?t ?p))",
        right: |_, bound| {
            let [outer, inner] = two(bound)?;
            // The two conditions that fail most, before an error is written about them.
            let apart = inner.target_mask() & outer.source_mask() == 0;
            let both = (outer.shift() == inner.shift() && apart).then(|| outer.compose(inner));
            let both = both?.ok()?;
            (!both.is_identity()).then(|| vec![swizzled(&[both])])
        },
    },
    Rule {
        name: "commute-swizzles",
        equation: "(sw B M S (sw C N T P)) = (sw C N T (sw B M S P))",
        condition: "P has no swizzle, neither changes a bit that the other one reads, and M is above \
                    N: so that one order is led to and not back",
        left: "(sw ?b ?m ?s (sw ?c ?n ?t ?p))",
        right: |_, bound| {
            let [outer, inner] = two(bound)?;
            let apart = |a: Swizzle, b: Swizzle| a.target_mask() & b.source_mask() == 0;
            let holds = outer.base() > inner.base() && apart(outer, inner) && apart(inner, outer);
            holds.then(|| vec![swizzled(&[inner, outer])])
        },
    },
    Rule {
        name: "undo-swizzle",
        equation: "(sw B M S (sw B M S P)) = P",
        condition: "",
        left: "(sw ?b ?m ?s (sw ?b ?m ?s ?p))",
        right: |_, bound| {
            swizzle(bound.numbers(["?b", "?m", "?s"])?)?;
            Some(vec![swizzled(&[])])
        },
    },
    Rule {
        name: "drop-swizzle",
        equation: "(sw B M S P) = P",
        condition: "no offset of P has a bit that Sw<B,M,S> reads",
        left: "(sw ?b ?m ?s ?p)",
        right: |_, bound| {
            let (swizzle, used) = one(bound)?;
            (swizzle.source_mask() & used == 0).then(|| vec![swizzled(&[])])
        },
    },
    Rule {
        name: "narrow-swizzle",
        equation: "(sw B M S P) = (sw C N S P)",
        condition: "the bits that Sw<B,M,S> reads and Sw<C,N,S> does not are set in no offset of P",
        left: "(sw ?b ?m ?s ?p)",
        right: |_, bound| {
            let (swizzle, used) = one(bound)?;
            let narrow = effective(swizzle, used)?;
            (narrow != swizzle && !narrow.is_identity()).then(|| vec![swizzled(&[narrow])])
        },
    },
    Rule {
        name: "pad-nothing",
        equation: "(pad 0) = rows",
        condition: "",
        left: "(pad 0)",
        right: |_, _| Some(vec![leaf(Term::Rows)]),
    },
    Rule {
        name: "tiles-of-rows",
        equation: "(tiled r b) = rows",
        condition: "r is 1 and b divides K, or b is K and r divides R",
        left: "(tiled ?r ?b)",
        right: |domain, bound| {
            let [panel, run] = bound.numbers(["?r", "?b"])?;
            Placement::tiled(domain, panel, run)?;
            let rows = panel == 1 || run == domain.usage.tile[1];
            rows.then(|| vec![leaf(Term::Rows)])
        },
    },
    Rule {
        name: "tiles-of-columns",
        equation: "(tiled R 1) = cols",
        condition: "",
        left: "(tiled ?r 1)",
        right: |domain, bound| {
            let whole = bound.number("?r")? == domain.usage.tile[0];
            whole.then(|| vec![leaf(Term::Cols)])
        },
    },
];

/// Whether a swizzle of a placement is worth having and legal: what it changes is the bank,
/// since a swizzle of higher bits alone leaves every access the banks that it had.
fn useful(domain: &Domain, placement: &Placement, swizzle: Swizzle) -> bool {
    let banks = domain.period - 1;
    let top = placement.used as u64;
    let within = |mask: i64| top > 0 && mask as u64 <= u64::MAX >> top.leading_zeros();
    domain.period.count_ones() == 1
        && placement.padding == 0
        && placement.swizzle.is_identity()
        && i64::from(swizzle.base()) >= i64::from(domain.run.ilog2())
        && swizzle.target_mask() & !banks == 0
        && within(swizzle.target_mask())
        && effective(swizzle, placement.used) == Some(swizzle)
        && placement
            .swizzled(domain, swizzle)
            .is_some_and(|swizzled| swizzled.bytes <= domain.usage.max_bytes)
}

fn one(bound: &super::rules::Bound<'_>) -> Option<(Swizzle, i64)> {
    let placement = bound.placement("?p")?;
    let swizzle = swizzle(bound.numbers(["?b", "?m", "?s"])?)?;
    placement
        .swizzle
        .is_identity()
        .then_some((swizzle, placement.used))
}

/// Two swizzles of a placement that has none itself: of three, two are made one at a time.
fn two(bound: &super::rules::Bound<'_>) -> Option<[Swizzle; 2]> {
    if !bound.placement("?p")?.swizzle.is_identity() {
        return None;
    }
    Some([
        swizzle(bound.numbers(["?b", "?m", "?s"])?)?,
        swizzle(bound.numbers(["?c", "?n", "?t"])?)?,
    ])
}

fn leaf(node: Term) -> PatternAst<Term> {
    let mut right = Build::default();
    right.node(node);
    right.done()
}

/// `?p` swizzled, the outermost first.
fn swizzled(swizzles: &[Swizzle]) -> PatternAst<Term> {
    let mut right = Build::default();
    let mut of = right.var("?p");
    for swizzle in swizzles.iter().rev() {
        let fields = [
            i64::from(swizzle.bits()),
            i64::from(swizzle.base()),
            i64::from(swizzle.shift()),
        ];
        of = right.swizzle(fields, of);
    }
    right.done()
}
