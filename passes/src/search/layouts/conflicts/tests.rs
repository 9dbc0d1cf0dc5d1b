//! Costs by groups against a count of every access, on tiles that are no powers of two too.

use super::*;
use crate::{
    access::in_lds,
    search::layouts::{
        TileUse,
        domain::{Copy, Threads as Order},
    },
};
use std::collections::HashSet;
use tilefold_dialect::element::ElementType;
use tilefold_machine::Machine;

fn domain(tile: [i64; 2], element: ElementType, load_elements: i64, along: usize) -> Domain {
    let size = tile[0] * tile[1];
    let fragments = format!("(64,(1,{})):(1,(0,64))", size / 64);
    let usage = TileUse {
        machine: Machine::by_name("gfx1100").unwrap(),
        tile,
        element,
        threads: 64,
        along,
        load_elements,
        fragments: fragments.parse().unwrap(),
        max_bytes: 1 << 20,
        reorder: true,
    };
    Domain::new(&usage, &Rc::default()).unwrap()
}

/// Instructions, conflict cycles and registers, access by access.
fn counted(
    domain: &Domain,
    placement: &Placement,
    layout: &Layout,
    width: i64,
    access: Access,
) -> [i64; 3] {
    let [threads, values] = in_lds(&(&placement.inner).into(), layout).unwrap();
    let machine = domain.usage.machine;
    let swizzle = placement.swizzle;
    let [threads, values] = [threads, values].map(|part| part.offsets().collect::<Vec<_>>());
    let bits = Width::from_bits((width * domain.bytes * 8) as u32).unwrap();
    let (mut used, mut swizzled) = (0, 0);
    for thread in &threads {
        used |= thread;
        swizzled |= swizzle.apply(*thread);
    }
    let (mut instructions, mut cycles, mut kept) = (0, 0, HashSet::new());
    for value in values.iter().step_by(width as usize) {
        for wave in threads.chunks(machine.wave as usize) {
            let addresses: Vec<_> = wave
                .iter()
                .map(|thread| Some((swizzle.apply(thread + value) * domain.bytes) as u32))
                .collect();
            instructions += 1;
            cycles += i64::from(machine.conflict_cycles(&addresses, bits, access));
        }
        kept.insert(match value & used {
            _ if swizzle.is_identity() => (true, 0),
            0 => (true, swizzle.apply(*value) & swizzled),
            _ => (false, *value),
        });
    }
    [instructions, cycles, kept.len() as i64]
}

#[test]
fn groups_cost_what_their_accesses_cost() {
    let (mut compared, mut apart) = (0, 0);
    for (tile, element, load, along) in [
        ([64, 32], ElementType::F16, 8, 1),
        ([64, 32], ElementType::F16, 4, 0),
        ([48, 48], ElementType::F16, 2, 1),
        ([48, 24], ElementType::Fp8, 2, 0),
        ([64, 9], ElementType::F16, 1, 0),
    ] {
        let domain = domain(tile, element, load, along);
        let mut placements = vec![
            Placement::rows(&domain).unwrap(),
            Placement::cols(&domain).unwrap(),
            Placement::padded(&domain, 1).unwrap(),
            Placement::padded(&domain, 8).unwrap(),
        ];
        placements.extend(Placement::tiled(&domain, 8, 8));
        for index in 0..placements.len() {
            for fields in [(1, 3, 3), (2, 1, 4), (3, 3, 5), (1, 0, 9), (2, 2, -3)] {
                let swizzle = Swizzle::new(fields.0, fields.1, fields.2).unwrap();
                placements.extend(placements[index].swizzled(&domain, swizzle));
            }
        }
        let lines: Vec<i64> = domain.line_threads(1).collect();
        for line in lines {
            for first_along in [1, line] {
                let order = Order {
                    line,
                    first_along,
                    then_across: 64 / line,
                };
                let copy = Copy::new(&domain, order, 1).unwrap();
                for placement in &placements {
                    let mut counter = Counter::new(&domain);
                    let (inner, mut parts) = (&placement.inner, Parts::default());
                    let access = Access::Write;
                    let side = counter.side(inner, &mut parts, &copy.commit, access, 8);
                    let Some(mut side) = side else { continue };
                    let Some(cost) = counter.cost(&mut side, placement.swizzle) else {
                        continue;
                    };
                    let all = counted(&domain, placement, &copy.commit, cost.width, access);
                    let figures = [cost.instructions, cost.cycles, cost.registers];
                    assert_eq!(figures, all, "{:?} by {}", placement, copy.commit);
                    compared += 1;
                    let groups = side.uses.iter().map(|(.., found)| found.served.len());
                    apart += usize::from(groups.max() > Some(1));
                }
            }
        }
    }
    assert!(compared > 200 && apart > 20, "{compared}, {apart}");
}
