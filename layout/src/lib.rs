//! CuTe-style layout algebra: nested shapes and strides, swizzles, composition, complement,
//! divides and products.

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
pub use tiled::{Atom, TiledCopy, TiledMma};
pub use tiler::Tiler;
pub use tv::make_layout_tv;
