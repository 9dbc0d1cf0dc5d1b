//! Array files.

use super::read_file;
use npyz::{DType, NpyFile};
use std::{
    io::Write,
    path::{Path, PathBuf},
};
use tilefold::Error;
use tilefold_sim::{BufferId, Element, Memory};

/// A buffer that is written to a file.
pub struct Output {
    pub id: BufferId,
    pub path: PathBuf,
    /// What stands before the elements: their type and shape.
    pub header: Vec<u8>,
}

/// An array file's header and its elements, as bytes.
pub fn read(path: &Path) -> Result<(Vec<u8>, Vec<u8>), Error> {
    let mut bytes = read_file(&path.to_path_buf(), u64::MAX)?;
    let file = NpyFile::new(&bytes[..]).map_err(|source| Error::file(path, source))?;
    let unfit = |what: &str| Error::Usage {
        what: format!("{}: {what}", path.display()),
        advice: "take a plain array of numbers, as numpy.save writes it".into(),
    };
    let DType::Plain(element) = file.dtype() else {
        return Err(unfit("a structured array"));
    };
    let size = element
        .num_bytes()
        .ok_or_else(|| unfit("elements of unknown size"))?;
    let count = file
        .shape()
        .iter()
        .try_fold(1_u64, |product, extent| product.checked_mul(*extent));
    let length = count.and_then(|count| usize::try_from(count).ok()?.checked_mul(size));
    // The elements are what the file ends with.
    let start = length.and_then(|length| bytes.len().checked_sub(length));
    let start = start.ok_or_else(|| unfit("it is cut short"))?;
    let elements = bytes.split_off(start);
    Ok((bytes, elements))
}

/// The header of an array file, version 1.0 of numpy's format. Types that numpy lacks stand as
/// unsigned integers of their size.
pub fn header(element: Element, shape: &[u64]) -> Vec<u8> {
    let code = match element {
        Element::F64 => "<f8",
        Element::F32 => "<f4",
        Element::F16 => "<f2",
        Element::Bf16 | Element::U16 => "<u2",
        Element::I64 => "<i8",
        Element::U64 => "<u8",
        Element::I32 => "<i4",
        Element::U32 => "<u4",
        Element::I16 => "<i2",
        Element::I8 => "|i1",
        Element::F8E4m3 | Element::F8E5m2 | Element::U8 => "|u1",
    };
    let extents: Vec<_> = shape.iter().map(|extent| format!("{extent},")).collect();
    let mut text = format!(
        "{{'descr': '{code}', 'fortran_order': False, 'shape': ({}), }}",
        extents.join(" ")
    );
    // Magic, version and length take 10 bytes; the elements begin at a multiple of 64.
    let padding = (text.len() + 11).next_multiple_of(64) - (text.len() + 11);
    text.push_str(&" ".repeat(padding));
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes
}

/// Bytes written at a time: a large buffer is never whole in memory twice.
const CHUNK: u64 = 1 << 20;

/// Writes a buffer in the form of the header.
pub fn write(output: &Output, memory: &Memory) -> Result<(), Error> {
    let failed = |source| Error::file(&output.path, source);
    let file = std::fs::File::create(&output.path).map_err(failed)?;
    let mut file = std::io::BufWriter::new(file);
    file.write_all(&output.header).map_err(failed)?;
    let size = memory.size(output.id).unwrap_or(0);
    for start in (0..size).step_by(CHUNK as usize) {
        let chunk = memory.read_range(output.id, start..start + CHUNK);
        file.write_all(&chunk).map_err(failed)?;
    }
    file.flush().map_err(failed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_back() {
        for (shape, element) in [
            (vec![4096, 300], Element::F16),
            (vec![7], Element::I8),
            (vec![1, 2, 3], Element::Bf16),
        ] {
            let mut bytes = header(element, &shape);
            assert!(bytes.len().is_multiple_of(64));
            bytes.resize(bytes.len() + 8, 0);
            let file = NpyFile::new(&bytes[..]).unwrap();
            assert_eq!(file.shape(), shape);
            let DType::Plain(plain) = file.dtype() else {
                panic!("a plain type");
            };
            assert_eq!(plain.num_bytes(), Some(element.bytes()));
        }
    }
}
