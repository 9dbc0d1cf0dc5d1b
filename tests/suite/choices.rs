//! The winner of an open spec against every change of one of its choices.

use tilefold::{CompileOptions, Compiled, ElementType, Gemm, OperandLayout, Spec, compile, Plan};
use tilefold_passes::search::schedules::{Choices, Kind, Leaf, rules};

use ElementType::{Bf8, Bf16, F16, F32, Fp8};
use OperandLayout::{Col, Row};

fn open(chip: &str, input: ElementType, sums: ElementType, [a, b]: [OperandLayout; 2], mnk: i64) -> Spec {
    let problem = Gemm::new(chip).m(mnk).n(mnk).k(mnk);
    let spec = problem.a(input, a).b(input, b).c(sums, Col).accumulate(sums);
    spec.build().unwrap()
}

fn f_text(f: tilefold_passes::search::schedules::Figures) -> String {
    format!("exp {:.3} {}v {:.0}us w {:.3}", f.instructions_per_mma, f.vgprs, f.modelled_us, f.waste)
}

fn values(kind: Kind) -> Vec<Leaf> {
    let mut leaves: Vec<Leaf> = rules().flat_map(|r| [r.from, r.to]).filter(|l| l.kind() == kind).collect();
    match kind {
        Kind::Ahead => leaves.extend([3, 5, 6, 7, 10, 12, 14, 20, 24, 28, 40, 48, 56, 64, 96, 128].map(Leaf::Ahead)),
        Kind::Cadence => leaves.extend([3, 5, 6, 8, 16].map(Leaf::Cadence)),
        Kind::M => leaves.extend([144, 176, 208, 240].map(Leaf::M)),
        Kind::N => leaves.extend([144, 176, 208, 240].map(Leaf::N)),
        Kind::K => leaves.extend([48, 96, 256].map(Leaf::K)),
        Kind::WavesM => leaves.extend([3, 5, 6, 7].map(Leaf::WavesM)),
        Kind::WavesN => leaves.extend([3, 5, 6, 7].map(Leaf::WavesN)),
        _ => {}
    }
    leaves.sort(); leaves.dedup();
    leaves
}

fn probe(spec: Spec, kinds: &[Kind]) {
    let t = std::time::Instant::now();
    let winner = compile(&spec, &CompileOptions::default()).unwrap();
    let own = Choices::of(&winner.plan);
    println!("=== {} {:?} {:?} {:?}  {:?}", spec.arch, spec.problem.a, spec.problem.b.layout, spec.problem.m, t.elapsed());
    let show = |c: &Compiled| {
        let s = c.search.scores[c.search.kept];
        let f = c.search.proposals.plans[c.search.kept].figures;
        let m = c.code.resources.main_loop.as_ref().unwrap();
        let e = f.map_or(0.0, |f| f.instructions_per_mma * f64::from(m.mma));
        let f = f.map(|f| format!("d {:+.0} dv {:+} ", f64::from(m.total) - e, i64::from(s.vgprs) - f.vgprs) + &f_text(f));
        format!("{:.3} ({:.3}) {}v spill {}/{}/{} conf {} [{f:?}] mma {} lr {} ls {} gl {} wait {} valu {} salu {} other {}", s.instructions(), s.instructions_per_mma, s.vgprs, s.vgpr_spills, s.sgpr_spills, s.scratch_bytes, s.conflict_cycles, m.mma, m.lds_loads, m.lds_stores, m.global_loads, m.waits, m.valu, m.salu, m.other)
    };
    println!("W {own:?}\n  {}", show(&winner));
    let score = winner.search.scores[winner.search.kept];
    for kind in kinds {
        for leaf in values(*kind) {
            if own.get(*kind) == leaf { continue; }
            let choices = own.with(leaf);
            let mut pinned = spec.clone();
            choices.fill(&mut pinned);
            if Plan::complete(&pinned).is_err() { continue; }
            if let Kind::K = kind { if let Leaf::K(k) = leaf { if spec.problem.k.exact().unwrap() % k != 0 { continue; } } }
            let t = std::time::Instant::now();
            let Ok(other) = compile(&pinned, &CompileOptions::default()) else { continue; };
            let its = other.search.scores.get(other.search.kept).copied();
            let Some(its) = its else { println!("  {leaf} no score"); continue; };
            let mark = match its.compare(&score) { std::cmp::Ordering::Less => "BEATS", std::cmp::Ordering::Equal => "ties ", _ => "     " };
            let kept = Choices::of(&other.plan) == choices;
            println!("  {mark} {leaf} {} {} {:.1}s", if kept { "" } else { "OTHER" }, show(&other), t.elapsed().as_secs_f64());
        }
    }
}

#[test]
#[ignore = "probe"]
fn probe_all() {
    let order = [Kind::Ahead, Kind::Lead, Kind::Commit, Kind::Cadence, Kind::Priority, Kind::Buffers, Kind::Prefetch];
    for chip in ["gfx1201", "gfx1100"] {
        probe(open(chip, F16, F32, [Row, Col], 4096), &order);
    }
    probe(open("gfx1201", Fp8, F32, [Row, Col], 512), &order);
    probe(open("gfx1201", Fp8, F32, [Col, Row], 4096), &order);
    probe(open("gfx1100", Bf16, F32, [Col, Row], 4096), &order);
    probe(open("gfx1100", F16, F16, [Row, Col], 4096), &order);
    probe(open("gfx1201", Bf8, F32, [Row, Row], 1024), &order);
}

#[test]
#[ignore = "probe"]
fn probe_tiles() {
    let tile = [Kind::M, Kind::N, Kind::K, Kind::Slice, Kind::WavesM, Kind::WavesN];
    for chip in ["gfx1201", "gfx1100"] {
        probe(open(chip, F16, F32, [Row, Col], 4096), &tile);
    }
    probe(open("gfx1201", Fp8, F32, [Row, Col], 512), &tile);
    probe(open("gfx1201", Fp8, F32, [Col, Row], 4096), &tile);
    probe(open("gfx1100", F16, F32, [Row, Col], 1056), &tile);
}

#[test]
#[ignore = "probe"]
fn probe_types() {
    for (chip, input) in [("gfx1201", F16), ("gfx1201", Fp8), ("gfx1100", F16)] {
        for orders in [[Row, Col], [Row, Row], [Col, Col], [Col, Row]] {
            for mnk in [4096, 512, 1040] {
                probe(open(chip, input, F32, orders.clone(), mnk), &[]);
            }
        }
    }
    probe(open("gfx1201", F16, F16, [Row, Col], 4096), &[]);
    probe(open("gfx1100", F16, F16, [Row, Col], 4096), &[]);
}
