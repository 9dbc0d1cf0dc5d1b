//! Tiles in LDS, who accesses what, and the offsets of it: as terms, and from the definition.

use tilefold_address::{Instruction, Operator, Placement, Term, Variable};
use tilefold_layout::{ComposedLayout, Layout};

/// The accesses of a group.
pub struct Group {
    /// Offsets in bytes.
    pub offsets: Vec<Term>,
    /// The same by access and thread, from the layouts.
    pub expected: Vec<Vec<i64>>,
}

impl Group {
    /// Accesses of `width` values each, of `bytes` bytes, that the thread-value layout `layout`
    /// makes of a tile placed in LDS by `placement`.
    pub fn new(placement: &str, layout: &Layout, width: i64, bytes: u32) -> Self {
        let placement: ComposedLayout = placement.parse().unwrap();
        let part = |mode| {
            let mode: Layout = layout.mode(mode).unwrap();
            placement.inner().compose(&mode).unwrap()
        };
        let (threads, values) = (part(0), part(1));
        let swizzle = placement.swizzle().unwrap();
        let thread = Term::variable(Variable::thread(threads.size() as u32));
        let base = Term::of_layout(&threads, &thread).unwrap();
        let starts = (0..values.size()).step_by(width as usize);
        let offset = |access: i64| {
            let start = (placement.offset() + values.at(access)) as u32;
            (base.clone() + start).swizzled(swizzle) * bytes
        };
        let at = |thread: i64, value: i64| placement.at(layout.at(thread + threads.size() * value));
        let expected = |access: i64| {
            let of_thread = |thread: i64| {
                let first = at(thread, access);
                let mut values = 0..width;
                assert!(values.all(|value| at(thread, access + value) == first + value));
                first * i64::from(bytes)
            };
            (0..threads.size()).map(of_thread).collect()
        };
        Self {
            offsets: starts.clone().map(offset).collect(),
            expected: starts.map(expected).collect(),
        }
    }
}

/// An instruction on numbers, which must not wrap.
pub fn compute(instruction: Instruction<'_, u32>, variable: impl Fn(&Variable) -> u32) -> u32 {
    match instruction {
        Instruction::Constant(value) => value,
        Instruction::Variable(own) => variable(own),
        Instruction::Binary(operator, a, b) => match operator {
            Operator::Add => a + b,
            Operator::Mul => a * b,
            Operator::Xor => a ^ b,
            Operator::And => a & b,
            Operator::Shl => a << b,
            Operator::Lshr => a >> b,
            Operator::Udiv => a / b,
            Operator::Urem => a % b,
        },
    }
}

/// The offsets that a placement gives, by emitting it; also how many binary operations its entry
/// and its step have.
pub fn emitted(
    placement: &Placement,
    variable: impl Fn(&Variable) -> u32,
) -> (Vec<u32>, [usize; 2]) {
    let mut counts = [0; 2];
    let entry = placement.entry(|instruction| {
        counts[0] += usize::from(matches!(instruction, Instruction::Binary(..)));
        compute(instruction, &variable)
    });
    let operands = placement.step(&entry, |instruction| {
        counts[1] += usize::from(matches!(instruction, Instruction::Binary(..)));
        compute(instruction, &variable)
    });
    let offsets = placement.accesses().iter().map(|access| {
        let scalar = access.scalar.map_or(0, |scalar| operands.scalars[scalar]);
        operands.registers[access.register] + scalar + access.immediate
    });
    (offsets.collect(), counts)
}

/// Fragment reads of a row-major tile of `rows` x `k`: lanes down 16 rows, the halves of a wave 8
/// apart along k, waves down the rows; values 8 along k, then blocks of 16 rows, then of 16 k.
pub fn reads(rows: i64, k: i64, waves: i64) -> Layout {
    let blocks = rows / 16 / waves;
    let text = format!(
        "((16,2,{waves}),(8,{blocks},{})):((1,{},{}),({rows},16,{}))",
        k / 16,
        8 * rows,
        16 * blocks,
        16 * rows
    );
    text.parse().unwrap()
}

/// Copy writes to the same: threads along k, 8 elements each, then down the rows. `None` where
/// the threads do not fit.
pub fn writes(rows: i64, k: i64, threads: i64) -> Option<Layout> {
    let along = k / 8;
    let down = threads / along;
    if threads % along != 0 || down > rows || rows % down != 0 {
        return None;
    }
    let text = format!(
        "(({along},{down}),(8,{})):(({},1),({rows},{down}))",
        rows / down,
        8 * rows
    );
    Some(text.parse().unwrap())
}

/// Ways to place such a tile: plain, padded, and swizzled by several.
pub fn placements(rows: i64, k: i64) -> Vec<String> {
    let mut all = vec![format!("({rows},{k}):({k},1)")];
    all.extend([8, 16].map(|pad| format!("({rows},{k}):({},1)", k + pad)));
    if k.count_ones() == 1 {
        let bits = (k / 8).trailing_zeros();
        let swizzles = (bits..=bits + 2).map(|shift| (bits, shift));
        let fewer = (bits > 1).then_some((bits - 1, bits));
        let swizzles = swizzles.chain(fewer);
        all.extend(
            swizzles
                .map(|(bits, shift)| format!("Sw<{bits},3,{shift}> o 0 o ({rows},{k}):({k},1)")),
        );
    }
    all
}
