//! Results exchanged between the halves of a wave.

use crate::lower::{Lowering, emit::Emit};
use melior::ir::{Attribute, Value};

/// Selectors of `v_permlanex16_b32` that name each lane's counterpart in the other half: lane
/// i of 16 takes from lane i (RDNA 3 ISA guide, `V_PERMLANEX16_B32`).
const COUNTERPARTS: [i64; 2] = [0x7654_3210, 0xfedc_ba98_u32 as i32 as i64];

/// Selectors of `v_perm_b32` over the bytes of (the counterpart's word, a lane's own), whose
/// bytes are 4 to 7 and 0 to 3 (RDNA 3 ISA guide, `V_PERM_B32`). The lower half keeps its own
/// low 16 bits and puts the counterpart's low 16 bits above; the upper half keeps its own high
/// 16 bits and puts the counterpart's below.
const LOW_HALVES: i64 = 0x0504_0100;
const HIGH_HALVES: i64 = 0x0302_0706;

impl<'c> Lowering<'c, '_> {
    /// One atom's results, an even number of `bits` each: a lane of the lower half gives the
    /// upper half of its values to its counterpart for that one's lower values. Each then has
    /// the lower half's values and the upper half's in turn.
    pub fn exchange(&self, emit: &Emit<'c>, results: Value<'c, 'c>, bits: u32) -> Value<'c, 'c> {
        let pairs = self.values() / 2;
        let r#type = emit.vector(2 * pairs, bits);
        // A value of the lower half of the vector, and its counterpart in the upper one.
        let order: Vec<i32> = (0..pairs)
            .flat_map(|pair| [pair as i32, (pair + pairs) as i32])
            .collect();
        let ordered = emit.shuffle(results, results, &order, r#type);
        let half = emit.binary("llvm.and", self.thread, emit.constant(32, 16));
        let lower = emit.at_least(emit.constant(32, 0), half);
        let mut words = emit.bitcast(ordered, emit.vector(2 * pairs * i64::from(bits) / 32, 32));
        let (int, count) = (emit.int(32), pairs * i64::from(bits) / 16);
        let set = |words, index, word| {
            let place = emit.constant(32, index);
            emit.op(
                "llvm.insertelement",
                &[words, word, place],
                emit.vector(count, 32),
                &[],
            )
        };
        if bits == 16 {
            let [low, high] = [LOW_HALVES, HIGH_HALVES].map(|bytes| emit.constant(32, bytes));
            let selector = emit.select(lower, low, high);
            for index in 0..count {
                let own = emit.element(words, index, int);
                let other = counterpart(emit, own);
                words = set(words, index, permute(emit, other, own, selector));
            }
        } else {
            for pair in 0..pairs {
                let [low, high] = [0, 1].map(|part| emit.element(words, 2 * pair + part, int));
                let taken = counterpart(emit, emit.select(lower, high, low));
                words = set(words, 2 * pair, emit.select(lower, low, taken));
                words = set(words, 2 * pair + 1, emit.select(lower, taken, high));
            }
        }
        emit.bitcast(words, r#type)
    }
}

/// The same word of the lane as far into the wave's other half.
fn counterpart<'c>(emit: &Emit<'c>, word: Value<'c, 'c>) -> Value<'c, 'c> {
    let [low, high] = COUNTERPARTS.map(|selector| emit.constant(32, selector));
    let old = emit.poison(emit.int(32));
    // All lanes are active, so that none is fetched in spite of being inactive.
    let no: Attribute<'c> = emit.integer(1, 0);
    emit.op(
        "rocdl.permlanex16",
        &[old, word, low, high],
        emit.int(32),
        &[("fi", no), ("boundControl", no)],
    )
}

/// Four of the bytes of two words.
fn permute<'c>(
    emit: &Emit<'c>,
    high: Value<'c, 'c>,
    low: Value<'c, 'c>,
    selector: Value<'c, 'c>,
) -> Value<'c, 'c> {
    emit.op(
        "llvm.call_intrinsic",
        &[high, low, selector],
        emit.int(32),
        &[
            ("intrin", emit.text("llvm.amdgcn.perm")),
            ("op_bundle_sizes", emit.attribute("array<i32>")),
            ("operandSegmentSizes", emit.attribute("array<i32: 3, 0>")),
        ],
    )
}
