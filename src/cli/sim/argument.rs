//! Arguments of kernels as people write them.

use super::npy::{self, Output};
use half::{bf16, f16};
use std::path::PathBuf;
use tilefold::Error;
use tilefold_sim::{Arg, Element, Fill, Memory, Pattern};

/// What `--help` says.
pub const SYNTAX: &str = "\
An argument of the kernel, in its order.
Buffers from files: in:FILE.npy, inout:FILE.npy (written back), out:FILE.npy (the file gives shape \
and type, and is overwritten).
Buffers without: in:TYPE:SHAPE:PATTERN, inout:TYPE:SHAPE:PATTERN[:FILE.npy], \
out:TYPE:SHAPE[:FILE.npy], such as in:f16:4096x4096:random:7; the file is written. TYPE is f64, \
f32, f16, bf16, fp8, bf8, or i or u with 64, 32, 16 or 8; PATTERN is zeros, ones, iota, signs:SEED, \
small:SEED, random:SEED or a number. Memory is taken for what the kernel touches alone.
Numbers: TYPE:VALUE, such as i32:-1, u64:0x10 or bf16:0.5; null is a null pointer; bytes:HEX is \
anything.";

/// An argument, and the file that it is written to.
pub struct Given {
    pub arg: Arg,
    pub output: Option<Output>,
}

/// What an argument is refused with.
fn wrong(text: &str, what: &str) -> Error {
    Error::Usage {
        what: format!("--arg {text}: {what}"),
        advice: "write in:FILE.npy, in:f16:4096x4096:random:7, out:f32:4096x4096:c.npy, i32:7, \
                 null; `tilefold sim --help` lists all forms"
            .into(),
    }
}

fn element(name: &str) -> Option<Element> {
    Element::ALL
        .into_iter()
        .find(|element| element.name() == name)
}

/// Reads one argument and makes its buffer.
pub fn argument(text: &str, memory: &mut Memory) -> Result<Given, Error> {
    if text == "null" {
        let arg = Arg::I64(0);
        return Ok(Given { arg, output: None });
    }
    let (kind, value) = text
        .split_once(':')
        .ok_or_else(|| wrong(text, "there is no kind"))?;
    match kind {
        "in" | "out" | "inout" => buffer(text, kind, value, memory),
        _ => {
            let bytes = match (kind, element(kind)) {
                ("bytes", _) => hex(value)
                    .ok_or_else(|| wrong(text, "the bytes are two hexadecimal digits each"))?,
                (_, Some(element)) => number(element, value).map_err(|what| wrong(text, &what))?,
                _ => return Err(wrong(text, "there is no such kind")),
            };
            let arg = Arg::Bytes(bytes);
            Ok(Given { arg, output: None })
        }
    }
}

fn buffer(text: &str, kind: &str, value: &str, memory: &mut Memory) -> Result<Given, Error> {
    let pieces: Vec<_> = value.split(':').collect();
    let filled = pieces.len() > 1 && element(pieces[0]).is_some();
    if filled {
        return Filled::parse(kind, &pieces)
            .map_err(|what| wrong(text, &what))
            .map(|filled| filled.allocate(memory));
    }
    let path = PathBuf::from(value);
    let (header, bytes) = npy::read(&path)?;
    let id = match kind {
        "in" => memory.alloc_input(&bytes),
        "out" => memory.alloc_output(bytes.len()),
        _ => memory.alloc_inout(&bytes),
    };
    Ok(Given {
        arg: Arg::Buffer(id),
        output: (kind != "in").then_some(Output { id, path, header }),
    })
}

/// A buffer that no file gives.
struct Filled {
    /// Whether the kernel may write it.
    writes: bool,
    element: Element,
    shape: Vec<u64>,
    bytes: usize,
    fill: Option<Fill>,
    path: Option<PathBuf>,
}

impl Filled {
    fn parse(kind: &str, pieces: &[&str]) -> Result<Filled, String> {
        let mut pieces = pieces.iter().copied().peekable();
        let name = pieces.next().unwrap_or_default();
        let element = element(name).ok_or("there is no such type")?;
        let shape = pieces.next().unwrap_or_default();
        let shape: Vec<u64> = shape
            .split('x')
            .map(|extent| extent.parse().map_err(|_| format!("`{shape}` is no shape")))
            .collect::<Result<_, _>>()?;
        let bytes = shape
            .iter()
            .try_fold(element.bytes() as u64, |product, extent| {
                product.checked_mul(*extent)
            })
            .filter(|&bytes| bytes <= Memory::MAX_BYTES)
            .and_then(|bytes| usize::try_from(bytes).ok())
            .ok_or_else(|| format!("more than {} TiB", Memory::MAX_BYTES >> 40))?;
        let file = |piece: &&str| piece.ends_with(".npy");
        let fill = match kind {
            "out" => None,
            _ => {
                let pattern = pieces.next().filter(|piece| !file(piece));
                let pattern = pattern.ok_or("there is no pattern")?;
                let seed = pieces.next_if(|piece| !file(piece));
                Some(fill(pattern, seed)?)
            }
        };
        let path = match (kind, pieces.next()) {
            (_, None) => None,
            ("in", Some(_)) => return Err("what a kernel only reads is not written".into()),
            (_, Some(piece)) if file(&piece) => Some(PathBuf::from(piece)),
            (_, Some(piece)) => {
                return Err(format!("`{piece}` is no file name that ends in .npy"));
            }
        };
        if pieces.next().is_some() {
            return Err("there is something behind the file name".into());
        }
        Ok(Filled {
            writes: kind != "in",
            element,
            shape,
            bytes,
            fill,
            path,
        })
    }

    fn allocate(self, memory: &mut Memory) -> Given {
        let pattern = |fill| Pattern {
            element: self.element,
            fill,
        };
        let id = match self.fill {
            None => memory.alloc_output(self.bytes),
            Some(fill) if self.writes => memory.alloc_inout_pattern(self.bytes, pattern(fill)),
            Some(fill) => memory.alloc_pattern(self.bytes, pattern(fill)),
        };
        let header = npy::header(self.element, &self.shape);
        Given {
            arg: Arg::Buffer(id),
            output: self.path.map(|path| Output { id, path, header }),
        }
    }
}

/// A pattern by its name, or a number; a seed only where something is drawn.
fn fill(name: &str, seed: Option<&str>) -> Result<Fill, String> {
    let number = |text: &str| text.parse::<u64>();
    let drawn = matches!(name, "signs" | "small" | "random");
    let seed = match (seed, drawn) {
        (None, _) => 0,
        (Some(seed), true) => number(seed).map_err(|_| format!("`{seed}` is no seed"))?,
        (Some(seed), false) => return Err(format!("`{name}` takes no seed, `{seed}` is given")),
    };
    Ok(match name {
        "zeros" => Fill::Zeros,
        "ones" => Fill::Ones,
        "iota" => Fill::Iota,
        "signs" => Fill::Signs { seed },
        "small" => Fill::Small { seed },
        "random" => Fill::Random { seed },
        other => Fill::Constant(other.parse().map_err(|_| {
            format!("`{other}` is no pattern: zeros, ones, iota, signs, small, random or a number")
        })?),
    })
}

/// The bytes of a number of a type.
fn number(element: Element, text: &str) -> Result<Vec<u8>, String> {
    let size = element.bytes();
    let bits = match element {
        Element::F64 => text.parse().ok().map(f64::to_bits),
        Element::F32 => text.parse().ok().map(|x: f32| u64::from(x.to_bits())),
        Element::F16 => text
            .parse()
            .ok()
            .map(|x: f32| u64::from(f16::from_f32(x).to_bits())),
        Element::Bf16 => text
            .parse()
            .ok()
            .map(|x: f32| u64::from(bf16::from_f32(x).to_bits())),
        Element::F8E4m3 | Element::F8E5m2 => text.parse().ok().map(|x| element.encode(x)),
        _ => {
            let signed = matches!(
                element,
                Element::I8 | Element::I16 | Element::I32 | Element::I64
            );
            integer(text, size as u32 * 8, signed)
        }
    };
    let bits = bits.ok_or_else(|| format!("`{text}` is no {}", element.name()))?;
    Ok(bits.to_le_bytes()[..size].to_vec())
}

/// The bits of an integer, decimal or hexadecimal; hexadecimal digits are the bits as they are.
fn integer(text: &str, bits: u32, signed: bool) -> Option<u64> {
    let (range, value) = match text.strip_prefix("0x") {
        Some(digits) => (0..1_i128 << bits, i128::from_str_radix(digits, 16).ok()?),
        None if signed => (-(1_i128 << (bits - 1))..1 << (bits - 1), text.parse().ok()?),
        None => (0..1 << bits, text.parse().ok()?),
    };
    range.contains(&value).then_some(value as u64)
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes();
    digits
        .chunks(2)
        .map(|pair| {
            let pair = std::str::from_utf8(pair)
                .ok()
                .filter(|pair| pair.len() == 2)?;
            u8::from_str_radix(pair, 16).ok()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(text: &str) -> Option<Vec<u8>> {
        match argument(text, &mut Memory::new()).ok()?.arg {
            Arg::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }

    #[test]
    fn numbers_have_the_width_of_their_type() {
        assert_eq!(bytes("i8:-1"), Some(vec![0xff]));
        assert_eq!(bytes("u8:255"), Some(vec![0xff]));
        assert_eq!(bytes("u16:0x1234"), Some(vec![0x34, 0x12]));
        assert_eq!(bytes("i32:0xffffffff"), Some(vec![0xff; 4]));
        assert_eq!(bytes("u64:18446744073709551615"), Some(vec![0xff; 8]));
        assert_eq!(bytes("f16:1"), Some(vec![0, 0x3c]));
        assert_eq!(bytes("bf16:1"), Some(vec![0x80, 0x3f]));
        assert_eq!(bytes("fp8:1"), Some(vec![0x38]));
        assert_eq!(
            bytes("f64:-inf"),
            Some(f64::NEG_INFINITY.to_le_bytes().to_vec())
        );
        assert_eq!(bytes("bytes:0a0B"), Some(vec![10, 11]));
        for text in [
            "i8:128", "u8:-1", "u8:256", "i32:1.5", "f32:x", "bytes:0", "bytes:é", "i128:0",
        ] {
            assert_eq!(bytes(text), None, "{text}");
        }
    }

    #[test]
    fn buffers_have_type_shape_and_pattern() {
        let size = |text: &str| {
            let mut memory = Memory::new();
            match argument(text, &mut memory).ok()?.arg {
                Arg::Buffer(id) => memory.size(id),
                _ => None,
            }
        };
        assert_eq!(size("in:f16:4096x4096:random:7"), Some(2 << 24));
        assert_eq!(size("in:f16:300000x200000:signs"), Some(120_000_000_000));
        assert_eq!(size("inout:i8:3:-5:back.npy"), Some(3));
        assert_eq!(size("out:f32:2x3x4:c.npy"), Some(96));
        assert_eq!(size("out:f32:0"), Some(0));
        for text in [
            "in:f16:4x:ones",
            "in:f16:4:one",
            "in:f16:4:ones:3",
            "in:f16:4:random:x",
            "in:f16:4",
            "in:f16:4:ones:a.npy",
            "out:f32:4:ones",
            "out:f32:4:c.npy:d.npy",
            "out:f32:99999999999x99999999999",
            "in:no/such/file.npy",
        ] {
            assert_eq!(size(text), None, "{text}");
        }
    }
}
