//! How tiles are carried and C is stored: load widths, layouts in LDS, copies, the epilogue.

use super::placed;
use serde::Serialize;
use serde_json::{Value, json as object};
use tilefold::{Compiled, Plan};
use tilefold_passes::{
    Epilogue, access_elements,
    search::{LoadWidth, layouts::Candidate, layouts::LayoutSearch, load_widths},
};

/// One choice that is made for itself, whatever tile and schedule are.
#[derive(Serialize)]
pub struct Own {
    /// Its name.
    pub choice: String,
    /// What was chosen.
    pub value: String,
    /// The best of all else, with its figure, where there is any.
    pub other: Option<String>,
    /// What decided, in a word.
    pub decided_by: &'static str,
    /// What decided, in a sentence.
    pub reason: String,
    /// All figures.
    pub figures: Value,
}

/// The choices of a compiled plan of a spec.
pub fn own(spec: &tilefold::Spec, compiled: &Compiled) -> Vec<Own> {
    let plan = &compiled.plan;
    let search = &compiled.search;
    let kept = search.proposals.plans.get(search.kept);
    let mut choices = Vec::new();
    let widths = access_elements(plan).unwrap_or([1; 3]);
    for (operand, name) in ["A", "B"].into_iter().enumerate() {
        let copy = [&spec.plan.copy.a, &spec.plan.copy.b][operand];
        let said = spec.plan.atoms.load.is_some() || copy.threads.is_some();
        let mut own = load(plan, operand, name, widths[operand], said);
        own.reason += &compiled_loads(compiled);
        choices.push(own);
    }
    for (operand, name) in ["A", "B"].into_iter().enumerate() {
        let found = kept.and_then(|kept| kept.layouts[operand].as_ref());
        let copy = [&spec.plan.copy.a, &spec.plan.copy.b][operand];
        let place = [&spec.plan.lds.a, &spec.plan.lds.b][operand];
        choices.push(match found {
            Some(found) => layout(name, found),
            None => given(
                format!("layout of {name} in LDS"),
                plan.lds[operand].to_string(),
                place.is_some(),
                "by default plain rows, the spec saying how the tile is copied",
            ),
        });
        choices.push(match found {
            Some(found) if copy.threads.is_none() => order(name, found),
            _ => given(
                format!("copy of {name}"),
                format!("{} o {}", plan.copies[operand].0, plan.stores[operand]),
                copy.threads.is_some(),
                "by default consecutive threads along lines, the spec saying the layout in LDS",
            ),
        });
    }
    choices.extend(epilogue(plan));
    choices
}

fn given(choice: String, value: String, said: bool, by_default: &str) -> Own {
    let (decided_by, reason) = match said {
        true => ("spec", "as the spec says".to_string()),
        false => ("default", by_default.to_string()),
    };
    Own {
        choice,
        value,
        other: None,
        decided_by,
        reason,
        figures: Value::Null,
    }
}

/// What the loads of A and B became: LLVM joins narrow ones where it can.
fn compiled_loads(compiled: &Compiled) -> String {
    let Some(main_loop) = &compiled.code.resources.main_loop else {
        return String::new();
    };
    let [rm, rn] = compiled.plan.repeat();
    let slices = compiled.plan.block[2] / compiled.plan.atom.shape[2];
    let of_a_tile = (rm * rn * slices * compiled.plan.atom.instructions).max(1);
    let tiles = i64::from(main_loop.mma) / of_a_tile;
    format!(
        "; compiled, a thread has {} loads of A and B in {} K tile{}",
        main_loop.global_loads,
        tiles.max(1),
        if tiles > 1 { "s" } else { "" }
    )
}

fn load(plan: &Plan, operand: usize, name: &str, elements: i64, said: bool) -> Own {
    let widths = load_widths(plan, operand);
    let bits = elements * i64::from(plan.input().bits());
    let own = widths.iter().find(|width| width.bits == bits);
    let wider: Vec<&LoadWidth> = widths.iter().filter(|width| width.bits > bits).collect();
    let mut narrower = widths.iter().filter(|width| width.bits < bits);
    let narrower = narrower.find(|width| width.refused.is_none());
    let loads = own.map_or(0, |width| width.loads);
    let described = |bits: i64, loads: i64| {
        let plural = if loads == 1 { "" } else { "s" };
        format!("{bits} bits asked for, {loads} load{plural} of a thread and K tile")
    };
    let (decided_by, reason) = match (said, wider.last()) {
        (true, _) => ("spec", "as the spec says".into()),
        (_, None) => ("instructions", "no load is wider".into()),
        (_, Some(next)) => match next.refused {
            Some(refused) => ("refused", format!("of {} bits not: {refused}", next.bits)),
            None => (
                "layout",
                format!(
                    "of {} bits not: threads of this copy do not have so many neighbours",
                    next.bits
                ),
            ),
        },
    };
    Own {
        choice: format!("loads of {name}"),
        value: described(bits, loads),
        other: narrower.map(|width| described(width.bits, width.loads)),
        decided_by,
        reason,
        figures: object!(widths),
    }
}

fn layout(name: &str, found: &LayoutSearch) -> Own {
    let next = found.runners_up.first();
    let (decided_by, reason) = decided(found, next, "the search found no other that fits");
    Own {
        choice: format!("layout of {name} in LDS"),
        value: found.best.lds.to_string(),
        other: next.map(|next| next.lds.to_string()),
        decided_by,
        reason,
        figures: object!({
            "best": placed(&found.best),
            "other": next.map(placed),
        }),
    }
}

fn order(name: &str, found: &LayoutSearch) -> Own {
    let text = |of: &Candidate| format!("{} o {}", of.threads, of.stores);
    let other = found.other_copy.as_ref();
    let (decided_by, reason) = decided(found, other, "the search found no other copy");
    Own {
        choice: format!("copy of {name}"),
        value: text(&found.best),
        other: other.map(text),
        decided_by,
        reason,
        figures: object!({
            "best": placed(&found.best),
            "other": other.map(placed),
        }),
    }
}

fn decided(found: &LayoutSearch, other: Option<&Candidate>, none: &str) -> (&'static str, String) {
    let Some(other) = other else {
        return ("no-other", none.into());
    };
    match found.best.decided(other) {
        Some((figure, here, there)) => (figure, format!("{figure}: {here} against {there}")),
        None => (
            "order",
            "equal in every figure: the smallest term is taken".to_string(),
        ),
    }
}

/// How C is stored, and how else it could be.
fn epilogue(plan: &Plan) -> Option<Own> {
    let (chosen, ways) = (Epilogue::of(plan).ok()?, Epilogue::ways(plan).ok()?);
    let bits = i64::from(plan.problem.c.element.bits());
    let [rm, rn] = plan.repeat();
    let results = rm * rn * plan.atom.result_values();
    let order = |way: &Epilogue| if way.b_first { "B first" } else { "A first" };
    let exchange = |way: &Epilogue| match way.exchanged {
        true => "exchanged between the halves of a wave",
        false => "no exchange",
    };
    let text = |way: &Epilogue| {
        format!(
            "{}, {}, {} stores of {} bits by a thread",
            order(way),
            exchange(way),
            results / way.elements,
            way.elements * bits
        )
    };
    let same = |way: &&Epilogue| (way.b_first, way.exchanged) == (chosen.b_first, chosen.exchanged);
    // Ways come cheapest first, and of equally wide ones the first is taken.
    let others = ways.iter().filter(|way| !same(way));
    let other = others.fold(None, |best: Option<&Epilogue>, way| match best {
        Some(best) if best.elements >= way.elements => Some(best),
        _ => Some(way),
    });
    let most = Epilogue::most_elements(plan);
    let (decided_by, reason) = match other {
        None => (
            "no-other",
            "the instruction's results have no other way".to_string(),
        ),
        Some(other) if other.elements < chosen.elements => (
            "store width",
            format!(
                "{} bits against {}",
                chosen.elements * bits,
                other.elements * bits
            ),
        ),
        Some(_) => (
            "moves",
            "equally wide; without an exchange goes before with one, and A first before B first"
                .to_string(),
        ),
    };
    let limit = format!("; lines of C allow {} bits", (most * bits).min(128));
    let way = |way: &Epilogue| {
        object!({
            "first": if way.b_first { "b" } else { "a" },
            "exchanged": way.exchanged,
            "store_bits": way.elements * bits,
            "stores": results / way.elements,
        })
    };
    Some(Own {
        choice: "epilogue".into(),
        value: text(&chosen),
        other: other.map(text),
        decided_by,
        reason: reason + &limit,
        figures: object!({
            "chosen": way(&chosen),
            "ways": ways.iter().map(way).collect::<Vec<_>>(),
            "lines_allow_bits": most * bits,
        }),
    })
}
