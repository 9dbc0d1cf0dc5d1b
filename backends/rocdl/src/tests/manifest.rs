use serde_json::json;

use super::*;

const ARGUMENTS: [(&str, ArgumentType); 4] = [
    ("a", ArgumentType::Buffer),
    ("b", ArgumentType::Buffer),
    ("c", ArgumentType::Buffer),
    ("k", ArgumentType::I32),
];

fn code() -> CodeObject {
    let text = gemm("gfx1201", 1, 1, 4096);
    compile_text(&text, &info(1), "gfx1201", &Options::default()).unwrap()
}

fn grid() -> Grid {
    let x = vec![Factor::Tiles(Extent::M, 128), Factor::Tiles(Extent::N, 96)];
    Grid {
        x,
        y: vec![],
        z: vec![Factor::Constant(2)],
    }
}

fn requirement(argument: &str, multiple_of: u64) -> Requirement {
    Requirement {
        argument: argument.to_owned(),
        multiple_of,
        at_most: None,
    }
}

fn at_most(argument: &str, multiple_of: u64, most: u64) -> Requirement {
    Requirement {
        at_most: Some(most),
        ..requirement(argument, multiple_of)
    }
}

fn manifest(code: &CodeObject) -> Manifest {
    let requirements = vec![requirement("a", 16), at_most("k", 64, 8192)];
    let spec = json!({ "arch": "gfx1201", "gemm": { "m": 8192 } });
    Manifest::new(
        &info(1),
        "gfx1201",
        code,
        &ARGUMENTS,
        grid(),
        requirements,
        spec,
    )
    .unwrap()
}

#[test]
fn reads_what_it_writes() {
    let code = code();
    let manifest = manifest(&code);
    let text = manifest.to_json().unwrap();
    insta::with_settings!({ filters => vec![
        (r#""hash": "[0-9a-f]{64}""#, r#""hash": "(64 digits)""#),
        (r"LLVM [0-9.]+", "LLVM (version)"),
    ]}, { insta::assert_snapshot!(text) });
    let read = Manifest::from_json(&text).unwrap();
    assert_eq!(read, manifest);
    assert_eq!(read.to_json().unwrap(), text);
}

#[test]
fn the_hash_covers_code_spec_and_compiler() {
    let code = code();
    let manifest = manifest(&code);
    assert!(manifest.is_of(&code.hsaco));
    let mut other = code.hsaco.clone();
    other[100] ^= 1;
    assert!(!manifest.is_of(&other));
    let mut changed = manifest.clone();
    changed.spec["gemm"]["m"] = json!(4096);
    assert!(!changed.is_of(&code.hsaco));
    let changed = Manifest {
        compiler: "tilefold 0.0.0".to_owned(),
        ..manifest
    };
    assert!(!changed.is_of(&code.hsaco));
}

#[test]
fn wrong_arguments_are_errors() {
    let code = code();
    let make = |arguments: &[(&str, ArgumentType)], requirements, grid| {
        Manifest::new(
            &info(1),
            "gfx1201",
            &code,
            arguments,
            grid,
            requirements,
            json!({}),
        )
    };
    let error = make(&ARGUMENTS[..3], vec![], grid()).unwrap_err();
    assert_eq!(error, ManifestError::ArgumentCount { named: 3, found: 4 });
    let with_last = |last| [ARGUMENTS[0], ARGUMENTS[1], ARGUMENTS[2], last];
    for ty in [ArgumentType::I64, ArgumentType::F16, ArgumentType::Buffer] {
        let error = make(&with_last(("k", ty)), vec![], grid()).unwrap_err();
        assert!(
            matches!(error, ManifestError::ArgumentType { size: 4, .. }),
            "{error}"
        );
    }
    for name in ["a", ""] {
        let error = make(&with_last((name, ArgumentType::U32)), vec![], grid()).unwrap_err();
        assert_eq!(error, ManifestError::ArgumentName(name.to_owned()));
    }
    for wrong in [
        requirement("d", 16),
        requirement("a", 0),
        at_most("a", 1, 16),
        at_most("k", 64, 63),
    ] {
        let error = make(&ARGUMENTS, vec![wrong], grid()).unwrap_err();
        assert!(
            matches!(error, ManifestError::Requirement { .. }),
            "{error}"
        );
    }
    let grid = Grid {
        x: vec![Factor::Tiles(Extent::K, 0)],
        ..Grid::default()
    };
    assert_eq!(
        make(&ARGUMENTS, vec![], grid).unwrap_err(),
        ManifestError::Grid
    );
}

#[test]
fn the_grid_covers_the_problem() {
    assert_eq!(grid().size(8192, 8192, 64), Ok([64 * 86, 1, 2]));
    assert_eq!(grid().size(0, 1, 1), Ok([0, 1, 2]));
    assert_eq!(Grid::default().size(1, 1, 1), Ok([1, 1, 1]));
    assert_eq!(grid().size(u64::MAX, u64::MAX, 1), Err(ManifestError::Grid));
    assert_eq!(grid().size(1 << 39, 96, 1), Err(ManifestError::Grid));
}

#[test]
fn bad_json_is_a_clear_error() {
    let text = manifest(&code()).to_json().unwrap();
    let cases = [
        ("", "EOF while parsing a value at line 1 column 0"),
        ("{", "EOF while parsing an object at line 1 column 1"),
        ("[]", "expected struct Manifest"),
        (
            "{\"kernel\": 3}",
            "invalid type: integer `3`, expected a string at line 1 column 12",
        ),
        ("{\"colour\": 3}", "unknown field `colour`"),
        ("{\"kernel\": \"k\"}", "missing field `arch`"),
    ];
    for (text, reason) in cases {
        let error = Manifest::from_json(text).unwrap_err().to_string();
        assert!(
            error.starts_with("manifest: ") && error.contains(reason),
            "{error}"
        );
    }
    let swap = |from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        Manifest::from_json(&text.replacen(from, to, 1)).unwrap_err()
    };
    let error = swap("\"offset\": 8", "\"offset\": 4");
    assert_eq!(error, ManifestError::ArgumentPlace("b".to_owned()));
    let error = swap("\"offset\": 24", "\"offset\": 4294967295");
    assert_eq!(error, ManifestError::ArgumentPlace("k".to_owned()));
    assert!(matches!(
        swap("\"buffer\"", "\"butter\""),
        ManifestError::Json(_)
    ));
    assert!(matches!(
        swap("\"size\": 4", "\"size\": -4"),
        ManifestError::Json(_)
    ));
    assert!(matches!(
        swap("\"multiple_of\": 16", "\"multiple_of\": 0"),
        ManifestError::Requirement { .. }
    ));
    let deep = "[".repeat(100_000);
    assert!(matches!(
        Manifest::from_json(&deep),
        Err(ManifestError::Json(_))
    ));
}
