//! Everything of the algebra travels through serde, and is checked on the way in.

use serde::{Serialize, de::DeserializeOwned};
use tilefold_layout::symbolic::{Extent, SymLayout, Symbol};
use tilefold_layout::{
    Basis, ComposedLayout, CopyAtom, IntTuple, Layout, MmaAtom, Nest, Outer, Path, Side,
    SliceCoord, Swizzle, TiledCopy, TiledMma, Tiler, slice_text,
};

/// The JSON of a value, once it is back unchanged.
fn through<T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug>(value: &T) -> String {
    let json = serde_json::to_string(value).unwrap();
    assert_eq!(&serde_json::from_str::<T>(&json).unwrap(), value, "{json}");
    json
}

/// Text that is read, and written as text again.
fn text<T>(text: &str)
where
    T: Serialize + DeserializeOwned + PartialEq + std::fmt::Debug + std::str::FromStr,
    T::Err: std::fmt::Debug,
{
    let value: T = text.parse().unwrap();
    assert_eq!(through(&value), format!("\"{text}\""));
}

fn refused<T: DeserializeOwned + std::fmt::Debug>(json: &str, why: &str) {
    let error = serde_json::from_str::<T>(json).unwrap_err().to_string();
    assert!(error.contains(why), "{json}: {error}");
}

fn layout(text: &str) -> Layout {
    text.parse().unwrap()
}

fn known() -> Symbol {
    let symbol = Symbol::new("N").unwrap().multiple_of(24).unwrap();
    symbol.within(100, Some(1000)).unwrap()
}

#[test]
fn text_is_used_where_there_is_one() {
    text::<IntTuple>("(4,(2,-2))");
    text::<SliceCoord>("(1,(_,-3),_)");
    text::<SliceCoord>("_");
    text::<Basis>("-2@1@0");
    text::<Basis>("7");
    text::<Nest<Basis>>("(1@0,(2@1,3))");
    text::<Layout>("(4,(2,2)):(2,(1,8))");
    text::<Layout<Basis>>("(4,8):(1@1,1@0)");
    text::<Swizzle>("Sw<2,1,-3>");
    text::<Outer>("Sw<2,1,-3>");
    text::<Outer>("(4,8):(8,1)");
    text::<ComposedLayout>("Sw<3,3,3> o 8 o (128,64):(64,1)");
    text::<Tiler>("<4:1, _, <2:1, 3:2>>");
    assert_eq!(slice_text(&"( 1 , ( _ ) )".parse().unwrap()), "(1,(_))");
    for wrong in ["\"\"", "\"(_\"", "\"(_ 1)\"", "\"(__)\"", "3"] {
        assert!(serde_json::from_str::<SliceCoord>(wrong).is_err());
    }
    refused::<Basis>("\"1@300\"", "a path of at most 7 indices below 256");
    refused::<Outer>("\"Sw<3,0,1>\"", "|shift| >= bits");
    refused::<Outer>("\"(4,0):(1,4)\"", "extents must be at least 1");
    refused::<Nest<Basis>>("\"(1@0\"", "expected `,` or `)`");
    let path = Path::new(&[1, 0, 255]).unwrap();
    assert_eq!(through(&path), "[1,0,255]");
    assert_eq!(through(&Path::ROOT), "[]");
    refused::<Path>("[256]", "at most 7 indices below 256");
    refused::<Path>("[0,0,0,0,0,0,0,0]", "at most 7 indices below 256");
}

#[test]
fn names_keep_what_is_known_of_them() {
    assert_eq!(
        through(&known()),
        r#"{"name":"N","multiple":24,"min":100,"max":1000}"#
    );
    let share = Extent::from(known()).times(3).unwrap().divided(8).unwrap();
    assert_eq!(
        through(&share),
        r#"{"extent":"3*N/8","symbol":{"name":"N","multiple":24,"min":100,"max":1000}}"#
    );
    assert_eq!((share.min(), share.max()), (45, Some(369)));
    assert_eq!(
        through(&Extent::Static(5)),
        r#"{"extent":"5","symbol":null}"#
    );
    let plain: SymLayout = SymLayout::parse("(16,N/8,M):(1,16,3)", &[known()]).unwrap();
    assert_eq!(
        through(&plain),
        r#"{"layout":"(16,N/8,M):(1,16,3)","symbols":["#.to_owned()
            + r#"{"name":"N","multiple":24,"min":100,"max":1000},"#
            + r#"{"name":"M","multiple":1,"min":1,"max":null}]}"#
    );
    let basis: SymLayout<Basis> = SymLayout::parse("(N,4):(1@1,2@0)", &[known()]).unwrap();
    through(&basis);

    let symbol = |multiple, min, max| {
        format!(r#"{{"name":"N","multiple":{multiple},"min":{min},"max":{max}}}"#)
    };
    refused::<Symbol>(&symbol("0", "1", "null"), "the factor must be at least 1");
    refused::<Symbol>(
        &symbol("8", "9", "15"),
        "no number from 9 to 15 is a multiple of 8",
    );
    refused::<Symbol>(
        &symbol("8", "9223372036854775807", "null"),
        "a multiple of 8",
    );
    refused::<Symbol>(&symbol("1", "5", "4"), "no number from 5 to 4");
    refused::<Symbol>(
        r#"{"name":"N N","multiple":1,"min":1,"max":null}"#,
        "a name is a letter",
    );
    refused::<Symbol>(
        r#"{"name":"","multiple":1,"min":1,"max":null}"#,
        "a name is a letter",
    );
    refused::<Extent>(
        r#"{"extent":"0","symbol":null}"#,
        "extents must be at least 1",
    );
    let small = symbol("4", "1", "null");
    let extent = format!(r#"{{"extent":"N/8","symbol":{small}}}"#);
    refused::<Extent>(&extent, "N would have to be known as a multiple of 8");
    let sym = format!(r#"{{"layout":"(4,N/8):(1,4)","symbols":[{small}]}}"#);
    refused::<SymLayout>(&sym, "mode 1: N would have to be known as a multiple of 8");
    refused::<SymLayout>(r#"{"layout":"(4,N):1","symbols":[]}"#, "congruent");
}

#[test]
fn atoms_are_checked() {
    let operand = layout("((4,2),2):((1,0),4)");
    let c = layout("((4,2),2):((4,2),1)");
    let atom = MmaAtom::new([4, 4, 2], operand.clone(), operand, c).unwrap();
    let json = through(&atom);
    assert_eq!(
        json,
        r#"{"shape":[4,4,2],"a":"((4,2),2):((1,0),4)","b":"((4,2),2):((1,0),4)","#.to_owned()
            + r#""c":"((4,2),2):((4,2),1)"}"#
    );
    refused::<MmaAtom>(
        &json.replace("[4,4,2]", "[4,4,4]"),
        "every element of its tile",
    );
    let permutation = "<(4,2,2):(1,8,4)>".parse().unwrap();
    let mma = TiledMma::new(atom, layout("(2,3):(3,1)"), permutation).unwrap();
    let json = through(&mma);
    refused::<TiledMma>(
        &json.replace("(2,3):(3,1)", "(2,3):(1,1)"),
        "numbered from 0",
    );

    let (source, destination) = (layout("(8,2):(2,1)"), layout("(8,2):(1,8)"));
    let atom = CopyAtom::new(source, destination, Side::Destination).unwrap();
    let json = through(&atom);
    assert_eq!(
        json,
        r#"{"source":"(8,2):(2,1)","destination":"(8,2):(1,8)","reference":"destination"}"#
    );
    refused::<CopyAtom>(&json.replace("(1,8)", "(1,4)"), "each once");
    let copy = TiledCopy::new(atom, &layout("(2,8):(8,1)"), &layout("(2,1):(1,2)")).unwrap();
    let json = through(&copy);
    refused::<TiledCopy>(&json.replace("[4,8]", "[4,4]"), "lies outside extent 16");
}
