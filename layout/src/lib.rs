//! # Layout algebra
//!
//! A *layout* says where the elements of a tile lie: it is a function from coordinates to offsets,
//! written as a shape and a stride. Everything a kernel does with tiles (cutting them into blocks,
//! sharing them among waves and lanes, widening copies, swizzling shared memory) is composition,
//! division and inversion of such functions. This crate has the algebra that CuTe introduced, on
//! 64-bit integers with every overflow caught, and knows nothing of GPUs.
//!
//! It is taught here in ten steps. Each is a test of this crate, and each picture is what
//! [`draw`] makes; `tilefold layout '(4,8):(8,1)'` prints the same for any expression of [`expr`]
//! on the command line.
//!
//! ## 1. A layout is a shape and a stride
//!
//! Coordinates run within the shape, the first mode fastest; the offset is the inner product with the
//! stride. `(4,8):(8,1)` is a row-major 4 x 8 tile.
//!
//! ```
//! use tilefold_layout::{Layout, draw::Drawing};
//! let a: Layout = "(4,8):(8,1)".parse()?;
//! assert_eq!(a.at_coord(&[2, 3].into())?, 19);
//! assert_eq!(a.at(14), 19); // 14 = 2 + 4 * 3, the same coordinate as one number
//! assert_eq!((a.size(), a.cosize()), (32, 32));
//! assert_eq!(Drawing::offsets(&a)?.to_text(false), "\
//! (4,8):(8,1)
//!     0  1  2  3  4  5  6  7
//!   ┌────────────────────────
//! 0 │  0  1  2  3  4  5  6  7
//! 1 │  8  9 10 11 12 13 14 15
//! 2 │ 16 17 18 19 20 21 22 23
//! 3 │ 24 25 26 27 28 29 30 31
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 2. Modes nest
//!
//! A mode may itself be a layout. Here the columns are split in two: pairs of neighbours are
//! adjacent, then rows follow, then pairs of columns. A coordinate may name the whole mode with one
//! integer or its parts with a tuple.
//!
//! ```
//! use tilefold_layout::{IntTuple, Layout, draw::Drawing};
//! let a: Layout = "(4,(2,2)):(2,(1,8))".parse()?;
//! let parts: IntTuple = "(1,(1,1))".parse()?;
//! assert_eq!(a.at_coord(&[1, 3].into())?, 11);
//! assert_eq!(a.at_coord(&parts)?, 11);
//! assert_eq!(a.idx2crd(13), parts);
//! assert_eq!(Drawing::offsets(&a)?.to_text(false), "\
//! (4,(2,2)):(2,(1,8))
//!     0  1  2  3
//!   ┌────────────
//! 0 │  0  1  8  9
//! 1 │  2  3 10 11
//! 2 │  4  5 12 13
//! 3 │  6  7 14 15
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 3. Many layouts are one function
//!
//! As functions of the 1-D coordinate, layouts can be equal and be written differently.
//! [`Layout::coalesce`] gives the simplest, [`Layout::coalesce_by`] the simplest that keeps modes
//! apart. [`recognise`] goes back from a table.
//!
//! ```
//! use tilefold_layout::{Layout, draw::Drawing, recognise};
//! let a: Layout = "((2,2),(1,8)):((1,2),(5,4))".parse()?;
//! assert_eq!(a.coalesce().to_string(), "32:1");
//! let tile = a.coalesce_by(&[1, 1].into())?;
//! // Down the columns and on, the offsets count from 0: that is why it is 32:1 as well.
//! assert_eq!(Drawing::offsets(tile)?.to_text(false), "\
//! (4,8):(1,4)
//!     0  1  2  3  4  5  6  7
//!   ┌────────────────────────
//! 0 │  0  4  8 12 16 20 24 28
//! 1 │  1  5  9 13 17 21 25 29
//! 2 │  2  6 10 14 18 22 26 30
//! 3 │  3  7 11 15 19 23 27 31
//! ");
//! assert_eq!(recognise(&[0, 8, 1, 9, 2, 10]).unwrap().to_string(), "(2,3):(8,1)");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 4. Composition
//!
//! `A ∘ B` first applies `B`, then `A`: B picks and reorders coordinates of A. The result has B's
//! shape.
//!
//! ```
//! use tilefold_layout::{Layout, draw::Drawing};
//! let rows: Layout = "(6,2):(8,2)".parse()?;
//! let pick: Layout = "(4,3):(3,1)".parse()?;
//! let c = rows.compose(&pick)?;
//! assert_eq!(c.to_string(), "((2,2),3):((24,2),8)");
//! assert!((0..12).all(|i| c.at(i) == rows.at(pick.at(i))));
//! // Row 1 of the result picks coordinates 3, 4 and 5 of `rows`, which lie at 24, 32 and 40.
//! assert_eq!(Drawing::offsets(&c)?.to_text(false), "\
//! ((2,2),3):((24,2),8)
//!     0  1  2
//!   ┌─────────
//! 0 │  0  8 16
//! 1 │ 24 32 40
//! 2 │  2 10 18
//! 3 │ 26 34 42
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Not every composition is a layout. CuTe checks two divisibility conditions mode by mode and lets
//! the rest through; `composition((4,6,8):(2,3,5), 6:3)` gives `[0,6,3,9,6,12]` there, where the
//! function is `[0,6,7,8,9,15]`. Here an answer is always the composition, or an error:
//!
//! ```
//! use tilefold_layout::{Layout, Rule};
//! let a: Layout = "(4,6,8):(2,3,5)".parse()?;
//! let error = a.compose(&"6:3".parse::<Layout>()?).unwrap_err();
//! assert_eq!(error.rule, Rule::StrideDivisibility { stride: 3, extent: 4 });
//! // Modes that are fine one by one may carry into each other when they are added.
//! let a: Layout = "(4,4):(1,8)".parse()?;
//! let error = a.compose(&"(2,2):(2,2)".parse::<Layout>()?).unwrap_err();
//! assert_eq!(error.rule, Rule::Carry { left_mode: 0, reach: 4, extent: 4 });
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 5. Complement and inverses
//!
//! The complement reaches what a layout leaves out; the right inverse leads from offsets back to
//! coordinates.
//!
//! ```
//! use tilefold_layout::{Layout, draw::Drawing, make_layout};
//! let a: Layout = "4:2".parse()?;
//! let rest = a.complement(24)?;
//! assert_eq!(rest.to_string(), "(2,3):(1,8)");
//! // The layout down, its complement across: every offset below 24 once.
//! assert_eq!(Drawing::offsets(make_layout(&[a, rest])?)?.to_text(false), "\
//! (4,(2,3)):(2,(1,8))
//!     0  1  2  3  4  5
//!   ┌──────────────────
//! 0 │  0  1  8  9 16 17
//! 1 │  2  3 10 11 18 19
//! 2 │  4  5 12 13 20 21
//! 3 │  6  7 14 15 22 23
//! ");
//! let columns: Layout = "(4,8):(8,1)".parse()?;
//! let inverse = columns.right_inverse();
//! assert_eq!(inverse.to_string(), "(8,4):(4,1)");
//! assert!((0..32).all(|i| columns.at(inverse.at(i)) == i));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 6. Division cuts tiles
//!
//! A layout divided by a tile is (tile, rest): composition with the tile and its complement.
//! [`Layout::zipped_divide`] gathers tiles and rests of all modes, so that mode 0 is one tile and mode
//! 1 counts tiles.
//!
//! ```
//! use tilefold_layout::{Layout, draw::Drawing};
//! let a: Layout = "(12,8):(8,1)".parse()?;
//! let tiles = a.zipped_divide(&["4:1".parse()?, "2:1".parse()?])?;
//! assert_eq!(tiles.to_string(), "((4,2),(3,4)):((8,1),(32,2))");
//! // Each column is one tile of 2 x 3 elements, out of 4 x 6.
//! let a: Layout = "(4,6):(6,1)".parse()?;
//! let tiles = a.zipped_divide(&["2:1".parse()?, "3:1".parse()?])?;
//! assert_eq!(Drawing::offsets(tiles)?.to_text(false), "\
//! ((2,3),(2,2)):((6,1),(12,3))
//!     0  1  2  3
//!   ┌────────────
//! 0 │  0 12  3 15
//! 1 │  6 18  9 21
//! 2 │  1 13  4 16
//! 3 │  7 19 10 22
//! 4 │  2 14  5 17
//! 5 │  8 20 11 23
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A tile that does not fit is rounded up, as in CuTe, and the result reaches past the layout.
//! [`Layout::divide_evenly`] refuses:
//!
//! ```
//! use tilefold_layout::{Layout, Rule};
//! let a: Layout = "(12,8):(8,1)".parse()?;
//! let error = a.divide_evenly(&["5:1".parse()?]).unwrap_err();
//! assert_eq!(error.to_string(), "divide_evenly((12,8):(8,1), <5:1>): mode 0: 5 does not divide 12");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 7. Products repeat
//!
//! A product repeats a block in a pattern. Blocked and raked products do so mode by mode, blocks side
//! by side or interleaved; [`Layout::tile_to_shape`] repeats a block until it fills a shape.
//!
//! ```
//! use tilefold_layout::{Layout, draw::Drawing};
//! let block: Layout = "(2,2):(2,1)".parse()?;
//! let tiled = block.blocked_product(&"(2,3):(1,2)".parse()?)?;
//! assert_eq!(tiled, block.tile_to_shape(&[4, 6].into(), None)?);
//! assert_eq!(Drawing::offsets(tiled)?.to_text(false), "\
//! ((2,2),(2,3)):((2,4),(1,8))
//!     0  1  2  3  4  5
//!   ┌──────────────────
//! 0 │  0  1  8  9 16 17
//! 1 │  2  3 10 11 18 19
//! 2 │  4  5 12 13 20 21
//! 3 │  6  7 14 15 22 23
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 8. Swizzles spread columns over banks
//!
//! `Sw<B,M,S>` xors B bits of an offset onto the B bits S below them, leaving the M lowest alone. In a
//! memory of 8 banks of 4 bytes, the column of a row-major 8 x 8 tile of 4-byte elements lies in one
//! bank; swizzled it lies in all eight. [`draw::Drawing::banks`] shows which lanes collide.
//!
//! ```
//! use tilefold_layout::{ComposedLayout, draw::{BankModel, Drawing, bank_use}};
//! let banks = BankModel::in_runs(8, 4, 8, 8);
//! let cycles = |text: &str| -> Result<i64, Box<dyn std::error::Error>> {
//!     let tile: ComposedLayout = text.parse()?;
//!     let column: Vec<i64> = (0..8).map(|row| 4 * tile.at(row)).collect();
//!     Ok(bank_use(&column, 4, &banks)?[0].cycles())
//! };
//! assert_eq!(cycles("(8,8):(8,1)")?, 8);
//! assert_eq!(cycles("Sw<3,0,3> o 0 o (8,8):(8,1)")?, 1);
//! let tile: ComposedLayout = "Sw<2,0,2> o 0 o (4,4):(4,1)".parse()?;
//! assert_eq!(Drawing::offsets(tile)?.to_text(false), "\
//! Sw<2,0,2> o 0 o (4,4):(4,1)
//!     0  1  2  3
//!   ┌────────────
//! 0 │  0  1  2  3
//! 1 │  5  4  7  6
//! 2 │ 10 11  8  9
//! 3 │ 15 14 13 12
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 9. Threads and values
//!
//! A thread-value layout sends (thread, value) to an element of a tile: who holds what. Here 2 x 2
//! threads hold two neighbours each. [`TiledCopy`] and [`TiledMma`] spread what one instruction does
//! ([`CopyAtom`], [`MmaAtom`]) over whole blocks in this way.
//!
//! ```
//! use tilefold_layout::{Layout, draw::Drawing, make_layout_tv};
//! let threads: Layout = "(2,2):(2,1)".parse()?;
//! let values: Layout = "(1,2):(2,1)".parse()?;
//! let (tile, tv) = make_layout_tv(&threads, &values)?;
//! assert_eq!((tile.as_slice(), tv.to_string().as_str()), (&[2, 4][..], "((2,2),2):((4,1),2)"));
//! assert_eq!(Drawing::ownership(&tv, &tile)?.to_text(false), "\
//! (thread,value) ((2,2),2):((4,1),2) over (2,4)
//!        0     1     2     3
//!   ┌────────────────────────
//! 0 │ T0 V0 T0 V1 T1 V0 T1 V1
//! 1 │ T2 V0 T2 V1 T3 V0 T3 V1
//! ");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! ## 10. Coordinates, names and expressions
//!
//! Strides may be basis elements: such a layout gives coordinates, and composes on the right of any
//! layout with such modes. Extents may be names ([`symbolic`]). And any operation can be written as an
//! expression ([`expr`]).
//!
//! ```
//! use tilefold_layout::{Basis, Layout, draw::Drawing, expr::evaluate, symbolic::SymLayout};
//! let transpose: Layout<Basis> = "(4,8):(1@1,1@0)".parse()?;
//! assert_eq!(transpose.coord_at(6)?.to_string(), "(1,2)");
//! let corner = Drawing::coordinates_within(&transpose, 2, 4)?;
//! assert_eq!(corner.to_text(false), "\
//! (4,8):(1@1,1@0)
//!        0     1     2     3
//!   ┌────────────────────────
//! 0 │ (0,0) (1,0) (2,0) (3,0)
//! 1 │ (0,1) (1,1) (2,1) (3,1)
//! 2 rows and 4 columns left out
//! ");
//! let a: Layout = "(8,4):(4,1)".parse()?;
//! assert_eq!(a.compose(&transpose)?.to_string(), "(4,8):(1,4)");
//! let columns: SymLayout = "(16,N):(1,16)".parse()?;
//! assert_eq!(columns.right_inverse()?.to_string(), "16*N:1");
//! let value = evaluate("max_common_vector((8,64):(64,1), tile_to_shape((8,8):(8,1), (8,64)))")?;
//! assert_eq!(value.to_string(), "8");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Where this differs from CuTe
//!
//! Wherever CuTe's answer is the function it stands for, the answer here is the same, down to how it
//! is written. Elsewhere:
//!
//! | operation | CuTe | here | why |
//! |---|---|---|---|
//! | composition | accepts modes that carry into one another | [`Rule::Carry`], [`Rule::StrideDivisibility`] | the result is another function |
//! | left inverse | takes negative strides and overlapping modes | [`Rule::NonNegativeStride`], [`Rule::Invertible`] | the result does not invert |
//! | inverse of a swizzled layout | moves the swizzle's bits wherever the layout sends their sum | checked, or [`Rule::Swizzle`] | bits that come apart are no swizzle |
//! | cosize of a swizzled layout | that of the layout inside | the largest offset plus one | a swizzle can exceed it |
//! | upcast, downcast | modes that overlap within a unit; several contiguous modes | an error | elements would be counted twice |
//! | upcast of a swizzle below the unit | drops bits | [`Rule::Swizzle`] | another function |
//! | ordered layouts | equal order values start at one stride | first mode first | offsets would coincide |
//! | `_` in a zipped divide or product | splits the mode's own two modes, or does not compile | [`Rule::NothingToZip`] | there is no tile |
//! | integers | 32 bits where static | 64 bits, checked | offsets past 2 GiB |
//! | thread-value layouts | any numbering | must number from 0 without gaps | some thread would not exist |

mod coalesce;
mod compose;
mod composed;
mod coord;
mod divide;
pub mod draw;
mod error;
pub mod expr;
mod inverse;
mod layout;
mod nest;
mod product;
mod recast;
mod recognise;
mod slice;
mod stride;
mod swizzle;
pub mod symbolic;
mod text;
mod tiled;
mod tiler;
mod tv;

pub use composed::{ComposedLayout, Outer};
pub use coord::{crd2idx, idx2crd};
pub use error::{LayoutError, ModePath, Result, Rule};
pub use inverse::{max_common_layout, max_common_vector};
pub use layout::{Layout, make_layout};
pub use nest::{IntTuple, MAX_DEPTH, Nest};
pub use product::zip;
pub use recast::domain_distribute;
pub use recognise::recognise;
pub use slice::{SliceCoord, slice_text};
pub use stride::{Basis, Path, Stride};
pub use swizzle::Swizzle;
pub use text::ParseError;
pub use tiled::{CopyAtom, MmaAtom, Side, TiledCopy, TiledMma};
pub use tiler::Tiler;
pub use tv::make_layout_tv;
