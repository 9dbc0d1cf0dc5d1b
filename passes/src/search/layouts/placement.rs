//! Placements of a tile in LDS as functions.

use super::{
    conflicts::{offsets, table},
    domain::Domain,
};
use tilefold_layout::{ComposedLayout, Layout, Swizzle};

/// A function from the tile's elements to offsets: a swizzle of a layout's offsets.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Placement {
    /// The layout before the swizzle, over (row, k).
    pub inner: Layout,
    /// The swizzle, of which no bit is without effect on the tile.
    pub swizzle: Swizzle,
    /// Unused elements after each row.
    pub padding: i64,
    /// Every bit that some offset before the swizzle has.
    pub used: i64,
    /// Bytes from the first element to the last, whole lines and rounded up to 16.
    pub bytes: i64,
}

impl Placement {
    pub fn rows(domain: &Domain) -> Option<Self> {
        let [rows, depth] = domain.usage.tile;
        Self::plain(domain, Layout::flat(&[(rows, depth), (depth, 1)]).ok()?, 0)
    }

    pub fn cols(domain: &Domain) -> Option<Self> {
        let [rows, depth] = domain.usage.tile;
        Self::plain(domain, Layout::flat(&[(rows, 1), (depth, rows)]).ok()?, 0)
    }

    pub fn padded(domain: &Domain, padding: i64) -> Option<Self> {
        let [rows, depth] = domain.usage.tile;
        if padding < 0 {
            return None;
        }
        let stride = depth.checked_add(padding)?;
        let inner = Layout::flat(&[(rows, stride), (depth, 1)]).ok()?;
        Self::plain(domain, inner, padding)
    }

    pub fn tiled(domain: &Domain, panel: i64, run: i64) -> Option<Self> {
        let [rows, depth] = domain.usage.tile;
        if panel < 1 || run < 1 || rows % panel != 0 || depth % run != 0 {
            return None;
        }
        let split = |parts: [(i64, i64); 2]| {
            let parts: Vec<_> = parts.into_iter().filter(|part| part.0 > 1).collect();
            Layout::flat(if parts.is_empty() { &[(1, 1)] } else { &parts }).ok()
        };
        let inner = Layout::concat(&[
            split([(panel, run), (rows / panel, panel * depth)])?,
            split([(run, 1), (depth / run, panel * run)])?,
        ]);
        Self::plain(domain, inner.ok()?, 0)
    }

    fn plain(domain: &Domain, inner: Layout, padding: i64) -> Option<Self> {
        let used = used(domain, &inner);
        let mut placement = Self {
            inner,
            swizzle: Swizzle::IDENTITY,
            padding,
            used,
            bytes: 0,
        };
        placement.bytes = placement.size(domain)?;
        Some(placement)
    }

    /// This placement, which has no swizzle yet, swizzled.
    pub fn swizzled(&self, domain: &Domain, swizzle: Swizzle) -> Option<Self> {
        if !self.swizzle.is_identity() {
            return None;
        }
        let mut placement = self.clone();
        placement.swizzle = effective(swizzle, self.used)?;
        placement.bytes = placement.size(domain)?;
        Some(placement)
    }

    /// The layout as the rest of the compiler has it.
    pub fn composed(&self) -> ComposedLayout {
        ComposedLayout::new(self.swizzle, self.inner.clone())
    }

    /// Bytes of a buffer: as the plan counts them.
    fn size(&self, domain: &Domain) -> Option<i64> {
        let modes = self.inner.flat_modes().into_iter();
        let lines = modes
            .filter(|(extent, _)| *extent > 1)
            .map(|(extent, stride)| extent.saturating_mul(stride))
            .max()
            .unwrap_or(0);
        let reach = self.inner.cosize();
        let top = self.swizzle.target_mask() | self.swizzle.source_mask();
        let block = (top as u64 + 1).next_power_of_two() as i64;
        // Blocks of this many elements are permuted within themselves.
        let reach = if self.swizzle.is_identity() || reach % block == 0 {
            reach
        } else if self.inner.size() == reach {
            // No two elements share an offset, and so every one below is some element's. Smaller blocks, of the bits that change, are
            // permuted within themselves too, and so the greatest lies in the last of them.
            let changed = (self.swizzle.target_mask() as u64 + 1).next_power_of_two() as i64;
            let last = (reach - 1) / changed * changed..reach;
            domain.work.spend((reach - last.start).unsigned_abs());
            last.map(|offset| self.swizzle.apply(offset)).max()? + 1
        } else {
            domain.work.spend(self.inner.size().unsigned_abs());
            let offsets = table(&self.inner).into_iter();
            offsets.map(|offset| self.swizzle.apply(offset)).max()? + 1
        };
        let unit = domain.widest();
        let elements = (lines.max(reach).checked_add(unit - 1)?) / unit * unit;
        elements.checked_mul(domain.bytes)
    }
}

/// Every bit that some offset has: of neighbours those of the first and the last, and all below
/// the highest in which these differ.
fn used(domain: &Domain, inner: &Layout) -> i64 {
    let mut modes = inner.flat_modes();
    let run = modes.iter().position(|mode| mode.1 == 1);
    let run = run.map_or(1, |at| modes.swap_remove(at).0);
    let firsts = offsets(modes);
    domain.work.spend(firsts.len() as u64);
    firsts.into_iter().fold(0, |bits, first| {
        let last = first + run - 1;
        let differ = (first ^ last) as u64;
        let below = u64::MAX.checked_shr(differ.leading_zeros()).unwrap_or(0);
        bits | first | last | below as i64
    })
}

/// The swizzle without the outer bits that no offset has set to read: the same on offsets whose
/// bits are all among `used`.
pub(super) fn effective(swizzle: Swizzle, used: i64) -> Option<Swizzle> {
    let read = swizzle.source_mask() & used;
    if read == 0 {
        return Some(Swizzle::IDENTITY);
    }
    let skipped = read.trailing_zeros() - swizzle.source_mask().trailing_zeros();
    let bits = 64 - read.leading_zeros() - read.trailing_zeros();
    Swizzle::new(bits, swizzle.base() + skipped, swizzle.shift()).ok()
}
