//! The algebra against answers of compiled CuTe, each compared in the way its record asks for.
//!
//! The records are read from the folder that `TILEFOLD_VECTORS` names, else from
//! `../shared/vectors` beside the workspace; with neither the test says so and passes.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tilefold_layout::{
    Basis, ComposedLayout, IntTuple, Layout, Nest, SliceCoord, Swizzle, Tiler, domain_distribute,
    idx2crd, max_common_layout, max_common_vector, recognise, zip,
};

/// An operation's answer as text and, for layouts, what it was made from.
enum Answer {
    Layout(ComposedLayout),
    Text(String),
}

type Outcome = Result<Answer, String>;

impl From<ComposedLayout> for Answer {
    fn from(layout: ComposedLayout) -> Self {
        Answer::Layout(layout)
    }
}

impl From<Layout> for Answer {
    fn from(layout: Layout) -> Self {
        Answer::Layout(layout.into())
    }
}

impl Answer {
    fn text(&self) -> String {
        match self {
            Answer::Layout(layout) => layout.to_string(),
            Answer::Text(text) => text.clone(),
        }
    }

    /// The text with tuples of one element unwrapped and the stride of every extent of 1 zero.
    fn normal(&self) -> String {
        match self {
            Answer::Layout(layout) => {
                let inner = layout.inner();
                let (shape, stride) = normalised(inner.shape(), inner.stride());
                let inner = Layout::new(shape, stride).expect("normalisation keeps a layout valid");
                layout
                    .map_inner(|_| Ok(inner))
                    .expect("the offset is unchanged")
                    .to_string()
            }
            Answer::Text(text) => text.clone(),
        }
    }
}

fn normalised(shape: &IntTuple, stride: &IntTuple) -> (IntTuple, IntTuple) {
    match (shape, stride) {
        (Nest::Tuple(n), Nest::Tuple(d)) => {
            let (mut n, mut d): (Vec<_>, Vec<_>) =
                n.iter().zip(d).map(|(n, d)| normalised(n, d)).unzip();
            if n.len() == 1 {
                (n.remove(0), d.remove(0))
            } else {
                (Nest::Tuple(n), Nest::Tuple(d))
            }
        }
        (Nest::Int(1), _) => (Nest::Int(1), Nest::Int(0)),
        _ => (shape.clone(), stride.clone()),
    }
}

fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

fn parse<T: std::str::FromStr>(value: &Value) -> Result<T, String>
where
    T::Err: std::fmt::Display,
{
    let text = text(value);
    text.parse().map_err(|e| format!("{text}: {e}"))
}

fn tiler(value: &Value) -> Result<Tiler, String> {
    match value {
        Value::Null => Ok(Tiler::Whole),
        Value::Array(items) => Ok(Tiler::Modes(
            items.iter().map(tiler).collect::<Result<_, _>>()?,
        )),
        other => parse(other),
    }
}

fn profile(value: &Value) -> IntTuple {
    match value {
        Value::Array(items) => Nest::Tuple(items.iter().map(profile).collect()),
        other => Nest::Int(other.as_i64().expect("profiles hold integers")),
    }
}

fn coord(value: &Value) -> SliceCoord {
    match value {
        Value::Array(items) => Nest::Tuple(items.iter().map(coord).collect()),
        Value::Null => Nest::Int(None),
        other => Nest::Int(Some(other.as_i64().expect("coordinates hold integers"))),
    }
}

fn compose(a: &Value, b: &Value) -> Outcome {
    let show = |e: tilefold_layout::LayoutError| e.to_string();
    let (left, right) = (text(a), text(b));
    if right.contains('@') {
        let basis: Layout<Basis> = parse(b)?;
        return Ok(parse::<Layout>(a)?.compose(&basis).map_err(show)?.into());
    }
    if left.starts_with("Sw") && !left.contains(" o ") {
        return Ok(ComposedLayout::new(parse::<Swizzle>(a)?, parse(b)?).into());
    }
    if right.starts_with("Sw") {
        return Ok(parse::<Layout>(a)?
            .compose_swizzled(&parse(b)?)
            .map_err(show)?
            .into());
    }
    Ok(parse::<ComposedLayout>(a)?
        .compose_by(&tiler(b)?)
        .map_err(show)?
        .into())
}

fn evaluate(op: &str, inputs: &Value) -> Outcome {
    let get = |name: &str| inputs.get(name).unwrap_or(&Value::Null);
    let (a, b) = (get("a"), get("b"));
    let layout = || parse::<Layout>(a);
    let composed = || parse::<ComposedLayout>(a);
    let number = |name: &str| get(name).as_i64().ok_or(format!("{name} is no integer"));
    let plain = |r: tilefold_layout::Result<Layout>| -> Outcome {
        r.map(Answer::from).map_err(|e| e.to_string())
    };
    let mixed = |r: tilefold_layout::Result<ComposedLayout>| -> Outcome {
        r.map(Answer::from).map_err(|e| e.to_string())
    };
    let said = |value: &dyn std::fmt::Display| -> Outcome { Ok(Answer::Text(value.to_string())) };
    match op {
        "composition" => compose(a, b),
        "coalesce" => match inputs.get("profile") {
            Some(p) => plain(layout()?.coalesce_by(&profile(p))),
            None => mixed(Ok(composed()?.coalesce())),
        },
        "filter" => match inputs.get("profile") {
            Some(p) => plain(layout()?.filter_by(&profile(p))),
            None => plain(Ok(layout()?.filter())),
        },
        "filter_zeros" => plain(Ok(layout()?.filter_zeros())),
        "flatten" => plain(Ok(layout()?.flatten())),
        "complement" => match inputs.get("cotarget") {
            Some(c) => plain(layout()?.complement_shape(&parse(c)?)),
            None => plain(layout()?.complement_self()),
        },
        "right_inverse" => mixed(composed()?.right_inverse()),
        "left_inverse" => mixed(composed()?.left_inverse()),
        "logical_divide" => mixed(composed()?.logical_divide(tiler(b)?)),
        "zipped_divide" => mixed(composed()?.zipped_divide(tiler(b)?)),
        "tiled_divide" => mixed(composed()?.tiled_divide(tiler(b)?)),
        "flat_divide" => mixed(composed()?.flat_divide(tiler(b)?)),
        "hier_unzip_divide" => plain(layout()?.hier_unzip_divide(tiler(b)?)),
        "logical_product" => plain(layout()?.logical_product(tiler(b)?)),
        "zipped_product" => plain(layout()?.zipped_product(tiler(b)?)),
        "tiled_product" => plain(layout()?.tiled_product(tiler(b)?)),
        "flat_product" => plain(layout()?.flat_product(tiler(b)?)),
        "hier_unzip_product" => plain(layout()?.hier_unzip_product(tiler(b)?)),
        "blocked_product" => plain(layout()?.blocked_product(&parse(b)?)),
        "raked_product" => plain(layout()?.raked_product(&parse(b)?)),
        "zip" => plain(zip(&layout()?, &parse(b)?)),
        "tile_to_shape" => {
            let order = inputs.get("order").map(parse::<IntTuple>).transpose()?;
            mixed(composed()?.tile_to_shape(&parse(get("shape"))?, order.as_ref()))
        }
        "upcast" => mixed(composed()?.upcast(number("n")?)),
        "downcast" => mixed(composed()?.downcast(number("n")?)),
        "nullspace" => plain(Ok(layout()?.nullspace())),
        "domain_distribute" => {
            let count = text(b).parse().map_err(|_| format!("{b} is no integer"))?;
            plain(domain_distribute(&parse(get("shape"))?, count))
        }
        "max_common_layout" => plain(max_common_layout(&layout()?, &parse(b)?)),
        "max_common_vector" => said(&max_common_vector(&layout()?, &parse(b)?)),
        "make_layout_left" => plain(Layout::compact_left(parse::<IntTuple>(get("shape"))?)),
        "make_layout_right" => plain(Layout::compact_right(parse::<IntTuple>(get("shape"))?)),
        "make_layout_like" => plain(layout()?.compact_like()),
        "make_ordered_layout" => plain(Layout::ordered(
            parse::<IntTuple>(get("shape"))?,
            &parse(get("order"))?,
        )),
        "slice" => plain(layout()?.slice(&coord(get("coord")))),
        "swizzle_apply" => said(&parse::<Swizzle>(a)?.apply(number("idx")?)),
        "size" => said(&composed()?.size()),
        "cosize" => said(&composed()?.cosize()),
        "rank" => said(&composed()?.rank()),
        "depth" => said(&composed()?.depth()),
        "crd2idx" => {
            let coord = profile(get("coord"));
            said(&composed()?.at_coord(&coord).map_err(|e| e.to_string())?)
        }
        "idx2crd" => said(&idx2crd(number("idx")?, &parse(get("shape"))?)),
        "get_hier_coord" => said(&layout()?.get_hier_coord(number("idx")?)),
        "get_flat_coord" => said(&layout()?.get_flat_coord(number("idx")?)),
        "get_1d_coord" => said(&layout()?.get_1d_coord(number("idx")?)),
        other => Err(format!("no operation `{other}`")),
    }
}

/// Whether the record's answer is met; else what was found.
fn verdict(record: &Value) -> Result<(), String> {
    let op = record["op"]
        .as_str()
        .expect("every record has an operation");
    let expected = record["expected"]
        .as_str()
        .expect("every record has an answer");
    let outcome = evaluate(op, &record["inputs"]);
    let found = match &outcome {
        Ok(answer) => answer.text(),
        Err(message) => format!("error: {message}"),
    };
    let table = || -> bool {
        let Some(table) = record["table"].as_array() else {
            return true;
        };
        match &outcome {
            Ok(Answer::Layout(layout)) => {
                let want: Option<Vec<i64>> = table.iter().map(Value::as_i64).collect();
                want == Some(layout.offsets().collect())
            }
            _ => true,
        }
    };
    let met = match record["match"]
        .as_str()
        .expect("every record says how to compare")
    {
        "exact" => found == expected && table(),
        "normal" => {
            outcome
                .as_ref()
                .is_ok_and(|a| Some(a.normal().as_str()) == record["normal"].as_str())
                && table()
        }
        "any_of" => {
            let accept = record["accept"]
                .as_array()
                .expect("any_of lists what is accepted");
            let name = if outcome.is_ok() {
                found.as_str()
            } else {
                "error"
            };
            accept.iter().any(|a| a.as_str() == Some(name))
        }
        "property" => {
            let a: ComposedLayout = parse(&record["inputs"]["a"])?;
            match &outcome {
                Ok(Answer::Layout(r)) => (0..a.size()).all(|i| a.at(r.at(a.at(i))) == a.at(i)),
                _ => false,
            }
        }
        "exact_or_error" => outcome.is_err() || found == expected,
        "error" => outcome.is_err(),
        "unsupported_in_cute" => outcome.is_err() || functionally_right(op, record, &outcome),
        other => return Err(format!("no comparison `{other}`")),
    };
    if met {
        Ok(())
    } else {
        Err(format!("expected {expected}, found {found}"))
    }
}

/// For what CuTe cannot compile: the listed texts, or the definition of the operation.
fn functionally_right(op: &str, record: &Value, outcome: &Outcome) -> bool {
    let Ok(answer) = outcome else { return true };
    if let Some(accept) = record["accept"].as_array()
        && accept.iter().any(|a| a.as_str() == Some(&answer.text()))
    {
        return true;
    }
    let a: ComposedLayout = parse(&record["inputs"]["a"]).expect("inputs are layouts");
    match (op, answer) {
        ("right_inverse", Answer::Layout(r)) => (0..r.size()).all(|i| a.at(r.at(i)) == i),
        ("left_inverse", Answer::Layout(r)) => {
            (0..a.size()).all(|i| a.at(r.at(a.at(i))) == a.at(i))
        }
        // Products reach each block once: the block's offsets, shifted clear of one another.
        ("blocked_product" | "raked_product", Answer::Layout(r)) => {
            let b: Layout = parse(&record["inputs"]["b"]).expect("inputs are layouts");
            let mut offsets: Vec<i64> = r.offsets().collect();
            offsets.sort_unstable();
            let distinct = offsets.windows(2).all(|w| w[0] != w[1]);
            distinct && r.size() == a.size() * b.size()
        }
        ("max_common_vector", Answer::Text(n)) => {
            let b: Layout = parse(&record["inputs"]["b"]).expect("inputs are layouts");
            let inverse = b.right_inverse();
            let n: i64 = n.parse().expect("the answer is a number");
            (0..n).all(|i| a.at(inverse.at(i)) == i && b.at(inverse.at(i)) == i)
        }
        _ => false,
    }
}

/// Says something that the harness does not swallow when the test passes.
fn say(text: &str) {
    // Nobody is left to tell where even that fails.
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The records of one file, or why there are none.
fn records(name: &str) -> Option<Value> {
    let Some(folder) = folder() else {
        say("skipped: TILEFOLD_VECTORS is not set and ../shared/vectors is not there");
        return None;
    };
    let file = folder.join(name);
    let json = std::fs::read_to_string(&file)
        .unwrap_or_else(|e| panic!("TILEFOLD_VECTORS needs {}: {e}", file.display()));
    Some(serde_json::from_str(&json).expect("the records are JSON"))
}

fn folder() -> Option<PathBuf> {
    if let Some(named) = std::env::var_os("TILEFOLD_VECTORS") {
        return Some(named.into());
    }
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/vectors");
    beside.is_dir().then_some(beside)
}

#[test]
fn conformance() {
    let Some(Value::Array(records)) = records("layout_algebra.json") else {
        return;
    };
    assert!(!records.is_empty(), "there are no records");
    let mut failures = Vec::new();
    for record in &records {
        if let Err(why) = verdict(record) {
            let (id, inputs) = (&record["id"], &record["inputs"]);
            failures.push(format!("{id} [{}] {inputs}: {why}", record["match"]));
        }
    }
    say(&format!("checked {} cases of CuTe", records.len()));
    let count = failures.len();
    assert!(
        failures.is_empty(),
        "{count} of {} differ:\n{}",
        records.len(),
        failures.join("\n")
    );
}

/// Matrix instructions: the table of each operand is its thread-value layout, and is recognised as
/// such.
#[test]
fn operands_of_matrix_instructions() {
    let Some(records) = records("mma_atoms.json") else {
        return;
    };
    let atoms = records["mma"]
        .as_array()
        .expect("there is a list of instructions");
    let mut operands = 0;
    for atom in atoms.iter().filter(|atom| atom["tv_layout"].is_object()) {
        let extent = |name: &str| {
            atom[name]
                .as_i64()
                .expect("every instruction has its extents")
        };
        for (operand, height, transposed) in [
            ("A", extent("M"), false),
            ("B", extent("N"), true),
            ("C", extent("M"), false),
        ] {
            let text = &atom["tv_layout"][operand];
            if text.is_null() {
                continue;
            }
            let layout: Layout = parse(text).expect("it is a layout");
            let numbers = |name: &str| -> Vec<Vec<i64>> {
                serde_json::from_value(atom[operand][name].clone()).expect("a table of integers")
            };
            let (rows, columns) = (numbers("rows"), numbers("cols"));
            let (lanes, values) = (rows.len(), rows[0].len());
            let mut table = Vec::with_capacity(lanes * values);
            for value in 0..values {
                for lane in 0..lanes {
                    let (row, column) = (rows[lane][value], columns[lane][value]);
                    // B is a K x N matrix whose layout is over (n,k).
                    let (fast, slow) = if transposed {
                        (column, row)
                    } else {
                        (row, column)
                    };
                    table.push(fast + height * slow);
                }
            }
            let name = &atom["id"];
            assert_eq!(
                layout.offsets().collect::<Vec<_>>(),
                table,
                "{name} {operand}"
            );
            let found = recognise(&table).unwrap_or_else(|| panic!("{name} {operand}"));
            assert_eq!(found, layout.coalesce().into(), "{name} {operand}");
            operands += 1;
        }
    }
    say(&format!(
        "checked {operands} operands of matrix instructions"
    ));
    assert!(operands > 0, "there are no operands");
}
