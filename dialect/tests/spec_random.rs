//! Whatever the bytes, reading a spec answers: no panic, no overflow, no endless work.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use tilefold_dialect::spec::{MAX_BYTES, Spec};

const GOOD: [&str; 3] = [
    include_str!("../../specs/gemm.toml"),
    include_str!("../../specs/ladder/4.toml"),
    r#"arch = "gfx1151"
gemm = { m = 640, n = "any", k = 0x40, accumulate = "f32" }
gemm.a = { type = "bf16", layout = "(640,(8,8)):(64,(1,8))" }
gemm.b = { type = "bf16", layout = "row", ld = 1000 }
gemm.c = { type = "f32", layout = "col" }

[tile]
block = [64, 64, 32]

[copy.a]
threads = "(16,8):(8,1)"
values = "(1,4):(4,1)"

[mma]
waves = "(2,2):(1,2)"

[lds]
a = "Sw<2,3,3> o 0 o (64,32):(32,1)"
b = "(64,(8,4)):(40,(1,8))"

[schedule]
prefetch = "none"
priority = false
"#,
];

/// Pieces from which misleading specs are put together.
const PIECES: [&str; 40] = [
    "arch",
    "gemm",
    "tile",
    "block",
    "waves",
    "lds",
    "copy",
    "a",
    "b",
    "threads",
    "schedule",
    "m",
    "=",
    "=",
    ".",
    "[",
    "]",
    "{",
    "}",
    "[[",
    "]]",
    ",",
    "\n",
    "\n",
    "\"gfx1201\"",
    "\"row\"",
    "\"",
    "'",
    "\\",
    "#",
    "\"pad(8)\"",
    "\"pad(99999999999999999999)\"",
    "\"(4,2):(2,1)\"",
    "\"Sw<9,9,9> o 0 o 4:1\"",
    "9223372036854775807",
    "-9223372036854775808",
    "0x7fff",
    "1e999",
    "1979-05-27T07:32:00Z",
    "true",
];

/// Layouts, some of them far beyond 64 bits.
fn layout() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        (-2i64..70).prop_map(|n| n.to_string()),
        any::<i64>().prop_map(|n| n.to_string()),
        Just("4611686018427387904".to_owned()),
    ];
    let nest = number.prop_recursive(3, 12, 4, |inner| {
        prop::collection::vec(inner, 1..4).prop_map(|items| format!("({})", items.join(",")))
    });
    (
        nest.clone(),
        nest,
        prop::option::of((0i64..9, 0i64..9, -9i64..9, any::<i64>())),
    )
        .prop_map(|(shape, stride, swizzle)| match swizzle {
            None => format!("{shape}:{stride}"),
            Some((b, m, s, offset)) => format!("Sw<{b},{m},{s}> o {offset} o {shape}:{stride}"),
        })
}

/// A good spec in which values are replaced by others of the right form.
fn plausible() -> impl Strategy<Value = String> {
    let number = prop_oneof![1i64..300, any::<i64>()];
    let numbers = prop::collection::vec(number, 6);
    (numbers, prop::collection::vec(layout(), 5), layout()).prop_map(|(n, l, operand)| {
        format!(
            "arch = \"gfx1201\"\n\
             [gemm]\nm = {}\nn = \"any\"\nk = 64\naccumulate = \"f32\"\n\
             a = {{ type = \"f16\", layout = \"{operand}\" }}\n\
             b = {{ type = \"f16\", layout = \"row\", ld = {} }}\n\
             c = {{ type = \"f16\", layout = \"col\" }}\n\
             [tile]\nblock = [{}, {}, 32]\nwaves = [{}, {}]\n\
             [copy.a]\nthreads = \"{}\"\nvalues = \"{}\"\n\
             [mma]\nwaves = \"{}\"\n\
             [lds]\na = \"{}\"\nb = \"{}\"\n",
            n[0], n[1], n[2], n[3], n[4], n[5], l[0], l[1], l[2], l[3], l[4]
        )
    })
}

/// A good spec with lines replaced by lines of another, so that fields contradict one another.
fn one_field_of_a_good_spec() -> impl Strategy<Value = String> {
    let keys = [
        ("copy.a.threads", "copy"),
        ("copy.a.values", "copy"),
        ("mma.waves", "mma"),
        ("lds.a", "lds"),
        ("lds.b", "lds"),
    ];
    (prop::sample::select(keys.to_vec()), layout(), any::<bool>()).prop_map(
        |((key, _), layout, block)| {
            let block = if block {
                "tile.block = [64, 64, 32]\n"
            } else {
                ""
            };
            format!("{block}{key} = \"{layout}\"\n{}", GOOD[0])
        },
    )
}

fn mutated() -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<prop::sample::Index>(),
        0usize..12,
        prop::sample::select(PIECES.to_vec()),
    );
    (
        prop::sample::select(GOOD.to_vec()),
        prop::collection::vec(edit, 1..6),
    )
        .prop_map(|(good, edits)| {
            let mut bytes = good.as_bytes().to_vec();
            for (at, length, piece) in edits {
                let at = at.index(bytes.len() + 1);
                let end = (at + length).min(bytes.len());
                bytes.splice(at..end, piece.bytes());
            }
            bytes
        })
}

fn soup() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(prop::sample::select(PIECES.to_vec()), 0..200)
        .prop_map(|pieces| pieces.join(" ").into_bytes())
}

fn anything() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => mutated(),
        2 => soup(),
        2 => plausible().prop_map(String::into_bytes),
        2 => one_field_of_a_good_spec().prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..400),
    ]
}

#[test]
fn ten_thousand_random_specs_are_answered() {
    let config = Config {
        cases: 10_000,
        failure_persistence: None,
        ..Config::default()
    };
    let rng = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    let good = Cell::new(0);
    TestRunner::new_with_rng(config, rng)
        .run(&anything(), |bytes| {
            good.set(good.get() + u32::from(is_spec(&bytes)));
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
    // A generator of nothing but rubbish would not get past the parser.
    assert!(
        (100..9_900).contains(&good.get()),
        "{} of 10,000 are good",
        good.get()
    );
}

/// Reads the bytes and uses what comes of it; answers whether they are a spec.
fn is_spec(bytes: &[u8]) -> bool {
    match Spec::from_toml("random", bytes) {
        Ok(spec) => {
            assert_eq!(Spec::from_toml("again", spec.to_toml()).unwrap(), spec);
            true
        }
        Err(error) => {
            assert!(!error.rule().is_empty() && !error.help().is_empty());
            let _ = error.span();
            false
        }
    }
}

#[test]
fn hostile_texts_are_answered() {
    let repeated = |piece: &str| piece.repeat(MAX_BYTES / piece.len());
    let mut texts: Vec<String> = [
        "[", "{", "a.", "[a]\n", "[[a]]\n", "\"", "'", "\\", "a=[", "a={", "#", "\n", "=", "\"\\\n",
    ]
    .map(repeated)
    .to_vec();
    let key = "k".repeat(MAX_BYTES / 2);
    texts.push(format!("{key} = [{}]", "1,".repeat(MAX_BYTES / 4 - 8)));
    texts.push(format!("[{key}]\n{}", many_keys(MAX_BYTES / 2 - 64)));
    texts.push(many_keys(MAX_BYTES));
    texts.push(format!(
        "[tile]\nblock = [{}1]",
        "1,".repeat(MAX_BYTES / 2 - 64)
    ));
    texts.push(format!("arch = \"{}\"", "x".repeat(MAX_BYTES - 16)));
    let parentheses = "(".repeat(MAX_BYTES / 2);
    texts.push(format!("{}\n[mma]\nwaves = \"{parentheses}\"", GOOD[0]));
    texts.push(format!(
        "{}\n[lds]\na = \"pad({})\"",
        GOOD[0],
        "9".repeat(MAX_BYTES / 2)
    ));
    texts.push(format!(
        "{}\n[atoms]\nmma = \"{}\"",
        GOOD[0],
        "9x".repeat(MAX_BYTES / 4)
    ));
    for text in &texts {
        assert!(
            text.len() <= MAX_BYTES,
            "it must get past the limit of length"
        );
        is_spec(text.as_bytes());
    }
}

/// So many bytes of distinct keys.
fn many_keys(bytes: usize) -> String {
    let mut text = String::new();
    for key in 0.. {
        let line = format!("k{key} = 1\n");
        if text.len() + line.len() > bytes {
            break;
        }
        text.push_str(&line);
    }
    text
}
