//! Source lines of instructions, from DWARF.

use std::fmt;
use std::sync::Arc;

use addr2line::Context;
use addr2line::gimli::{Dwarf, EndianSlice, LittleEndian};
use object::{CompressionFormat, Object, ObjectSection};
use serde::Serialize;

/// A place in a source file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SourceLine {
    /// The file, as the compiler was given it.
    pub file: String,
    /// Line, from 1; 0 where the compiler names none.
    pub line: u32,
    /// Column, from 1; 0 where the compiler names none.
    pub column: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// The debug sections of a code object, unread.
#[derive(Debug, Clone, Default)]
pub(crate) struct Debug {
    sections: Arc<Vec<(String, Vec<u8>)>>,
}

impl Debug {
    /// Takes the sections out of a linked file. Compressed ones are left out: the file is then as
    /// one without line information.
    pub(crate) fn new<'data>(elf: &impl Object<'data>) -> Debug {
        let sections = elf
            .sections()
            .filter_map(|section| {
                let name = section.name().ok()?;
                let data = section.compressed_data().ok()?;
                let plain = data.format == CompressionFormat::None && name.starts_with(".debug_");
                plain.then(|| (name.to_owned(), data.data.to_vec()))
            })
            .collect();
        Debug {
            sections: Arc::new(sections),
        }
    }

    /// Reads the line tables; none where there are none.
    pub(crate) fn lines(&self) -> Option<Lines<'_>> {
        let section = |name: &str| {
            let found = self.sections.iter().find(|(known, _)| known == name);
            found.map(|(_, data)| &data[..])
        };
        section(".debug_line")?;
        let dwarf = Dwarf::load(|id| {
            let data = section(id.name()).unwrap_or_default();
            Ok::<_, addr2line::gimli::Error>(EndianSlice::new(data, LittleEndian))
        });
        Context::from_dwarf(dwarf.ok()?).ok().map(Lines)
    }
}

/// Line tables that can be asked.
pub(crate) struct Lines<'a>(Context<EndianSlice<'a, LittleEndian>>);

impl Lines<'_> {
    /// Where the instruction at an address of the image stands.
    pub(crate) fn find(&self, address: u64) -> Option<SourceLine> {
        let location = self.0.find_location(address).ok()??;
        Some(SourceLine {
            file: location.file?.to_owned(),
            line: location.line.unwrap_or(0),
            column: location.column.unwrap_or(0),
        })
    }
}
