//! The accumulators on their way to C.

mod exchange;

use super::{
    Lowering,
    emit::Emit,
    global::{Matrix, descriptor},
    registers::regroup,
};
use crate::{PassError, access::Coordinates, widen_epilogue::HALVES};
use melior::ir::{
    Block, Region, RegionLike, Type, Value, ValueLike,
    operation::{OperationBuilder, OperationRef},
};
use std::rc::Rc;
use tilefold_dialect::{
    atoms::CopyAtom,
    element::ElementType,
    tile::{integers, layout, text},
};

/// One store of a lane.
struct Piece<'c> {
    /// An integer vector.
    value: Value<'c, 'c>,
    /// Bytes from the block's first element: the lane's part, and a constant one.
    offset: (Value<'c, 'c>, i64),
    /// Elements along the line from the lane's first to the piece's first.
    along: i64,
}

impl<'c> Lowering<'c, '_> {
    /// `tile.store`
    pub fn store_tile(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let sums = self.registers(operation, 0)?;
        let matrix = self.matrix(operation, 1)?;
        let tile = integers::<2>(&operation, "tile")?;
        let coordinates = Coordinates::new(&layout(&operation, "layout")?, tile)?;
        let atom = CopyAtom::by_name(text(&operation, "store")?).ok_or(PassError::Form {
            wanted: "a store atom",
            found: 0,
        })?;
        let width = atom.elements(matrix.element);
        let exchanged = text(&operation, "exchange")? == HALVES;

        let thread = matrix.thread_offset(emit, self.thread, &coordinates)?;
        let mut starts = coordinates.values.iter().step_by(width as usize);
        let mut pieces = Vec::new();
        for sum in self.results(emit, &sums) {
            let mut converted = self.output(emit, sum, matrix.element);
            if exchanged {
                converted = self.exchange(emit, converted, matrix.element.bits());
            }
            let values = self.values();
            for value in regroup(emit, &[converted], values, width, matrix.element.bits()) {
                let position = *starts.next().ok_or(PassError::Form {
                    wanted: "a place in C",
                    found: 0,
                })?;
                let (across, along) = matrix.value_offset(emit, position);
                let lane = across.map_or(thread, |across| emit.add(thread, across));
                let offset = (lane, along);
                pieces.push(Piece {
                    value,
                    offset,
                    along: position[matrix.along],
                });
            }
        }

        let mut base = matrix.base;
        let mut start = Vec::new();
        for coordinate in [0, 1] {
            let block = self.scalar(operation, 2 + coordinate)?;
            start.push(emit.mul(block, emit.constant(32, tile[coordinate])));
            base = emit.offset(base, matrix.offset_of(emit, coordinate, start[coordinate]));
        }
        if text(&operation, "edge")? == "none" {
            for Piece {
                value,
                offset: (lane, constant),
                ..
            } in pieces
            {
                let pointer = emit.offset_by(emit.offset(base, emit.widen(lane)), constant);
                emit.store(value, pointer, i64::from(atom.bits) / 8);
            }
            return Ok(());
        }
        let bytes = self.span(emit, &matrix, tile, [start[0], start[1]], false);
        let lines = Lines {
            resource: descriptor(emit, base, bytes),
            left: emit.binary(
                "llvm.sub",
                matrix.extents[matrix.along],
                start[matrix.along],
            ),
            thread: self.along(emit, &matrix, &coordinates)?,
            matrix,
        };
        if width == 1 {
            // Of two branches LLVM takes all elements out of their registers before both, where
            // they have registers of their own.
            for piece in &pieces {
                lines.store_whole(emit, piece, width);
            }
            return Ok(());
        }
        let whole = emit.constant(32, tile[lines.matrix.along]);
        let inside = emit.at_least(lines.left, whole);
        emit.either(
            inside,
            |emit| {
                for Piece { value, offset, .. } in &pieces {
                    lines.store(emit, *value, width, *offset);
                }
            },
            |emit| {
                for piece in &pieces {
                    lines.store_whole(emit, piece, width);
                }
                // No piece lies across the end of a line that holds whole pieces.
                let over = emit.binary("llvm.urem", lines.left, emit.constant(32, width));
                let whole = emit.at_least(emit.constant(32, 0), over);
                let rest = |emit: &Emit<'c>| {
                    for piece in &pieces {
                        lines.store_rest(emit, piece, width);
                    }
                };
                emit.either(whole, |_| (), rest);
            },
        );
        Ok(())
    }

    /// Elements along the line from the block's first to the thread's.
    fn along(
        &self,
        emit: &Emit<'c>,
        matrix: &Matrix<'c>,
        coordinates: &Coordinates,
    ) -> Result<Value<'c, 'c>, PassError> {
        let layout = &coordinates.threads[matrix.along];
        let along = super::address::of_thread(emit, self.thread, layout)?;
        Ok(along.unwrap_or_else(|| emit.constant(32, 0)))
    }

    /// Results of an atom in a lane.
    fn values(&self) -> i64 {
        self.plan.atom.result_values()
    }

    /// The results of each atom, m fastest, as integer vectors without what an atom leaves out.
    fn results(&self, emit: &Emit<'c>, sums: &[Value<'c, 'c>]) -> Vec<Value<'c, 'c>> {
        let cd = &self.plan.atom.cd;
        let bits = self.plan.atom.accumulator.bits();
        let repeat = self.plan.repeat();
        let part = |sum: Value<'c, 'c>, first: i64| {
            let whole = emit.bitcast(sum, emit.vector(cd.len, bits));
            if cd.step == 1 {
                return whole;
            }
            let positions: Vec<i32> = (0..self.values())
                .map(|v| (v * cd.step + first) as i32)
                .collect();
            emit.shuffle(whole, whole, &positions, emit.vector(self.values(), bits))
        };
        let vectors = self.accumulators(repeat[0]);
        (0..repeat[1])
            .flat_map(|n| (0..repeat[0]).map(move |m| (m, n)))
            .map(|(m, n)| {
                let (place, half) = if self.plan.packed() {
                    (m / 2, m % 2)
                } else {
                    (m, 0)
                };
                part(sums[(place + n * vectors) as usize], half)
            })
            .collect()
    }

    /// One atom's results in the element type of C, as a vector of integers.
    fn output(
        &self,
        emit: &Emit<'c>,
        result: Value<'c, 'c>,
        element: ElementType,
    ) -> Value<'c, 'c> {
        let from = self.plan.atom.accumulator;
        if from == element {
            return result;
        }
        let values = self.values();
        let float = |element: ElementType| -> Type<'c> {
            emit.vector_of(values, emit.r#type(&element.to_string()))
        };
        let number = emit.bitcast(result, float(from));
        let name = if element.bits() > from.bits() {
            "llvm.fpext"
        } else {
            "llvm.fptrunc"
        };
        let converted = emit.op(name, &[number], float(element), &[]);
        emit.bitcast(converted, emit.vector(values, element.bits()))
    }
}

/// The lines of a block of C that stores are bounded to.
struct Lines<'c> {
    matrix: Rc<Matrix<'c>>,
    /// A descriptor from the block's first element to the last one inside C.
    resource: Value<'c, 'c>,
    /// Elements of C from the block's first to the end of its line.
    left: Value<'c, 'c>,
    /// Elements along the line from the block's first to the thread's.
    thread: Value<'c, 'c>,
}

/// An offset that no descriptor of C reaches, with any constant of a tile added: a tile spans
/// at most 2^31 bytes. It stands in the lane's part of the offset, which every reading of the
/// range check counts.
const OUTSIDE: i64 = i32::MIN as i64;

impl<'c> Lines<'c> {
    /// Stores `count` elements where the descriptor's range has them.
    fn store(
        &self,
        emit: &Emit<'c>,
        value: Value<'c, 'c>,
        count: i64,
        offset: (Value<'c, 'c>, i64),
    ) {
        let (lane, constant) = offset;
        let lane = match constant {
            0 => lane,
            _ => emit.add(lane, emit.constant(32, constant)),
        };
        // Buffer instructions move 32-bit words, or less than one.
        let value = match count * self.matrix.bytes() / 4 {
            0 => value,
            words => emit.bitcast(value, emit.vector(words, 32)),
        };
        let none = emit.constant(32, 0);
        let operands = [value, self.resource, lane, none, none];
        emit.effect("rocdl.raw.ptr.buffer.store", &operands, &[]);
    }

    /// Whether the first `count` elements of a piece lie inside its line.
    fn reaches(&self, emit: &Emit<'c>, piece: &Piece<'c>, count: i64) -> Value<'c, 'c> {
        let left = emit.binary("llvm.sub", self.left, self.thread);
        emit.at_least(left, emit.constant(32, piece.along + count))
    }

    /// Stores a piece of `width` elements if it ends on its line.
    fn store_whole(&self, emit: &Emit<'c>, piece: &Piece<'c>, width: i64) {
        let (lane, constant) = piece.offset;
        let outside = emit.constant(32, OUTSIDE);
        let whole = self.reaches(emit, piece, width);
        let lane = emit.select(whole, lane, outside);
        self.store(emit, piece.value, width, (lane, constant));
    }

    /// Stores what lies on its line of a piece of `width` elements that does not end there, one by
    /// one.
    fn store_rest(&self, emit: &Emit<'c>, piece: &Piece<'c>, width: i64) {
        let (lane, constant) = piece.offset;
        let outside = emit.constant(32, OUTSIDE);
        let whole = self.reaches(emit, piece, width);
        for index in 0..width - 1 {
            let bits = self.matrix.element.bits();
            let element = emit.element(piece.value, index, emit.int(bits));
            let alone = emit.binary("llvm.xor", self.reaches(emit, piece, index + 1), whole);
            let lane = emit.select(alone, lane, outside);
            let offset = constant + index * self.matrix.bytes();
            self.store(emit, element, 1, (lane, offset));
        }
    }
}

impl<'c> Emit<'c> {
    /// `left >= right`, of signed numbers.
    fn at_least(&self, left: Value<'c, '_>, right: Value<'c, '_>) -> Value<'c, 'c> {
        const SIGNED_AT_LEAST: i64 = 5; // of arith.cmpi's predicates
        let predicate = self.integer(64, SIGNED_AT_LEAST);
        self.op(
            "arith.cmpi",
            &[left, right],
            self.int(1),
            &[("predicate", predicate)],
        )
    }

    fn select(
        &self,
        condition: Value<'c, '_>,
        then: Value<'c, 'c>,
        otherwise: Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        self.op(
            "arith.select",
            &[condition, then, otherwise],
            then.r#type(),
            &[],
        )
    }

    /// `if condition { then } else { otherwise }`.
    fn either(
        &self,
        condition: Value<'c, '_>,
        then: impl FnOnce(&Self),
        otherwise: impl FnOnce(&Self),
    ) {
        let regions = [Region::new(), Region::new()];
        let [first, second] = regions.each_ref().map(|region| {
            Emit::new(
                self.context,
                self.location,
                region.append_block(Block::new(&[])),
            )
        });
        then(&first);
        first.effect("scf.yield", &[], &[]);
        otherwise(&second);
        second.effect("scf.yield", &[], &[]);
        let operation = OperationBuilder::new("scf.if", self.location)
            .add_operands(&[condition])
            .add_regions(regions)
            .build()
            .expect("an if without results infers nothing");
        self.append(operation);
    }
}
