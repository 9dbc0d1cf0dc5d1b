//! What the command line says of specs that cannot be met: one clear error, exit status 2.

use super::{scratch, tilefold};

/// Compiles a spec; its error as printed, after checking the exit status.
fn refusal(test: &str, spec: &str) -> String {
    let file = scratch(test).join("spec.toml");
    std::fs::write(&file, spec).unwrap();
    let output = tilefold(&["compile", file.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(output.stdout.is_empty(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

const PROBLEM: &str = r#"
[gemm]
m = 1024
n = 1024
k = 1024
a = { type = "f16", layout = "row" }
b = { type = "f16", layout = "col" }
c = { type = "f16", layout = "col" }
accumulate = "f16"
"#;

#[test]
fn wrong_atom_for_the_chip() {
    let spec = format!("arch = \"gfx1100\"\n{PROBLEM}\n[atoms]\nmma = \"wmma.f32.16x16x16.fp8\"\n");
    insta::assert_snapshot!(refusal("wrong_atom", &spec));
}

#[test]
fn tile_that_does_not_fit_the_lds() {
    let spec = format!(
        "arch = \"gfx1201\"\n{PROBLEM}\n[tile]\nblock = [256, 256, 64]\nwaves = [4, 4]\n\n[lds]\na = \
         \"pad(8)\"\nb = \"pad(8)\"\nbuffers = 2\n"
    );
    insta::assert_snapshot!(refusal("lds_too_large", &spec));
}

/// What is left open of LDS has padding by default, which is not what keeps the tile from being
/// built.
#[test]
fn registers_refuse_and_not_the_padding_that_nobody_asked_for() {
    let problem = PROBLEM.replace("accumulate = \"f16\"", "accumulate = \"f32\"");
    let spec = format!(
        "arch = \"gfx1201\"\n{problem}\n[tile]\nblock = [256, 256, 64]\nwaves = [4, 4]\n\n[lds]\n\
         buffers = 1\n\n[schedule]\nprefetch = \"interleaved\"\ngroup_rows = 8\ncadence = 10\n\
         ahead = 27\nlead = \"a\"\ncommit = \"end\"\npriority = false\n"
    );
    insta::assert_snapshot!(refusal("registers", &spec));
}

#[test]
fn layout_that_does_not_parse() {
    let spec =
        format!("arch = \"gfx1201\"\n{PROBLEM}\n[lds]\na = \"Sw<3,3,3> o 0 o (128,64):(64,1\"\n");
    insta::assert_snapshot!(refusal("layout_syntax", &spec));
}

#[test]
fn unknown_chip() {
    let spec = format!("arch = \"gfx1250\"\n{PROBLEM}");
    insta::assert_snapshot!(refusal("unknown_chip", &spec));
}

#[test]
fn unknown_key() {
    let spec = format!("arch = \"gfx1201\"\n{PROBLEM}\n[tile]\nblok = [128, 128, 32]\n");
    insta::assert_snapshot!(refusal("unknown_key", &spec));
}

#[test]
fn problem_of_broken_tiles() {
    let output = tilefold(&["run", "specs/ladder/2.toml", "--m", "300"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap());
}

#[test]
fn file_that_is_not_there() {
    let output = tilefold(&["compile", "specs/nowhere.toml"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap());
}

#[test]
fn more_memory_than_there_is() {
    let size = ["--m", "1048576", "--n", "1048576", "--k", "16"];
    let output = tilefold(&[&["run", "specs/ladder/2.toml"], &size[..]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    insta::assert_snapshot!(String::from_utf8(output.stderr).unwrap());
}

#[test]
fn what_is_no_regular_file() {
    for path in ["/dev/zero", "specs"] {
        let output = tilefold(&["compile", path]);
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        let error = String::from_utf8(output.stderr).unwrap();
        assert!(error.contains("no regular file"), "{error}");
    }
}
