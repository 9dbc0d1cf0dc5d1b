//! Copy atoms: loads and stores of one lane, by address space and width.

use crate::element::ElementType;

/// Where the memory side of a copy lies; the other side is always VGPRs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Space {
    /// Global memory through a 64-bit address.
    Global,
    /// Global memory through a buffer resource descriptor, range-checked by the hardware.
    Buffer,
    /// Local data share.
    Lds,
}

/// Which way a copy atom moves data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// From memory to registers.
    Load,
    /// From registers to memory.
    Store,
}

/// One memory instruction: each active lane moves `bits` consecutive bits.
///
/// The thread-value layout of every row is `(lanes, bits / element bits):(0, 1)` relative to
/// the lane's own address, so only the width needs to be kept.
#[derive(Debug, PartialEq, Eq, Hash)]
pub struct CopyAtom {
    /// The name used in specs, e.g. `buffer_load_b128`.
    pub name: &'static str,
    /// Memory side.
    pub space: Space,
    /// Load or store.
    pub direction: Direction,
    /// Bits a lane moves; the address must be a multiple of `bits / 8` bytes.
    pub bits: u32,
}

macro_rules! atoms {
    ($($name:literal $space:ident $direction:ident $bits:literal;)*) => {
        &[$(CopyAtom {
            name: $name,
            space: Space::$space,
            direction: Direction::$direction,
            bits: $bits,
        }),*]
    };
}

// RDNA 3 and RDNA 4 ISA guides, chapters on global, buffer and LDS instructions: all chips
// of the machine table have each of these widths.
static ATOMS: &[CopyAtom] = atoms! {
    "global_load_b8"    Global Load 8;
    "global_load_b16"   Global Load 16;
    "global_load_b32"   Global Load 32;
    "global_load_b64"   Global Load 64;
    "global_load_b128"  Global Load 128;
    "global_store_b8"   Global Store 8;
    "global_store_b16"  Global Store 16;
    "global_store_b32"  Global Store 32;
    "global_store_b64"  Global Store 64;
    "global_store_b128" Global Store 128;
    "buffer_load_b8"    Buffer Load 8;
    "buffer_load_b16"   Buffer Load 16;
    "buffer_load_b32"   Buffer Load 32;
    "buffer_load_b64"   Buffer Load 64;
    "buffer_load_b128"  Buffer Load 128;
    "buffer_store_b8"   Buffer Store 8;
    "buffer_store_b16"  Buffer Store 16;
    "buffer_store_b32"  Buffer Store 32;
    "buffer_store_b64"  Buffer Store 64;
    "buffer_store_b128" Buffer Store 128;
    "ds_load_b8"        Lds Load 8;
    "ds_load_b16"       Lds Load 16;
    "ds_load_b32"       Lds Load 32;
    "ds_load_b64"       Lds Load 64;
    "ds_load_b128"      Lds Load 128;
    "ds_store_b8"       Lds Store 8;
    "ds_store_b16"      Lds Store 16;
    "ds_store_b32"      Lds Store 32;
    "ds_store_b64"      Lds Store 64;
    "ds_store_b128"     Lds Store 128;
};

impl CopyAtom {
    /// All rows, narrowest first within a space and direction.
    pub fn all() -> &'static [CopyAtom] {
        ATOMS
    }

    /// The row of that exact name.
    pub fn by_name(name: &str) -> Option<&'static CopyAtom> {
        ATOMS.iter().find(|atom| atom.name == name)
    }

    /// The widest row of a space and direction that moves whole elements, at most `elements`
    /// of them, and divides that number.
    ///
    /// ```
    /// use tilefold_dialect::{atoms::{CopyAtom, Direction, Space}, element::ElementType};
    /// let atom = CopyAtom::widest(Space::Lds, Direction::Store, ElementType::F16, 12);
    /// assert_eq!(atom.unwrap().name, "ds_store_b64");
    /// ```
    pub fn widest(
        space: Space,
        direction: Direction,
        element: ElementType,
        elements: i64,
    ) -> Option<&'static CopyAtom> {
        ATOMS
            .iter()
            .filter(|atom| atom.space == space && atom.direction == direction)
            .filter(|atom| {
                let count = atom.elements(element);
                count > 0 && count <= elements && elements % count == 0
            })
            .max_by_key(|atom| atom.bits)
    }

    /// Whole elements a lane moves; 0 where the element is wider than the atom.
    pub fn elements(&self, element: ElementType) -> i64 {
        i64::from(self.bits) / i64::from(element.bits())
    }
}
