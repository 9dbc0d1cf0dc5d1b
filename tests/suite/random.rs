//! Random specs through the whole path: they never end the process.

use super::repository;
use tilefold::{CompileOptions, Error, Spec, compile};

/// Texts of the repository's specs, to start from.
fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    insta::glob!(repository(), "specs/**/*.toml", |path| {
        texts.push(std::fs::read_to_string(path).unwrap());
    });
    texts
}

/// Words that stand in specs, some where they should not.
const WORDS: [&str; 30] = [
    "16",
    "32",
    "64",
    "96",
    "128",
    "0",
    "-1",
    "1",
    "3",
    "8192",
    "2147483648",
    "\"f16\"",
    "\"bf16\"",
    "\"f32\"",
    "\"i8\"",
    "\"row\"",
    "\"col\"",
    "\"any\"",
    "\"gfx1100\"",
    "\"gfx1201\"",
    "\"pad(8)\"",
    "\"pad(1)\"",
    "\"xor\"",
    "\"none\"",
    "\"burst\"",
    "[16, 16, 16]",
    "[1, 1]",
    "[2, 2]",
    "\"(2,2):(2,1)\"",
    "\"Sw<2,3,3> o 0 o (64,32):(32,1)\"",
];

/// A spec with values exchanged for words, and lines left out or doubled.
fn mutate(text: &str, random: &mut fastrand::Rng) -> String {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    for _ in 0..random.usize(1..5) {
        let at = random.usize(..lines.len());
        match random.u8(..10) {
            0 => {
                lines.remove(at);
            }
            1 => lines.insert(at, lines[at].clone()),
            _ => {
                if let Some((key, _)) = lines[at].clone().split_once(" = ") {
                    lines[at] = format!("{key} = {}", WORDS[random.usize(..WORDS.len())]);
                }
            }
        }
        if lines.is_empty() {
            break;
        }
    }
    lines.join("\n")
}

#[test]
fn ten_thousand_specs() {
    let texts = texts();
    assert!(texts.len() >= 5);
    let mut random = fastrand::Rng::with_seed(2026);
    // Compiling takes the code generator a tenth of a second in this profile: the first few
    // specs that can be compiled are, the rest end where their plan is complete.
    let (mut accepted, mut compiled) = (0, 0);
    for _ in 0..10_000 {
        let text = mutate(&texts[random.usize(..texts.len())], &mut random);
        let Ok(spec) = Spec::from_toml("random.toml", &text) else {
            continue;
        };
        if compiled < 60 {
            match compile(&spec, &CompileOptions::default()) {
                Ok(_) => compiled += 1,
                Err(Error::Spec(_)) => {}
                Err(error) => panic!("{error}\n{text}"),
            }
        } else if tilefold::Plan::complete(&spec).is_ok() {
            accepted += 1;
        }
    }
    println!("{compiled} compiled, {accepted} more would have been");
    assert!(compiled == 60 && accepted > 500);
}
