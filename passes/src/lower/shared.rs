//! Tiles in LDS: their memory, and the stores that fill them.

use super::{
    Lowered, Lowering, Staged,
    address::Placed,
    emit::{Emit, LDS},
    pairs::{any_adds, part},
    registers::arrange,
};
use crate::{PassError, plan, rewrite};
use melior::ir::{
    Attribute, Region, Value,
    operation::{OperationBuilder, OperationRef, OperationResult},
};
use std::{collections::HashMap, ops::Range, rc::Rc};
use tilefold_dialect::{
    atoms::CopyAtom,
    element::ElementType,
    tile::{integer, layout, text},
};
use tilefold_layout::{ComposedLayout, Layout};

/// The tile of one operand in LDS.
pub struct Shared<'c> {
    operand: String,
    base: Value<'c, 'c>,
    placement: ComposedLayout,
    pub element: ElementType,
    buffers: i64,
    buffer_bytes: i64,
}

/// Addresses already computed, by operand, thread-value layout and elements of an access.
pub type Addresses<'c> = HashMap<(String, String, i64), Placed<'c>>;

impl<'c> Shared<'c> {
    /// Address of buffer `buffer`.
    fn buffer(&self, emit: &Emit<'c>, buffer: Value<'c, 'c>) -> Value<'c, 'c> {
        if self.buffers == 1 {
            return self.base;
        }
        emit.offset(
            self.base,
            emit.mul(buffer, emit.constant(32, self.buffer_bytes)),
        )
    }
}

impl<'c> Lowering<'c, '_> {
    /// `tile.lds`
    pub fn allocate(
        &mut self,
        globals: &Emit<'c>,
        operation: OperationRef<'c, '_>,
    ) -> Result<(), PassError> {
        let operand = text(&operation, "operand")?.to_string();
        let element: ElementType =
            text(&operation, "element")?
                .parse()
                .map_err(|_| PassError::Form {
                    wanted: "an element type",
                    found: 0,
                })?;
        let placement: ComposedLayout = text(&operation, "layout")?.parse()?;
        let buffers = integer(&operation, "buffers")?;
        let buffer_bytes =
            plan::buffer_elements(&placement, element) * i64::from(element.bits()) / 8;
        let name = format!("lds_{operand}");
        let r#type = format!("!llvm.array<{} x i8>", buffers * buffer_bytes);
        let attributes = [
            ("sym_name", globals.text(&name)),
            ("global_type", globals.attribute(&r#type)),
            ("linkage", globals.attribute("#llvm.linkage<internal>")),
            ("addr_space", globals.integer(32, i64::from(LDS))),
            ("alignment", globals.integer(64, 16)),
            ("dso_local", Attribute::unit(globals.context)),
        ]
        .map(|(name, value)| (melior::ir::Identifier::new(globals.context, name), value));
        let memory = OperationBuilder::new("llvm.mlir.global", globals.location)
            .add_attributes(&attributes)
            .add_regions([Region::new()])
            .build()
            .expect("a global has no results to infer");
        globals.append(memory);
        let symbol = self.entry.attribute(&format!("@{name}"));
        let pointer = self.entry.pointer(LDS);
        let base = self.entry.op(
            "llvm.mlir.addressof",
            &[],
            pointer,
            &[("global_name", symbol)],
        );
        let shared = Shared {
            operand,
            base,
            placement,
            element,
            buffers,
            buffer_bytes,
        };
        self.bind(
            rewrite::result(operation, 0)?,
            Lowered::Shared(Rc::new(shared)),
        );
        Ok(())
    }

    /// `tile.commit`, and the second half of `tile.copy`. `target` and `buffer` are positions
    /// of operands, `order` is the attribute that says in which order values are stored.
    pub fn commit_tile(
        &mut self,
        emit: &Emit<'c>,
        operation: OperationRef<'c, '_>,
        staged: &Staged<'c>,
        [target, buffer]: [usize; 2],
        order: &str,
    ) -> Result<(), PassError> {
        let shared = self.shared(operation, target)?;
        let buffer = self.scalar(operation, buffer)?;
        let layout = layout(&operation, order)?;
        let atom = CopyAtom::by_name(text(&operation, "store")?).ok_or(PassError::Form {
            wanted: "a store atom",
            found: 0,
        })?;
        let values = layout.mode(1)?.size();
        let staged_width = values / (staged.pieces.len().max(1) as i64);
        let width = atom.elements(shared.element);
        let bits = shared.element.bits();
        let order = staged.order(&layout)?;
        let pieces = arrange(emit, &staged.pieces, staged_width, width, bits, &order);
        let base = shared.buffer(emit, buffer);
        let accesses = 0..(values / width) as usize;
        let addresses = self.addresses(&shared, &layout, width, accesses)?;
        let bytes = i64::from(atom.bits) / 8;
        // Of a register that is a sum LLVM would count one part to the base, in front of the loop,
        // and add the other in every step. Where it adds to join stores, all sums are in front.
        let stays = |register| {
            let through = |(other, offset): &(_, i64)| (*other == register).then_some(*offset);
            let offsets: Vec<i64> = addresses.iter().filter_map(through).collect();
            is_sum(register) && !any_adds(&offsets, bytes)
        };
        for (piece, (register, constant)) in pieces.into_iter().zip(&addresses) {
            let register = match stays(*register) {
                true => emit.stay(*register),
                false => *register,
            };
            let pointer = emit.offset_by(emit.offset(base, register), *constant);
            emit.store(piece, pointer, bytes);
        }
        Ok(())
    }

    /// Values `range` of every thread, in vectors of `width` elements, from a tile in LDS.
    pub fn read(
        &mut self,
        emit: &Emit<'c>,
        shared: &Shared<'c>,
        buffer: Value<'c, 'c>,
        layout: &Layout,
        width: i64,
        range: Range<i64>,
    ) -> Result<Vec<Value<'c, 'c>>, PassError> {
        let base = shared.buffer(emit, buffer);
        let bits = shared.element.bits();
        let r#type = emit.vector(width, bits);
        let accesses = (range.start / width) as usize..(range.end / width) as usize;
        let size = width * i64::from(bits) / 8;
        let addresses = self.addresses(shared, layout, width, accesses)?;
        let mut pieces = Vec::new();
        for (register, constant) in addresses {
            let window = self.window.as_mut();
            if window.is_some_and(|window| window.parts(register, constant, size)) {
                part(emit);
            }
            let pointer = emit.offset_by(emit.offset(base, register), constant);
            pieces.push(emit.load(pointer, r#type, size));
        }
        Ok(pieces)
    }

    /// Register and constant part of some of the accesses of `width` values.
    fn addresses(
        &mut self,
        shared: &Shared<'c>,
        layout: &Layout,
        width: i64,
        accesses: Range<usize>,
    ) -> Result<Vec<(Value<'c, 'c>, i64)>, PassError> {
        let entry = self.entry;
        let key = (shared.operand.clone(), layout.to_string(), width);
        if !self.addresses.contains_key(&key) {
            let bytes = i64::from(shared.element.bits()) / 8;
            let placement = &shared.placement;
            let address = Placed::in_lds(
                &entry,
                self.thread,
                &self.plan.address_rules,
                layout,
                placement,
                width,
                bytes,
            )?;
            self.addresses.insert(key.clone(), address);
        }
        let address = self.addresses.get(&key).ok_or(PassError::Form {
            wanted: "an address",
            found: 0,
        })?;
        Ok(accesses.map(|index| address.access(index)).collect())
    }
}

/// Whether a register is the sum of two others.
fn is_sum(register: Value<'_, '_>) -> bool {
    OperationResult::try_from(register)
        .is_ok_and(|result| rewrite::name(result.owner()) == "llvm.add")
}
