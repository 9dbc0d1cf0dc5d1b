//! `tilefold explain`: every choice with what it was chosen over, and figures that hold.

use super::{repository, scratch, tilefold};
use serde_json::Value;
use std::collections::BTreeSet;
use tilefold::{Prefetch, Spec};
use tilefold_dialect::atoms::{Direction, Space};
use tilefold_machine::Machine;
use tilefold_passes::{
    addresses,
    search::{
        alternatives, plans,
        schedules::{Alternatives, Figures, Kind, Limits, MARGIN, Reason},
    },
    tiling::{MmaLayouts, copy_layout},
};

fn run(arguments: &[&str]) -> Vec<u8> {
    let output = tilefold(arguments);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output.stdout
}

fn json(spec: &str) -> Value {
    serde_json::from_slice(&run(&["explain", spec, "--report", "json"])).unwrap()
}

fn text(spec: &str) -> String {
    String::from_utf8(run(&["explain", spec])).unwrap()
}

fn u32(value: &Value) -> u32 {
    value.as_u64().unwrap().try_into().unwrap()
}

fn f64(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

/// A problem with f16 inputs, f32 sums and `more` of a plan, as a file.
fn problem(test: &str, arch: &str, more: &str) -> String {
    let file = scratch(test).join(format!("{arch}.toml"));
    let spec = format!(
        "arch = \"{arch}\"\ngemm.m = 4096\ngemm.n = 4096\ngemm.k = 4096\n\
         gemm.a = {{ type = \"f16\", layout = \"row\" }}\n\
         gemm.b = {{ type = \"f16\", layout = \"col\" }}\n\
         gemm.c = {{ type = \"f32\", layout = \"col\" }}\ngemm.accumulate = \"f32\"\n{more}"
    );
    std::fs::write(&file, spec).unwrap();
    file.to_str().unwrap().to_string()
}

#[test]
fn explanations_are_text_and_json() {
    let text = text("specs/gemm.toml");
    println!("{text}");
    for said in [
        "plan for gfx1201",
        "occupancy:",
        "whole workgroup",
        "searched: ",
        "compiled to decide",
        "us modelled",
        "no spills",
        "why, choice by choice",
        "refused with all else as in the plan:",
        "epilogue: ",
        "LDS tile of A: ",
        "LDS tile of B: ",
        "all that the rules reach",
        "Pareto set",
        "compiled, no vector instruction of the main loop computes an address",
    ] {
        assert!(text.contains(said), "{said}");
    }
    assert!(
        !text.contains(['{', '}', '[', ']', '"']),
        "raw JSON in {text}"
    );
    let json = json("specs/gemm.toml");
    assert_eq!(json["address_arithmetic"], 0);
    let finalists = json["finalists"].as_array().unwrap();
    assert_eq!(finalists.iter().filter(|it| it["kept"] == true).count(), 1);
    assert!(finalists[0]["choices"]["lead"].is_string());
    for finalist in finalists {
        // Registers and bytes are no sum.
        for figure in ["vgpr_spills", "sgpr_spills", "scratch_bytes"] {
            assert!(finalist["compiled"][figure].is_number(), "{figure}");
        }
    }
    for operand in ["a", "b"] {
        let found = &json["lds"][operand];
        assert_eq!(found["complete"], true);
        assert!(!found["pareto"].as_array().unwrap().is_empty());
    }
}

#[test]
fn a_spec_that_says_it_all_was_not_searched() {
    let text = text("specs/ladder/8.toml");
    assert!(text.contains("nothing was searched"), "{text}");
    assert!(text.contains("as the spec says: m, n, k"), "{text}");
}

/// What is by default because the search has no place for it is not called said or searched.
#[test]
fn defaults_are_called_defaults() {
    // Its registers are as many as a wave has, without any for addresses.
    let plan = "tile.block = [192, 320, 16]\ntile.waves = [4, 2]\nlds.a = \"pad(8)\"\n\
                lds.b = \"pad(8)\"\nschedule.prefetch = \"none\"\n";
    let file = problem("explain_defaults", "gfx1201", plan);
    let text = text(&file);
    assert!(!text.contains("the spec says it all"), "{text}");
    assert!(
        text.contains("nothing that the rules reach can be built"),
        "{text}"
    );
    assert!(
        text.contains("by default") && text.contains("the search does not build the plan"),
        "{text}"
    );
    every_choice_is_explained(&json(&file));
}

/// A choice has been said, or is beside the best kernel with another value, or there is none for
/// a reason: nothing is left unexplained, and no figure contradicts what it is said to decide.
fn every_choice_is_explained(json: &Value) {
    let why = &json["why"];
    let names: Vec<&str> = why["choices"]
        .as_array()
        .unwrap()
        .iter()
        .map(|choice| choice["choice"].as_str().unwrap())
        .collect();
    assert_eq!(names, Kind::ALL.map(Kind::name));
    let least = why["least_modelled_us"].as_f64();
    let beyond = |us: f64| us > least.unwrap() * (1.0 + MARGIN);
    let instructions = |of: &Value| f64(&of["instructions_per_mma"]) * f64(&of["waste"]);
    for choice in why["choices"].as_array().unwrap() {
        let name = &choice["choice"];
        assert!(!choice["reason"].as_str().unwrap().is_empty(), "{name}");
        let (plan, other) = (&why["expected"], &choice["other"]["expected"]);
        let decided = choice["decided_by"].as_str().unwrap();
        if !other.is_null() {
            assert_ne!(choice["other"]["value"], choice["value"], "{name}");
        }
        let times = || [plan, other].map(|it| f64(&it["modelled_us"]));
        match decided {
            "spec" => {}
            "no-other" | "default" => assert!(other.is_null(), "{choice}"),
            "refused" => {
                assert!(other.is_null(), "{choice}");
                let alone = choice["alone"].as_array().unwrap();
                assert!(!alone.is_empty(), "{choice}");
                assert!(alone.iter().all(|it| it["refused"]["reason"].is_string()));
            }
            "margin" => {
                let [plan, other] = times();
                assert!(!beyond(plan) && beyond(other), "{choice}");
            }
            "instructions" => assert!(instructions(plan) < instructions(other), "{choice}"),
            "time" => {
                let [plan, other] = times();
                assert!(plan < other, "{choice}");
            }
            "registers" => assert!(f64(&plan["vgprs"]) < f64(&other["vgprs"]), "{choice}"),
            "order" => {
                for figure in ["modelled_us", "instructions_per_mma", "waste", "vgprs"] {
                    assert_eq!(plan[figure], other[figure], "{choice}");
                }
            }
            "compiled"
            | "not-compiled"
            | "compiled-spills"
            | "compiled-cut-short"
            | "compiled-instructions"
            | "compiled-conflicts"
            | "compiled-scalars" => {
                assert!(!other.is_null(), "{choice}");
            }
            _ => panic!("{name} was decided by {decided}"),
        }
    }
    for choice in json["copies"].as_array().unwrap() {
        let reason = choice["reason"].as_str().unwrap();
        assert!(!reason.is_empty(), "{choice}");
        let alone = ["spec", "default", "no-other"];
        let explained =
            choice["other"].is_string() || alone.contains(&choice["decided_by"].as_str().unwrap());
        assert!(explained, "{choice}");
    }
}

#[test]
fn every_choice_has_an_alternative_or_a_reason() {
    every_choice_is_explained(&json("specs/gemm.toml"));
    every_choice_is_explained(&json("specs/ladder/5.toml"));
    for (arch, plan) in [
        ("gfx1100", ""),
        (
            "gfx1151",
            "tile.block = [16, 16, 16]\ntile.waves = [1, 1]\n",
        ),
    ] {
        let file = problem("explain_choices", arch, plan);
        every_choice_is_explained(&json(&file));
    }
}

/// The alternatives are the best there are: a search with the choice fixed to each of its other
/// values finds none that is better.
#[test]
fn alternatives_are_the_best_of_restricted_searches() {
    let json = json("specs/gemm.toml");
    let why = &json["why"];
    let limit = f64(&why["least_modelled_us"]) * (1.0 + MARGIN);
    let text = std::fs::read_to_string(repository().join("specs/gemm.toml")).unwrap();
    let restricted = |change: &dyn Fn(&mut Spec)| -> Option<Figures> {
        let mut spec = Spec::from_toml("gemm.toml", text.clone()).unwrap();
        change(&mut spec);
        let found = plans(&spec).ok()?.schedules?;
        Some(found.finalists[0].figures)
    };
    type Change = Box<dyn Fn(&mut Spec)>;
    let depth = |k: i64| -> Change { Box::new(move |spec| spec.plan.tile.block.0[2] = Some(k)) };
    let buffers = |n: i64| -> Change { Box::new(move |spec| spec.plan.lds.buffers = Some(n)) };
    let group =
        |n: i64| -> Change { Box::new(move |spec| spec.plan.schedule.group_rows = Some(n)) };
    let prefetch =
        |how: Prefetch| -> Change { Box::new(move |spec| spec.plan.schedule.prefetch = Some(how)) };
    let cases: [(&str, Vec<(Value, Change)>); 4] = [
        ("k", [16, 32, 64, 128].map(|k| (k.into(), depth(k))).into()),
        ("buffers", [1, 2].map(|n| (n.into(), buffers(n))).into()),
        ("group", [1, 8].map(|n| (n.into(), group(n))).into()),
        (
            "prefetch",
            Prefetch::ALL
                .map(|how| (how.to_string().into(), prefetch(how)))
                .into(),
        ),
    ];
    for (name, values) in cases {
        let choices = why["choices"].as_array().unwrap();
        let choice = choices.iter().find(|it| it["choice"] == name).unwrap();
        let mut found: Vec<Figures> = Vec::new();
        for (value, change) in &values {
            if *value != choice["value"] {
                found.extend(restricted(change));
            }
        }
        let claimed = &choice["other"]["expected"];
        println!("{name}: {claimed} of {found:?}");
        assert!(!found.is_empty(), "{name}");
        if f64(&claimed["modelled_us"]) > limit {
            // Beyond the margin time alone counts, and no restricted search is within it.
            assert!(found.iter().all(|it| it.modelled_us > limit), "{name}");
            continue;
        }
        // A restricted search keeps more than is within the margin of all.
        let within = found.iter().filter(|it| it.modelled_us <= limit);
        let least = within.map(Figures::instructions).min_by(f64::total_cmp);
        let own = f64(&claimed["instructions_per_mma"]) * f64(&claimed["waste"]);
        assert!(least.is_none_or(|least| own <= least), "{name}: {least:?}");
        assert!(found.iter().any(|it| it.instructions() <= own), "{name}");
    }
}

/// What a search leaves out because kernels with as few registers to spare spilled is no
/// alternative, and is refused by that name.
#[test]
fn what_may_spill_is_no_alternative() {
    let text = std::fs::read_to_string(repository().join("specs/gemm.toml")).unwrap();
    let spec = Spec::from_toml("gemm.toml", text).unwrap();
    let plan = plans(&spec).unwrap().plans[0].plan.clone();
    let spared = |spare: i64| {
        alternatives(
            &spec,
            &plan,
            &Limits {
                spare_vgprs: spare,
                ..Limits::default()
            },
        )
        .unwrap()
        .unwrap()
    };
    let best = |of: &Alternatives| -> Vec<i64> {
        let best = of.choices.iter().filter_map(|why| why.best);
        best.map(|best| best.figures.spare_vgprs).collect()
    };
    const SPARE: i64 = 40;
    assert!(best(&spared(0)).iter().any(|spare| *spare < SPARE));
    let spared = spared(SPARE);
    assert!(best(&spared).iter().all(|spare| *spare >= SPARE));
    let alone = spared.choices.iter().flat_map(|why| &why.alone);
    let refused = alone.filter_map(|(_, figures)| figures.err());
    let mut spilled = refused.filter(|refusal| refusal.reason == Reason::TooFewSpare);
    let refusal = spilled.next().expect("a kernel with fewer");
    assert!(refusal.need == Some(SPARE) && refusal.limit < Some(SPARE));
}

/// Explanations stop where the search does, with what they have seen, and say so.
#[test]
fn alternatives_are_looked_for_within_limits() {
    let text = std::fs::read_to_string(repository().join("specs/gemm.toml")).unwrap();
    let spec = Spec::from_toml("gemm.toml", text).unwrap();
    let plan = plans(&spec).unwrap().plans[0].plan.clone();
    let within = |combinations| {
        let limits = Limits {
            combinations,
            ..Limits::default()
        };
        alternatives(&spec, &plan, &limits).unwrap().unwrap()
    };
    let refused = |of: &Alternatives| -> usize {
        let refused = of.choices.iter().flat_map(|why| why.refused.values());
        refused.sum()
    };
    let whole = within(usize::MAX);
    assert!(whole.complete && within(Limits::default().combinations).complete);
    let few = within(1000);
    assert!(!few.complete && refused(&few) < refused(&whole));
    // What it is beside needs no search.
    assert_eq!(few.figures, whole.figures);
}

/// Occupancy by a calculation of its own from the chip's record and the kernel's resources, with
/// what sets it.
#[test]
fn occupancy_follows_from_the_record() {
    let mut limits = BTreeSet::new();
    for (test, arch, plan) in [
        (
            "slots",
            "gfx1201",
            "tile.block = [16, 16, 16]\ntile.waves = [1, 1]\nlds.buffers = 1\n",
        ),
        ("whole", "gfx1100", ""),
        (
            "granule",
            "gfx1201",
            "tile.block = [256, 16, 32]\ntile.waves = [4, 1]\nlds.a = \"pad(8)\"\n\
             lds.b = \"pad(8)\"\nlds.buffers = 1\nschedule.prefetch = \"burst\"\n",
        ),
    ] {
        let file = problem(&format!("explain_occupancy_{test}"), arch, plan);
        let explained = json(&file);
        let occupancy = &explained["occupancy"];
        let report: Value =
            serde_json::from_slice(&run(&["compile", &file, "--report", "json"])).unwrap();
        assert_eq!(*occupancy, report["occupancy"], "{test}");
        let machine = Machine::by_name(arch).unwrap();
        let [vgprs, lds, waves] =
            ["vgprs", "lds_bytes", "workgroup_waves"].map(|figure| u32(&report[figure]));
        let up = |value: u32, granule: u32| value.div_ceil(granule) * granule;
        // Waves that the registers of a SIMD hold, and workgroups of a CU by each limit.
        let by_registers = machine.vgpr.per_simd / up(vgprs, machine.vgpr.granule);
        let whole = [
            by_registers * machine.simds_per_cu / waves,
            machine.lds.per_cu / up(lds, machine.lds.granule),
            machine.max_waves_per_simd * machine.simds_per_cu / waves,
        ];
        let least = whole.into_iter().min().unwrap();
        println!("{test}: {vgprs} VGPRs, {lds} bytes, {waves} waves: {whole:?}; {occupancy}");
        assert_eq!(u32(&occupancy["workgroups"]), least, "{test}");
        assert_eq!(u32(&report["resident_workgroups"]), least, "{test}");
        let resident = f64::from(least * waves) / f64::from(machine.simds_per_cu);
        assert_eq!(
            f64(&occupancy["resident_waves_per_simd"]),
            resident,
            "{test}"
        );
        // LLVM's own figure.
        assert_eq!(
            occupancy["waves_per_simd"], report["waves_per_simd"],
            "{test}"
        );
        let set: Vec<&str> = ["registers", "lds", "wave-slots"]
            .into_iter()
            .zip(whole)
            .filter(|(_, figure)| *figure == least)
            .map(|(name, _)| name)
            .collect();
        assert_eq!(
            occupancy["workgroups_set_by"],
            Value::from(set.clone()),
            "{test}"
        );
        limits.extend(set);
        let text = text(&file);
        assert!(
            text.contains(&format!("{least} whole workgroup")),
            "{test}: {text}"
        );
        if test == "slots" {
            assert_eq!(occupancy["waves_set_by"], Value::from(vec!["wave-slots"]));
        }
        if test == "granule" {
            // 64 KiB hold three times the bytes, and twice what is allocated.
            assert!(machine.lds.per_cu / lds > least, "{lds}");
            assert!(f64(&occupancy["waves_per_simd"]) > resident);
        }
    }
    assert_eq!(limits, BTreeSet::from(["lds", "registers", "wave-slots"]));
}

/// Loads are as wide as was asked for, beside as many as the code has, which LLVM may have joined.
#[test]
fn loads_are_those_asked_for_and_those_compiled() {
    let file = scratch("explain_narrow").join("open.toml");
    let text = "arch = \"gfx1100\"\n[gemm]\nm = 130\nn = 128\nk = 64\n\
                a = { type = \"f16\", layout = \"col\" }\n\
                b = { type = \"f16\", layout = \"col\" }\n\
                c = { type = \"f32\", layout = \"col\" }\naccumulate = \"f32\"\n\
                [tile]\nblock = [64, 64, 32]\nwaves = [2, 2]\n";
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap().to_string();
    let compiled: Value =
        serde_json::from_slice(&run(&["compile", &file, "--report", "json"])).unwrap();
    let loads = u32(&compiled["main_loop"]["global_loads"]);
    let json = json(&file);
    let of = |name: &str| {
        let choices = json["copies"].as_array().unwrap();
        choices
            .iter()
            .find(|it| it["choice"] == name)
            .unwrap()
            .clone()
    };
    let asked = of("loads of A")["value"].as_str().unwrap().to_string();
    assert!(asked.starts_with("32 bits asked for"), "{asked}");
    for name in ["loads of A", "loads of B"] {
        let reason = of(name)["reason"].as_str().unwrap().to_string();
        assert!(
            reason.contains(&format!("a thread has {loads} loads")),
            "{reason}"
        );
    }
}

/// What stores C is said with the ways that there were.
#[test]
fn the_epilogue_is_explained() {
    for (arch, exchanged) in [("gfx1100", true), ("gfx1201", false)] {
        let file = problem("explain_epilogue", arch, "tile.block = [64, 64, 32]\n");
        let json = json(&file);
        let choices = json["copies"].as_array().unwrap();
        let epilogue = choices
            .iter()
            .find(|it| it["choice"] == "epilogue")
            .unwrap();
        let chosen = &epilogue["figures"]["chosen"];
        assert_eq!(chosen["exchanged"], exchanged, "{arch}");
        assert_eq!(chosen["store_bits"], 128, "{arch}");
        // As wide as any, and as many stores as a thread's results need.
        let ways = epilogue["figures"]["ways"].as_array().unwrap();
        assert!(ways.len() > 1, "{arch}");
        for way in ways {
            assert!(u32(&way["store_bits"]) <= 128, "{arch}");
            let bits = u32(&way["store_bits"]) * u32(&way["stores"]);
            let waves = &json["plan"]["tile"]["waves"];
            let threads = 32 * u32(&waves[0]) * u32(&waves[1]);
            assert_eq!(bits * threads, 64 * 64 * 32, "{arch}: {way}");
        }
    }
}

/// The registers that addresses are said to take are those that the layouts' search counted, and
/// with scalars and constants they are every thread's offset, as the layouts have it.
#[test]
fn addresses_are_what_layouts_say() {
    let json = json("specs/gemm.toml");
    for (operand, name) in ["A", "B"].into_iter().enumerate() {
        let groups = json["addresses"].as_array().unwrap();
        let of_lds = groups.iter().filter(|group| {
            let what = group["accesses_of"].as_str().unwrap();
            what.contains("LDS") && what.contains(&format!(" {name} "))
        });
        let registers: u32 = of_lds.map(|group| u32(&group["registers"])).sum();
        let best = &json["lds"][["a", "b"][operand]]["best"];
        assert_eq!(registers, u32(&best["registers"]), "{name}");
    }
    for group in json["addresses"].as_array().unwrap() {
        assert!(u32(&group["registers"]) >= u32(&group["fewest"]), "{group}");
        assert!(group["chain"]["steps"].is_array(), "{group}");
    }
    let shown = run(&["explain", "specs/gemm.toml", "--addresses"]);
    let shown = String::from_utf8(shown).unwrap();
    let last = &json["addresses"][0]["chain"]["terms"];
    let last = last.as_array().unwrap().last().unwrap().as_str().unwrap();
    assert!(shown.contains(last), "{last} is not in {shown}");

    let completed = serde_json::to_string(&json["plan"]).unwrap();
    let spec: Spec = serde_json::from_str(&completed).unwrap();
    let plan = tilefold::Plan::complete(&spec).unwrap();
    let mma = MmaLayouts::new(plan.atom, plan.block, &plan.wave_layout).unwrap();
    let bytes = i64::from(plan.input().bits()) / 8;
    let mut checked = 0;
    for group in addresses(&plan).unwrap() {
        let last = group.placement.accesses().len() - 1;
        let chain = group.placement.explain(last).unwrap();
        chain.check(&tilefold_address::Limits::default()).unwrap();
        if group.space != Space::Lds {
            continue;
        }
        let operand = group.operand;
        let tile = [plan.block[operand], plan.block[2]];
        let layout = match group.direction {
            Direction::Load => [&mma.a, &mma.b][operand].clone(),
            Direction::Store => {
                copy_layout(&plan.copies[operand].0, &plan.stores[operand], tile).unwrap()
            }
        };
        let width = group.bits / (8 * bytes);
        let [threads, values] = [0, 1].map(|mode| layout.mode(mode).unwrap());
        let threads: Vec<i64> = threads.offsets().collect();
        let starts = values.offsets().step_by(width as usize);
        for (access, value) in group.placement.accesses().iter().zip(starts) {
            let register = &group.placement.registers()[access.register];
            for (thread, first) in threads.iter().enumerate() {
                let offset = plan.lds[operand].at(first + value) * bytes;
                let found = register.evaluate(|_| thread as u32) + access.immediate;
                assert_eq!(i64::from(found), offset, "{group:?} thread {thread}");
                checked += 1;
            }
        }
    }
    assert!(checked > 1000, "{checked}");
}
