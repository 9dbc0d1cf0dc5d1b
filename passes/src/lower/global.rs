//! Matrices in global memory and the loads of their tiles.

use super::{
    Lowered, Lowering, Staged,
    address::{Placed, of_thread},
    emit::{BUFFER, Emit},
};
use crate::{PassError, access::Coordinates, rewrite};
use melior::ir::{Type, Value, operation::OperationRef};
use std::{cell::RefCell, collections::HashMap, rc::Rc};
use tilefold_dialect::{
    atoms::CopyAtom,
    element::ElementType,
    tile::{integer, integers, layout, text},
};

/// A whole matrix: `base[first * ld + second]`, or the other way about.
pub struct Matrix<'c> {
    pub base: Value<'c, 'c>,
    /// Extents along both coordinates.
    pub extents: [Value<'c, 'c>; 2],
    pub ld: Value<'c, 'c>,
    pub element: ElementType,
    /// Which coordinate is contiguous.
    pub along: usize,
    pub access: Access,
    /// Places of loads through a descriptor, by thread-value layout and elements of a load.
    pub placed: RefCell<HashMap<(String, i64), Rc<Placed<'c>>>>,
    /// Lanes of loads through an address, likewise.
    lanes: RefCell<HashMap<(String, i64), Lanes<'c>>>,
    /// Whether lanes have registers of their own, though they may be another matrix's too.
    own_lanes: bool,
}

/// For each load a lane's bytes from an address, in 32 bits, and a constant.
type Lanes<'c> = Rc<Vec<(Value<'c, 'c>, i64)>>;

/// How accesses of A, B or C are kept inside it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// They are not.
    Global,
    /// Lanes past the last row access the last one.
    Clamped,
    /// By the range check of a descriptor.
    Buffer,
}

impl<'c> Matrix<'c> {
    /// Bytes of an element.
    pub fn bytes(&self) -> i64 {
        i64::from(self.element.bits()) / 8
    }

    /// Elements from one value of a coordinate to the next: 1 or the leading dimension.
    fn stride(&self, emit: &Emit<'c>, coordinate: usize) -> Value<'c, 'c> {
        if coordinate == self.along {
            emit.constant(32, 1)
        } else {
            self.ld
        }
    }

    /// Bytes from the start of the matrix to `position` along a coordinate, in 64 bits.
    pub fn offset_of(
        &self,
        emit: &Emit<'c>,
        coordinate: usize,
        position: Value<'c, 'c>,
    ) -> Value<'c, 'c> {
        let position = emit.widen(position);
        let line = if coordinate == self.along {
            position
        } else {
            emit.mul(position, emit.widen(self.ld))
        };
        emit.mul(line, emit.constant(64, self.bytes()))
    }

    /// Bytes from a tile's first element to a thread's, in 32 bits: what a tile spans is
    /// bounded by the kernel's conditions on the leading dimension.
    pub fn thread_offset(
        &self,
        emit: &Emit<'c>,
        thread: Value<'c, 'c>,
        coordinates: &Coordinates,
    ) -> Result<Value<'c, 'c>, PassError> {
        let mut sum = emit.constant(32, 0);
        for coordinate in [0, 1] {
            if let Some(position) = of_thread(emit, thread, &coordinates.threads[coordinate])? {
                let elements = emit.mul(position, self.stride(emit, coordinate));
                sum = emit.add(sum, elements);
            }
        }
        Ok(emit.mul(sum, emit.constant(32, self.bytes())))
    }

    /// Of a value at `position` in its tile, bytes across lines, in 32 bits, and bytes along
    /// the line.
    pub fn value_offset(
        &self,
        emit: &Emit<'c>,
        position: [i64; 2],
    ) -> (Option<Value<'c, 'c>>, i64) {
        let along = position[self.along] * self.bytes();
        let across = position[1 - self.along] * self.bytes();
        if across == 0 {
            return (None, along);
        }
        (Some(emit.mul(self.ld, emit.constant(32, across))), along)
    }
}

/// Where the loads of a tile are.
enum Source<'c> {
    /// An address, and what is added to it.
    Address(Value<'c, 'c>, Lanes<'c>),
    /// A descriptor, and places from its start.
    Buffer(Value<'c, 'c>, Rc<Placed<'c>>),
}

/// The loads of one tile, each to be emitted where the schedule has it.
pub struct TileLoads<'c> {
    source: Source<'c>,
    bits: i64,
    r#type: Type<'c>,
}

impl<'c> TileLoads<'c> {
    /// Loads of each lane.
    pub fn len(&self) -> usize {
        match &self.source {
            Source::Address(_, lanes) => lanes.len(),
            Source::Buffer(_, placed) => placed.len(),
        }
    }

    /// Emits load `index`; an integer vector.
    ///
    /// Through a descriptor, all loads share the lanes' offsets, and what lies across lines goes
    /// to the scalar offset. The hardware counts that in the range check by AMD's ISA guides. By
    /// the other reading (a comment in LLVM) it does not, and rows past the operand's last are
    /// not stopped; they only ever reach rows or columns of C that nobody stores.
    ///
    /// The constant is added beside the load, where LLVM makes it the instruction's immediate: a
    /// sum that it moves out of the loop takes a register, or is added again in every step.
    ///
    /// Through an address, the instruction adds a lane's 32 bits to 64 bits of a scalar. LLVM
    /// takes that form where it sees the lane's part widened beside the load.
    pub fn load(&self, emit: &Emit<'c>, index: usize) -> Value<'c, 'c> {
        match &self.source {
            Source::Address(base, lanes) => {
                let (lane, constant) = lanes[index];
                let lane = emit.widen(emit.stay(lane));
                let pointer = emit.offset_by(emit.offset(*base, lane), constant);
                emit.load(pointer, self.r#type, self.bits / 8)
            }
            Source::Buffer(resource, placed) => {
                let (register, constant) = placed.access(index);
                let offset = match constant {
                    0 => register,
                    _ => emit.add(emit.stay(register), emit.constant(32, constant)),
                };
                let scalar = placed.scalar(index);
                let scalar = scalar.unwrap_or_else(|| emit.constant(32, 0));
                let words = self.bits / 32;
                let raw = if words == 0 {
                    emit.int(self.bits as u32)
                } else {
                    emit.vector(words, 32)
                };
                let operands = [*resource, offset, scalar, emit.constant(32, 0)];
                let loaded = emit.op("rocdl.raw.ptr.buffer.load", &operands, raw, &[]);
                emit.bitcast(loaded, self.r#type)
            }
        }
    }
}

/// Word 3 of a raw buffer descriptor: no swizzling, 32-bit format, range checks on offsets
/// (RDNA 3 and RDNA 4 ISA guides, "Buffer Resource Descriptor"; the value of the published
/// kernels).
const BUFFER_CONFIG: i64 = 0x3100_4000;

impl<'c> Lowering<'c, '_> {
    /// `tile.view`
    pub fn view(&mut self, operation: OperationRef<'c, '_>) -> Result<(), PassError> {
        let element = text(&operation, "element")?
            .parse()
            .map_err(|_| PassError::Form {
                wanted: "an element type",
                found: 0,
            })?;
        let matrix = Matrix {
            base: self.scalar(operation, 0)?,
            extents: [self.scalar(operation, 1)?, self.scalar(operation, 2)?],
            ld: self.scalar(operation, 3)?,
            element,
            along: usize::from(text(&operation, "order")? == "row"),
            access: match text(&operation, "space")? {
                "buffer" => Access::Buffer,
                "clamped" => Access::Clamped,
                _ => Access::Global,
            },
            placed: RefCell::default(),
            lanes: RefCell::default(),
            own_lanes: text(&operation, "operand")? == "b",
        };
        self.bind(
            rewrite::result(operation, 0)?,
            Lowered::Matrix(Rc::new(matrix)),
        );
        Ok(())
    }

    /// `tile.block`: workgroups are numbered down groups of tile rows, group after group; the
    /// last group is short where the rows do not divide.
    pub fn coordinates(&mut self, operation: OperationRef<'c, '_>) -> Result<(), PassError> {
        let emit = self.entry;
        let tile = integers::<2>(&operation, "tile")?;
        let rows = integer(&operation, "group_rows")?;
        let constant = |value| emit.constant(32, value);
        // Rounded up without passing 2^31: extents are at least 1.
        let count = |extent, tile| {
            let last = emit.binary("llvm.sub", extent, constant(1));
            emit.add(emit.binary("llvm.udiv", last, constant(tile)), constant(1))
        };
        let tiles_m = count(self.scalar(operation, 0)?, tile[0]);
        let tiles_n = count(self.scalar(operation, 1)?, tile[1]);
        let id = emit.op("rocdl.workgroup.id.x", &[], emit.int(32), &[]);
        let (block_m, block_n) = if rows == 1 {
            (
                emit.binary("llvm.udiv", id, tiles_n),
                emit.binary("llvm.urem", id, tiles_n),
            )
        } else {
            // Workgroups of one group of rows, and this one's place in its group. No group has
            // more than all workgroups, so that the product does not wrap.
            let min = |left, right| emit.op("llvm.intr.umin", &[left, right], emit.int(32), &[]);
            let rows = min(tiles_m, constant(rows));
            let in_group = emit.mul(tiles_n, rows);
            let group = emit.binary("llvm.udiv", id, in_group);
            let local = emit.binary("llvm.urem", id, in_group);
            let first = emit.mul(group, rows);
            let left = emit.binary("llvm.sub", tiles_m, first);
            let here = min(left, rows);
            let row = emit.binary("llvm.urem", local, here);
            (emit.add(first, row), emit.binary("llvm.udiv", local, here))
        };
        self.bind(rewrite::result(operation, 0)?, Lowered::Scalar(block_m));
        self.bind(rewrite::result(operation, 1)?, Lowered::Scalar(block_n));
        Ok(())
    }

    /// `tile.load`, and the first half of `tile.copy`: one integer vector per access.
    pub fn load_tile(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<Staged<'c>, PassError> {
        let matrix = self.matrix(operation, 0)?;
        let at = [self.scalar(operation, 1)?, self.scalar(operation, 2)?];
        let names = ["tile", "layout", "load"];
        let loads = self.tile_loads(emit, operation, &matrix, at, names)?;
        let pieces = (0..loads.len()).map(|index| loads.load(emit, index));
        Ok(Staged {
            pieces: pieces.collect(),
            layout: layout(&operation, "layout")?,
        })
    }

    /// The loads of tile `at` = (block, step) of a matrix. Their tile, thread-value layout and
    /// atom are the operation's attributes of those `names`. What all loads share is computed
    /// here, once a step, and what all steps share at the top of the kernel.
    pub fn tile_loads(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
        matrix: &Matrix<'c>,
        at: [Value<'c, 'c>; 2],
        names: [&str; 3],
    ) -> Result<TileLoads<'c>, PassError> {
        let [block, step] = at;
        let tile = integers::<2>(&operation, names[0])?;
        let threads = layout(&operation, names[1])?;
        let coordinates = Coordinates::new(&threads, tile)?;
        let atom = CopyAtom::by_name(text(&operation, names[2])?).ok_or(PassError::Form {
            wanted: "a load atom",
            found: 0,
        })?;
        let width = atom.elements(matrix.element);

        // Where the workgroup's panel starts, and how far into it the step's tile is.
        let entry = self.entry;
        let row = entry.mul(block, entry.constant(32, tile[0]));
        let panel = entry.offset(matrix.base, matrix.offset_of(&entry, 0, row));
        let column = emit.mul(step, emit.constant(32, tile[1]));
        let base = emit.offset(panel, matrix.offset_of(emit, 1, column));
        let positions = coordinates.values.iter().step_by(width as usize).copied();
        let key = (threads.to_string(), width);
        let source = if matrix.access == Access::Buffer {
            // Of rows that are lines the panel's span, less what the steps before have passed.
            let bytes = if matrix.along == 1 {
                let whole = self.span(&entry, matrix, tile, [row, entry.constant(32, 0)], true);
                emit.binary("llvm.sub", whole, matrix.offset_of(emit, 1, column))
            } else {
                self.span(emit, matrix, tile, [row, column], false)
            };
            let known = matrix.placed.borrow().get(&key).cloned();
            let placed = match known {
                Some(placed) => placed,
                None => {
                    let entry = self.entry;
                    let positions = positions.collect::<Vec<_>>();
                    let placed = Placed::in_matrix(
                        &entry,
                        self.thread,
                        self.plan,
                        matrix,
                        tile,
                        &coordinates,
                        &positions,
                    )?;
                    let placed = Rc::new(placed);
                    matrix.placed.borrow_mut().insert(key, placed.clone());
                    placed
                }
            };
            Source::Buffer(descriptor(emit, base, bytes), placed)
        } else {
            let known = matrix.lanes.borrow().get(&key).cloned();
            let lanes = match known {
                Some(lanes) => lanes,
                None => {
                    let lanes = self.lanes(matrix, &coordinates, positions, row, width)?;
                    matrix.lanes.borrow_mut().insert(key, lanes.clone());
                    lanes
                }
            };
            Source::Address(base, lanes)
        };
        let r#type = emit.vector(width, matrix.element.bits());
        let bits = i64::from(atom.bits);
        Ok(TileLoads {
            source,
            bits,
            r#type,
        })
    }

    /// The lanes of accesses at `positions`: see [`Self::lane_offset`].
    ///
    /// Where a lane of A is one of B, and both panels are as far along, LLVM would add the lane to
    /// that distance once for both, and then the sum to each panel: vector instructions in every
    /// step. Of lanes that have registers of their own it does not know that they are the same.
    fn lanes(
        &self,
        matrix: &Matrix<'c>,
        coordinates: &Coordinates,
        positions: impl Iterator<Item = [i64; 2]>,
        first: Value<'c, 'c>,
        width: i64,
    ) -> Result<Lanes<'c>, PassError> {
        let mut own = HashMap::new();
        let lane = |position: [i64; 2]| {
            let (lane, constant) = self.lane_offset(matrix, coordinates, position, first, width)?;
            if !matrix.own_lanes {
                return Ok((lane, constant));
            }
            // Along a line all of them have the same.
            let place = [position[0], (1 - matrix.along as i64) * position[1]];
            let lane = *own.entry(place).or_insert_with(|| self.entry.own(lane));
            Ok((lane, constant))
        };
        positions.map(lane).collect::<Result<_, _>>().map(Rc::new)
    }

    /// Bytes from the first element of the tile whose rows start at `first` to a lane's access of
    /// `width` elements at `position`, in 32 bits, and a constant that is still to be added.
    ///
    /// Of a clamped matrix a lane whose access would lie past the last row has the last access
    /// inside: rows that lie along lines are a multiple of the width.
    fn lane_offset(
        &self,
        matrix: &Matrix<'c>,
        coordinates: &Coordinates,
        position: [i64; 2],
        first: Value<'c, 'c>,
        width: i64,
    ) -> Result<(Value<'c, 'c>, i64), PassError> {
        let entry = self.entry;
        let of_thread = |coordinate: usize| -> Result<Value<'c, 'c>, PassError> {
            let part = of_thread(&entry, self.thread, &coordinates.threads[coordinate])?;
            Ok(part.unwrap_or_else(|| entry.constant(32, 0)))
        };
        let mut row = entry.add(of_thread(0)?, entry.constant(32, position[0]));
        if matrix.access == Access::Clamped {
            let accessed = if matrix.along == 0 { width } else { 1 };
            let left = entry.binary("llvm.sub", matrix.extents[0], first);
            let last = entry.binary("llvm.sub", left, entry.constant(32, accessed));
            row = entry.op("llvm.intr.umin", &[row, last], entry.int(32), &[]);
        }
        let (column, constant) = if matrix.along == 1 {
            (of_thread(1)?, position[1] * matrix.bytes())
        } else {
            let column = entry.add(of_thread(1)?, entry.constant(32, position[1]));
            (column, 0)
        };
        let elements = entry.add(
            entry.mul(row, matrix.stride(&entry, 0)),
            entry.mul(column, matrix.stride(&entry, 1)),
        );
        let bytes = entry.mul(elements, entry.constant(32, matrix.bytes()));
        Ok((bytes, constant))
    }

    /// Bytes from the first element of a tile at `start` to the end of the last one of its
    /// elements that the matrix has; of the whole panel along K where `panel` says so.
    pub fn span(
        &self,
        emit: &Emit<'c>,
        matrix: &Matrix<'c>,
        tile: [i64; 2],
        start: [Value<'c, 'c>; 2],
        panel: bool,
    ) -> Value<'c, 'c> {
        let inside = |coordinate: usize| {
            let left = emit.binary("llvm.sub", matrix.extents[coordinate], start[coordinate]);
            if panel && coordinate == 1 {
                return left;
            }
            let tile = emit.constant(32, tile[coordinate]);
            emit.op("llvm.intr.umin", &[left, tile], emit.int(32), &[])
        };
        let (across, along) = (inside(1 - matrix.along), inside(matrix.along));
        let lines = emit.binary("llvm.sub", across, emit.constant(32, 1));
        let elements = emit.add(
            emit.mul(emit.widen(lines), emit.widen(matrix.ld)),
            emit.widen(along),
        );
        emit.mul(elements, emit.constant(64, matrix.bytes()))
    }
}

/// A raw buffer descriptor over `bytes` bytes from `base`.
pub fn descriptor<'c>(emit: &Emit<'c>, base: Value<'c, 'c>, bytes: Value<'c, 'c>) -> Value<'c, 'c> {
    let stride = emit.constant(16, 0);
    let flags = emit.constant(32, BUFFER_CONFIG);
    let operands = [base, stride, bytes, flags];
    emit.op(
        "rocdl.make.buffer.rsrc",
        &operands,
        emit.pointer(BUFFER),
        &[],
    )
}
