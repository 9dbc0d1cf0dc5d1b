//! Estimates beside the published times.

use std::fmt::Write;

use tilefold_cost::{MARGIN, Part, prune};

use crate::published::{CHIPS, STEPS, Step, model};

/// Every published time: chip, step, estimate and time in milliseconds.
fn rows() -> Vec<(usize, &'static Step, f64, f64)> {
    let mut rows = Vec::new();
    for (chip, name) in CHIPS.iter().enumerate() {
        for step in &STEPS {
            if let Some(published) = step.ms[chip] {
                let cost = model(name).cost(&step.kernel(chip)).expect("it ran");
                rows.push((chip, step, cost.microseconds / 1e3, published));
            }
        }
    }
    rows
}

#[test]
fn estimates_beside_published_times() {
    let mut table = format!(
        "{:8} {:11} {:>8} {:>9} {:>6}  n {:>7} {:>6} {:>6} {:>6}  by\n",
        "chip", "step", "ms", "published", "off", "K tile", "matrix", "issue", "memory"
    );
    for (chip, step, estimate, published) in rows() {
        let cost = model(CHIPS[chip]).cost(&step.kernel(chip)).expect("it ran");
        writeln!(
            table,
            "{:8} {:11} {estimate:8.2} {published:9.2} {:>+5.1}%  {} {:7.0} {:6.0} {:6.0} {:6.0}  {:?}",
            CHIPS[chip],
            step.name,
            (estimate / published - 1.0) * 100.0,
            cost.resident,
            cost.k_tile.cycles,
            cost.k_tile.matrix_cycles,
            cost.k_tile.issue_cycles,
            cost.k_tile.memory_cycles,
            cost.dominated_by,
        )
        .expect("a string takes everything");
    }
    insta::assert_snapshot!(table);
}

#[test]
fn error_over_the_ladder() {
    let rows = rows();
    assert_eq!(rows.len(), 29);
    let squares: f64 = rows
        .iter()
        .map(|(_, _, estimate, published)| (estimate / published).ln().powi(2))
        .sum();
    let rms = (squares / rows.len() as f64).sqrt();
    assert!((0.0765..0.0785).contains(&rms), "rms error {rms:.4}");
}

/// Pairs of kernels that the ladder sets against each other: one device, one size. The variants
/// of step 3 differ from step 2 by less than the timings repeat and are left out.
#[test]
fn pairs_are_in_the_published_order() {
    let rows: Vec<_> = rows()
        .into_iter()
        .filter(|(_, step, ..)| !step.name.starts_with('3'))
        .collect();
    let mut pairs = [0, 0];
    for (i, (chip, step, estimate, published)) in rows.iter().enumerate() {
        for (other_chip, other, other_estimate, other_published) in &rows[..i] {
            if chip == other_chip && step.size == other.size {
                assert_eq!(
                    estimate < other_estimate,
                    published < other_published,
                    "{}: {} against {}",
                    CHIPS[*chip],
                    step.name,
                    other.name
                );
                pairs[usize::from(step.size != [8192; 3])] += 1;
            }
        }
    }
    // 51 at the square size, one more at the wide one.
    assert_eq!(pairs, [51, 1]);
}

#[test]
fn the_tuned_tile_is_preferred() {
    let time = |step| {
        let cost = model("gfx1201").cost(&Step::named(step).kernel(2));
        cost.expect("it ran").microseconds
    };
    let ratio = time("8") / time("tuned");
    assert!((1.125..1.145).contains(&ratio), "{ratio}; published: 1.127");
}

#[test]
fn what_dominates() {
    let by = |step, chip| {
        let cost = model(CHIPS[chip]).cost(&Step::named(step).kernel(chip));
        cost.expect("it ran").dominated_by
    };
    for chip in 0..CHIPS.len() {
        assert_eq!(by("2", chip), Part::Memory);
        assert_eq!(by("5", chip), Part::Memory);
    }
    assert_eq!(by("8", 0), Part::Matrix);
    assert_eq!(by("tuned", 2), Part::Matrix);
}

#[test]
fn whole_lines_are_counted() {
    let k_tile = |step| {
        let cost = model("gfx1100").cost(&Step::named(step).kernel(0));
        cost.expect("it ran").k_tile
    };
    // A slice of 32 bytes asks for its whole line: 64 KB a workgroup, of which 16 are useful.
    assert_eq!(k_tile("2").line_bytes, 70.0 * 65536.0);
    assert_eq!(k_tile("7").line_bytes, 70.0 * 28.0 * 1024.0);
    // Row-major order of 70 workgroups in 86 columns: about 9 GB over the kernel, as published.
    let missed = k_tile("5").missed_bytes * 128.0 * (64.0 * 86.0 / 70.0);
    assert!((8.5e9..9.5e9).contains(&missed), "{missed:e}");
}

#[test]
fn pruning_the_ladder_keeps_its_best() {
    let steps: Vec<_> = STEPS
        .iter()
        .filter(|step| step.size == [8192; 3] && step.ms[2].is_some())
        .collect();
    let kernels: Vec<_> = steps.iter().map(|step| step.kernel(2)).collect();
    let kept = prune(&model("gfx1201"), &kernels, MARGIN);
    let names: Vec<_> = kept.iter().map(|of| steps[of.index].name).collect();
    assert_eq!(names, ["tuned", "8"]);
}
