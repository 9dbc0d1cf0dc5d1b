//! Where accesses find their offsets: registers, scalars and constants that instructions add.
//!
//! Offsets are terms of `tilefold-address`, which finds the fewest registers: where a constant
//! meets no bit that a register ever has, xor is addition, and addition of a constant is the
//! instruction's own. The lowering emits what is placed here, and [`addresses`] tells of it.

use crate::{
    PassError,
    access::{Coordinates, Ownership, in_lds},
    plan::{Plan, most_apart},
    tiling::{MmaLayouts, copy_layout},
    widen_copies::{access_elements, elements_of_128_bits, widest},
};
use tilefold_address::{
    Family, Kind, Limits, Placement, ScalarOperand, Space as Operand, Term, Variable, place,
};
use tilefold_dialect::atoms::{Direction, Space};
use tilefold_layout::{ComposedLayout, Layout};

/// The accesses of one kind to one operand's tile, and where they find their offsets.
#[derive(Clone, Debug)]
pub struct Addresses {
    /// 0 for A, 1 for B.
    pub operand: usize,
    /// Whether LDS is accessed, or the matrix in memory.
    pub space: Space,
    /// Whether it is read or written.
    pub direction: Direction,
    /// Bits of an access.
    pub bits: i64,
    /// Registers, scalars and constants of all accesses of a thread and K tile.
    pub placement: Placement,
}

/// The offsets of all accesses to tiles of A and B that the kernel of a plan has: reads and writes
/// of LDS, and loads through descriptors. Loads through addresses are not placed as terms.
///
/// # Errors
/// A [`PassError`] where the plan cannot be lowered either.
pub fn addresses(plan: &Plan) -> Result<Vec<Addresses>, PassError> {
    let rules = &plan.address_rules[..];
    let bits = i64::from(plan.input().bits());
    let mma = MmaLayouts::new(plan.atom, plan.block, &plan.wave_layout)?;
    let loads = access_elements(plan)?;
    let mut found = Vec::new();
    for (operand, reads) in [mma.a, mma.b].into_iter().enumerate() {
        let tile = [plan.block[operand], plan.block[2]];
        let place = &plan.lds[operand];
        let (threads, values) = &plan.copies[operand];
        let writes = copy_layout(threads, &plan.stores[operand], tile)?;
        for (layout, direction) in [(reads, Direction::Load), (writes, Direction::Store)] {
            let limit = elements_of_128_bits(plan.input());
            let width = Ownership::new(&layout).width(limit, |index| place.at(index));
            let atom = widest(Space::Lds, direction, plan.input(), width)?;
            let width = atom.elements(plan.input());
            found.push(Addresses {
                operand,
                space: Space::Lds,
                direction,
                bits: width * bits,
                placement: of_lds(rules, &layout, place, width, bits / 8)?,
            });
        }
        if plan.load_space != Space::Buffer {
            continue;
        }
        let layout = copy_layout(threads, values, tile)?;
        let coordinates = Coordinates::new(&layout, tile)?;
        let width = loads[operand];
        let positions: Vec<[i64; 2]> = coordinates
            .values
            .iter()
            .step_by(width as usize)
            .copied()
            .collect();
        let along = usize::from(plan.order(operand) == "row");
        let immediate = plan.machine.buffer_offset_bits;
        found.push(Addresses {
            operand,
            space: Space::Buffer,
            direction: Direction::Load,
            bits: width * bits,
            placement: of_matrix(
                rules,
                along,
                bits / 8,
                tile,
                &coordinates,
                &positions,
                immediate,
            )?,
        });
    }
    Ok(found)
}

/// Offsets of accesses of `width` consecutive values each to a tile in LDS. `layout` is the
/// thread-value layout, `place` the tile's layout in LDS, `bytes` the size of an element.
pub(crate) fn of_lds(
    rules: &[Family],
    layout: &Layout,
    place: &ComposedLayout,
    width: i64,
    bytes: i64,
) -> Result<Placement, PassError> {
    let [threads, values] = in_lds(place, layout)?;
    let base = Term::of_layout(&threads, &self::threads(&threads)?)?;
    let bytes = word(bytes)?;
    let offsets = values
        .offsets()
        .step_by(width as usize)
        .map(|value| {
            let inner = base.clone() + word(place.offset() + value)?;
            let swizzled = match place.swizzle() {
                Some(swizzle) if !swizzle.is_identity() => inner.swizzled(swizzle),
                _ => inner,
            };
            Ok(swizzled * bytes)
        })
        .collect::<Result<Vec<Term>, PassError>>()?;
    best(&offsets, &Operand::lds(), rules)
}

/// Offsets of accesses through a descriptor to a tile of `tile` elements of `bytes` each of a
/// matrix whose lines run along the coordinate `along`, at `positions` of the tile and from where
/// the threads of `coordinates` lie. What lies across lines goes to the scalar operand, as far as
/// it is the same for all threads. The immediate of such instructions has `immediate_bits` bits.
pub(crate) fn of_matrix(
    rules: &[Family],
    along: usize,
    bytes: i64,
    tile: [i64; 2],
    coordinates: &Coordinates,
    positions: &[[i64; 2]],
    immediate_bits: u32,
) -> Result<Placement, PassError> {
    let across = 1 - along;
    let most = most_apart(tile[across], tile[along], bytes);
    let ld = Variable::new(LD, Kind::Uniform, 1, word(most)?);
    let ld = Term::variable(ld);
    let part = |coordinate: usize| -> Result<Term, PassError> {
        let layout = &coordinates.threads[coordinate];
        Ok(Term::of_layout(layout, &threads(layout)?)?)
    };
    let thread_part = part(across)? * ld.clone() + part(along)?;
    let offsets = positions
        .iter()
        .map(|position| {
            let mut offset = thread_part.clone() + word(position[along])?;
            if position[across] != 0 {
                offset = offset + ld.clone() * word(position[across])?;
            }
            Ok(offset * word(bytes)?)
        })
        .collect::<Result<Vec<Term>, PassError>>()?;
    let space = Operand::buffer(immediate_bits, ScalarOperand::Uniform);
    best(&offsets, &space, rules)
}

/// The placement with fewest registers that is found.
fn best(offsets: &[Term], space: &Operand, rules: &[Family]) -> Result<Placement, PassError> {
    let limits = Limits {
        families: rules.to_vec(),
        evaluated: false,
        ..Limits::default()
    };
    let placed = place(offsets, space, &limits)?;
    if placed.registers().len() > placed.minimum() && rules == Family::ALL {
        // What the rules miss, trying all threads may find.
        let evaluated = place(offsets, space, &Limits::default())?;
        if evaluated.registers().len() < placed.registers().len() {
            return Ok(evaluated);
        }
    }
    Ok(placed)
}

/// The leading dimension's name in terms.
pub(crate) const LD: &str = "ld";

/// The thread's number in a layout over threads.
pub(crate) fn threads(layout: &Layout) -> Result<Term, PassError> {
    Ok(Term::variable(Variable::thread(word(layout.size())?)))
}

/// A number of an offset.
fn word(value: i64) -> Result<u32, PassError> {
    let wanted = "an offset of 32 bits";
    u32::try_from(value).map_err(|_| PassError::Form { wanted, found: 0 })
}
