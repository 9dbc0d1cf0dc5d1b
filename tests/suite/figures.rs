//! Figures of `tilefold explain`: one for each plan, and near what is compiled.

use super::{scratch, tilefold};
use serde_json::Value;

fn explained(test: &str, spec: &str) -> Value {
    let file = scratch(test).join("open.toml");
    std::fs::write(&file, spec).unwrap();
    let output = tilefold(&["explain", file.to_str().unwrap(), "--report", "json"]);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn finalists(json: &Value) -> &[Value] {
    json["finalists"].as_array().unwrap()
}

fn choices(json: &Value) -> &[Value] {
    json["why"]["choices"].as_array().unwrap()
}

/// What each table says of a plan is the same, and what it compiles to.
#[test]
fn a_plan_has_one_expected_figure() {
    let json = explained(
        "figures_one",
        "arch = \"gfx1201\"\ngemm.m = 4095\ngemm.n = 4095\ngemm.k = 4096\n\
         gemm.a = { type = \"f16\", layout = \"row\" }\n\
         gemm.b = { type = \"f16\", layout = \"row\" }\n\
         gemm.c = { type = \"f32\", layout = \"row\" }\ngemm.accumulate = \"f32\"\n",
    );
    let mut kept = finalists(&json).iter().filter(|it| it["kept"] == true);
    let kept = kept.next().unwrap();
    assert_eq!(json["why"]["expected"], kept["expected"]);
    for finalist in finalists(&json) {
        let figure = |of: &str| finalist[of]["instructions_per_mma"].as_f64().unwrap();
        let factor = figure("compiled") / figure("expected");
        println!("{} and {}", figure("expected"), figure("compiled"));
        assert!((1.0 / 1.03..1.03).contains(&factor), "{finalist}");
        // Where it is what a choice was made over, too.
        for choice in choices(&json) {
            let Some(with) = choice["other"]["with"].as_object() else {
                continue;
            };
            let mut values = kept["choices"].clone();
            for (name, value) in with {
                values[name] = value.clone();
            }
            values[choice["choice"].as_str().unwrap()] = choice["other"]["value"].clone();
            if values == finalist["choices"] {
                assert_eq!(choice["other"]["expected"], finalist["expected"]);
            }
        }
    }
}

/// A plan has not lost to itself.
#[test]
fn what_lost_is_another_kernel() {
    let json = explained(
        "figures_lost",
        "arch = \"gfx1201\"\ngemm.m = 4096\ngemm.n = 100\ngemm.k = \"any\"\n\
         gemm.a = { type = \"fp8\", layout = \"row\" }\n\
         gemm.b = { type = \"fp8\", layout = \"row\", ld = 133 }\n\
         gemm.c = { type = \"bf16\", layout = \"row\" }\ngemm.accumulate = \"f32\"\n",
    );
    let kept = finalists(&json).iter().position(|it| it["kept"] == true);
    let own = format!("compiled kernel {} ", kept.unwrap() + 1);
    let mut seen = Vec::new();
    for choice in choices(&json) {
        let reason = choice["reason"].as_str().unwrap();
        println!("{}: {reason}", choice["choice"]);
        assert!(!reason.contains(&own), "{choice}");
        seen.push(choice["decided_by"].as_str().unwrap());
    }
    // There is what the model puts before the plan.
    assert!(
        seen.contains(&"not-compiled") || seen.contains(&"compiled"),
        "{seen:?}"
    );
}
