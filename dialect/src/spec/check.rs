//! What fields must satisfy together, as far as neither atoms nor a full plan are needed.

use tilefold_layout::Layout;
use tilefold_machine::Machine;

use super::Spec;
use super::error::{SpecError, join};
use super::read::{listed, nearest, shortened};
use crate::atoms::MmaAtom;
use crate::element::ElementType;
use crate::plan::{Block, LdsLayout, PartialCopy};
use crate::problem::{Extent, MAX_ELEMENTS, Operand, OperandLayout};

/// Most elements that one thread carries at a time.
const MAX_VALUES: i64 = 1024;

/// Checks the whole spec.
pub(super) fn check(spec: &Spec) -> Result<(), SpecError> {
    let machine = machine(spec)?;
    operands(spec)?;
    let waves = waves(spec, machine)?;
    tile(spec, waves)?;
    copies(spec, machine, waves.map(|[m, n]| m * n))?;
    lds(spec, machine)
}

/// The chip's record. A chip of which only the record is there has no atoms to make a kernel of.
fn machine(spec: &Spec) -> Result<&'static Machine, SpecError> {
    let has_atoms = |chip: &&str| MmaAtom::of_chip(chip).next().is_some();
    let known: Vec<_> = Machine::all()
        .iter()
        .map(|machine| machine.name.as_str())
        .filter(has_atoms)
        .collect();
    match Machine::by_name(&spec.arch) {
        Ok(machine) if has_atoms(&machine.name.as_str()) => Ok(machine),
        Ok(machine) => Err(spec.error(
            "arch",
            format!("there are no atoms for `{}` yet", machine.name),
            format!(
                "the simulator and `tilefold layout` know the chip; kernels are made for {}",
                listed(&known)
            ),
        )),
        Err(unknown) => {
            let mut help = format!("known chips are {}", listed(&known));
            if let Some(near) = nearest(&unknown.name, &known) {
                help = format!("did you mean `{near}`? {help}");
            }
            Err(spec.error(
                "arch",
                format!("unknown chip `{}`", shortened(&unknown.name)),
                help,
            ))
        }
    }
}

fn operands(spec: &Spec) -> Result<(), SpecError> {
    let problem = &spec.problem;
    let (m, n, k) = (problem.m, problem.n, problem.k);
    operand(spec, "gemm.a", &problem.a, [("m", m), ("k", k)])?;
    operand(spec, "gemm.b", &problem.b, [("k", k), ("n", n)])?;
    operand(spec, "gemm.c", &problem.c, [("m", m), ("n", n)])?;
    match &problem.c.layout {
        OperandLayout::Expr(layout) if may_overlap(layout) => Err(spec.error(
            "gemm.c.layout",
            format!("`{layout}` may put several elements of C in one place"),
            "make each stride step over all that the modes of smaller strides reach",
        )),
        _ => Ok(()),
    }
}

/// Whether, in order of stride, a mode does not step over all that the modes before it reach.
/// (Some layouts that fail this are injective all the same, such as `(3,2):(2,3)`; as layouts of
/// C they have no use.)
fn may_overlap(layout: &Layout) -> bool {
    let mut modes = layout.flat_modes();
    modes.retain(|&(extent, _)| extent > 1);
    modes.sort_unstable_by_key(|&(_, stride)| stride);
    let mut reach = 0;
    modes.into_iter().any(|(extent, stride)| {
        let overlaps = stride <= reach;
        // At most the layout's cosize, which fits.
        reach += (extent - 1) * stride;
        overlaps
    })
}

fn operand(
    spec: &Spec,
    path: &str,
    operand: &Operand,
    [first, second]: [(&str, Extent); 2],
) -> Result<(), SpecError> {
    let (contiguous, other, kind) = match &operand.layout {
        OperandLayout::Row => (second, first, "row"),
        OperandLayout::Col => (first, second, "col"),
        OperandLayout::Expr(layout) => {
            let path = &join(path, "layout");
            if operand.ld.is_some() {
                return Err(spec.error(
                    path,
                    "a layout says where everything lies, so there is no `ld` beside it",
                    "leave out `ld`, or write `row` or `col` for the layout",
                ));
            }
            if layout
                .flat_modes()
                .into_iter()
                .any(|(_, stride)| stride < 0)
            {
                return Err(spec.error(
                    path,
                    format!("`{layout}` has a stride below 0"),
                    "matrices are passed by their first element: use strides of at least 0",
                ));
            }
            let extents = layout_extents(spec, path, layout, [first.0, second.0])?;
            for (found, (name, extent)) in extents.into_iter().zip([first, second]) {
                if extent.exact().is_some_and(|extent| extent != found) {
                    return Err(spec.error(
                        path,
                        format!("has extent {found} along {name}, which is {extent}"),
                        format!(
                            "give the modes of the layout the sizes of {} and {}",
                            first.0, second.0
                        ),
                    ));
                }
            }
            if layout.cosize() > MAX_ELEMENTS {
                return Err(spec.error(
                    path,
                    format!(
                        "spans {} elements, the most is {MAX_ELEMENTS}",
                        layout.cosize()
                    ),
                    "make the strides smaller",
                ));
            }
            return Ok(());
        }
    };
    if let (Some(ld), (name, Extent::Exact(extent))) = (operand.ld, contiguous)
        && ld < extent
    {
        return Err(spec.error(
            &join(path, "ld"),
            format!("{ld} is less than {name} = {extent}, so lines of a `{kind}` matrix overlap"),
            format!("give `ld` at least {extent}, or leave it out for a dense matrix"),
        ));
    }
    let lines = other.1.exact().unwrap_or(1);
    let line = operand.ld.or(contiguous.1.exact()).unwrap_or(1);
    // Both are below 2^31, so the product is exact.
    if lines * line > MAX_ELEMENTS {
        return Err(spec.error(
            path,
            format!("spans {lines} x {line} elements, the most is {MAX_ELEMENTS}"),
            format!("make {} or {} smaller", first.0, second.0),
        ));
    }
    Ok(())
}

/// The sizes of a layout's two modes.
fn layout_extents(
    spec: &Spec,
    path: &str,
    layout: &Layout,
    names: [&str; 2],
) -> Result<[i64; 2], SpecError> {
    let sizes: Vec<i64> = layout.modes().iter().map(Layout::size).collect();
    <[i64; 2]>::try_from(sizes).map_err(|sizes| {
        spec.error(
            path,
            format!("`{layout}` has {} modes, not two", sizes.len()),
            format!(
                "write a layout over ({},{}), as in `(16,8):(8,1)`",
                names[0], names[1]
            ),
        )
    })
}

/// The tile is a whole number of waves, and each wave's part a whole number of mma atoms.
fn tile(spec: &Spec, waves: Option<[i64; 2]>) -> Result<(), SpecError> {
    let block = spec.plan.tile.block;
    let [waves_m, waves_n] = waves.unwrap_or([1, 1]);
    let atom = spec
        .plan
        .atoms
        .mma
        .as_deref()
        .and_then(|name| Some((name, atom_shape(name)?)));
    let (_, shape) = atom.unwrap_or(("", [1, 1, 1]));
    for (axis, name) in ["m", "n", "k"].into_iter().enumerate() {
        let Some(extent) = block.0[axis] else {
            continue;
        };
        let waves = [waves_m, waves_n, 1][axis];
        // Waves are at most 1024 and atom extents at most 4096 each.
        let unit = waves * shape[axis];
        if extent % unit == 0 {
            continue;
        }
        let mut parts = Vec::new();
        if waves > 1 {
            parts.push(format!("{waves} waves (`tile.waves`)"));
        }
        if let Some((atom, _)) = atom.filter(|_| shape[axis] > 1) {
            parts.push(format!("{} of `{atom}`", shape[axis]));
        }
        return Err(spec.error(
            &format!("tile.block[{axis}]"),
            format!(
                "{extent} along {name} is not a multiple of {}",
                parts.join(" times ")
            ),
            format!(
                "use a multiple of {unit}, such as {}",
                (extent / unit + 1) * unit
            ),
        ));
    }
    Ok(())
}

/// The shape that stands in an atom's name, as in `wmma.f16.16x16x16.f16`. Names are looked up
/// where the atoms are known; this is only about tiles.
fn atom_shape(name: &str) -> Option<[i64; 3]> {
    name.split('.').find_map(|part| {
        let extents: Option<Vec<i64>> = part
            .split('x')
            .map(|digits| {
                digits
                    .parse()
                    .ok()
                    .filter(|extent| (1..=4096).contains(extent))
            })
            .collect();
        extents?.try_into().ok()
    })
}

/// Waves along m and n, if they are said. The wave layout is an order of them.
fn waves(spec: &Spec, machine: &Machine) -> Result<Option<[i64; 2]>, SpecError> {
    let most = i64::from(machine.max_waves_per_workgroup);
    let counts = spec.plan.tile.waves;
    if let Some([m, n]) = counts.filter(|[m, n]| m * n > most) {
        return Err(spec.error(
            "tile.waves",
            format!(
                "{m} x {n} are {} waves, a workgroup of {} has {most} at most",
                m * n,
                machine.name
            ),
            "use fewer waves",
        ));
    }
    let Some(layout) = &spec.plan.mma.waves else {
        return Ok(counts);
    };
    let path = "mma.waves";
    let sizes = layout_extents(spec, path, layout, ["m", "n"])?;
    if let Some([m, n]) = counts.filter(|&counts| counts != sizes) {
        return Err(spec.error(
            path,
            format!(
                "`{layout}` is {} x {} waves, `tile.waves` is {m} x {n}",
                sizes[0], sizes[1]
            ),
            format!("write an order of {m} x {n} waves, as in `({m},{n}):({n},1)`"),
        ));
    }
    permutation(spec, path, layout, "wave", most)?;
    Ok(Some(sizes))
}

/// The layout numbers its elements, of which there are at most so many: 0, 1, 2 ... in any order.
fn permutation(
    spec: &Spec,
    path: &str,
    layout: &Layout,
    what: &str,
    most: i64,
) -> Result<(), SpecError> {
    let size = layout.size();
    if size > most {
        return Err(spec.error(
            path,
            format!("`{layout}` has {size} {what}s, the most is {most}"),
            format!("use fewer {what}s"),
        ));
    }
    let mut offsets: Vec<i64> = layout.offsets().collect();
    offsets.sort_unstable();
    if offsets.into_iter().eq(0..size) {
        return Ok(());
    }
    Err(spec.error(
        path,
        format!(
            "`{layout}` does not give each {what} from 0 to {} one place",
            size - 1
        ),
        "use strides that number the places without gaps, as in `(16,8):(8,1)`",
    ))
}

fn copies(spec: &Spec, machine: &Machine, waves: Option<i64>) -> Result<(), SpecError> {
    let [m, n, k] = spec.plan.tile.block.0;
    let copies = &spec.plan.copy;
    copy(spec, machine, "copy.a", &copies.a, "m", waves, [m, k])?;
    copy(spec, machine, "copy.b", &copies.b, "n", waves, [n, k])
}

/// The threads are those of the workgroup, and threads times values divide the tile.
fn copy(
    spec: &Spec,
    machine: &Machine,
    path: &str,
    copy: &PartialCopy,
    rows: &str,
    waves: Option<i64>,
    tile: [Option<i64>; 2],
) -> Result<(), SpecError> {
    let mut covered = [1; 2];
    let lanes = i64::from(machine.wave);
    for (key, layout) in [("threads", &copy.threads), ("values", &copy.values)] {
        let Some(layout) = layout else { continue };
        let path = &join(path, key);
        let sizes = layout_extents(spec, path, layout, [rows, "k"])?;
        if key == "threads" {
            if let Some(waves) = waves.filter(|waves| waves * lanes != layout.size()) {
                let threads = waves * lanes;
                return Err(spec.error(
                    path,
                    format!(
                        "`{layout}` has {} threads, the workgroup has {waves} waves of {lanes} lanes",
                        layout.size()
                    ),
                    format!("lay out {threads} threads, as in `({},8):(8,1)`", threads / 8),
                ));
            }
            permutation(
                spec,
                path,
                layout,
                "thread",
                i64::from(machine.max_waves_per_workgroup) * lanes,
            )?;
        } else {
            permutation(spec, path, layout, "value", MAX_VALUES)?;
        }
        // Threads are at most 1024 and values at most MAX_VALUES.
        covered = [covered[0] * sizes[0], covered[1] * sizes[1]];
        let divides =
            |axis: usize| tile[axis].is_none_or(|extent: i64| extent % covered[axis] == 0);
        if !divides(0) || !divides(1) {
            let [tall, deep] = tile.map(|extent| match extent {
                Some(extent) => extent.to_string(),
                None => Block::OPEN.into(),
            });
            return Err(spec.error(
                path,
                format!(
                    "copies {} x {} elements at a time, which does not divide the tile of {tall} x \
                     {deep}",
                    covered[0], covered[1]
                ),
                format!("make threads times values divide the tile along {rows} and along k"),
            ));
        }
    }
    stores(spec, path, copy, rows)
}

/// The order of storing is one of the same elements.
fn stores(spec: &Spec, path: &str, copy: &PartialCopy, rows: &str) -> Result<(), SpecError> {
    let Some(stores) = &copy.stores else {
        return Ok(());
    };
    let path = &join(path, "stores");
    let Some(values) = &copy.values else {
        return Err(spec.error(
            path,
            "it is an order of the values of a thread, which are not said",
            "give `threads` and `values` too, or leave it out",
        ));
    };
    let sizes = layout_extents(spec, path, stores, [rows, "k"])?;
    // They have been found to be two.
    if sizes != layout_extents(spec, path, values, [rows, "k"])? {
        return Err(spec.error(
            path,
            format!("`{stores}` is not over the same elements as the values `{values}`"),
            "give it the shape of `values` with other strides",
        ));
    }
    permutation(spec, path, stores, "value", MAX_VALUES)
}

fn lds(spec: &Spec, machine: &Machine) -> Result<(), SpecError> {
    let [m, n, k] = spec.plan.tile.block.0;
    let (a, b) = (&spec.problem.a.element, &spec.problem.b.element);
    let layouts = &spec.plan.lds;
    lds_layout(spec, machine, "lds.a", &layouts.a, *a, ("m", [m, k]))?;
    lds_layout(spec, machine, "lds.b", &layouts.b, *b, ("n", [n, k]))
}

/// A layout in LDS has the tile's shape, fits, and gives every element a place of its own.
fn lds_layout(
    spec: &Spec,
    machine: &Machine,
    path: &str,
    layout: &Option<LdsLayout>,
    element: ElementType,
    (rows, tile): (&str, [Option<i64>; 2]),
) -> Result<(), SpecError> {
    let Some(LdsLayout::Expr(layout)) = layout else {
        return Ok(());
    };
    let sizes: Vec<i64> = layout.inner().modes().iter().map(Layout::size).collect();
    let agrees = |(size, extent): (&i64, Option<i64>)| extent.is_none_or(|it| it == *size);
    let open = tile == [None; 2];
    if !open && (sizes.len() != 2 || !sizes.iter().zip(tile).all(agrees)) {
        let found: Vec<String> = sizes.iter().map(i64::to_string).collect();
        let [tall, deep] = tile.map(|extent| match extent {
            Some(extent) => extent.to_string(),
            None => Block::OPEN.into(),
        });
        let [tall_as, deep_as] = [tile[0].unwrap_or(128), tile[1].unwrap_or(64)];
        return Err(spec.error(
            path,
            format!(
                "`{layout}` is {}, the tile is {tall} x {deep}",
                found.join(" x ")
            ),
            format!("write a layout over ({rows},k), as in `({tall_as},{deep_as}):({deep_as},1)`"),
        ));
    }
    let most = i64::from(machine.lds.per_workgroup) * 8 / i64::from(element.bits());
    let too_large = |elements: i64| {
        spec.error(
            path,
            format!("`{layout}` spans {elements} elements of {element}, LDS holds {most}"),
            "make the tile or the strides smaller",
        )
    };
    if layout.size() > most {
        return Err(too_large(layout.size()));
    }
    let mut offsets: Vec<i64> = layout.offsets().collect();
    offsets.sort_unstable();
    if let Some(&first) = offsets.first().filter(|&&first| first < 0) {
        return Err(spec.error(
            path,
            format!("`{layout}` puts an element at {first}, before the tile begins"),
            "use strides that are not negative",
        ));
    }
    if let Some(&last) = offsets.last().filter(|&&last| last >= most) {
        return Err(too_large(last.saturating_add(1)));
    }
    match offsets.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(spec.error(
            path,
            format!("`{layout}` puts several elements at offset {}", pair[0]),
            "use strides under which every element has a place of its own",
        )),
    }
}
