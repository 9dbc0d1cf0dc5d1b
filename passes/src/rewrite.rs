//! Small steps that the passes share: finding, inserting and removing operations of the one
//! function of a `tile` module.

use crate::PassError;
use melior::{
    Context,
    ir::{
        Attribute, BlockLike, BlockRef, Location, Module, Operation, RegionLike, Type, Value,
        ValueLike,
        attribute::IntegerAttribute,
        operation::{
            OperationBuilder, OperationLike, OperationMutLike, OperationRef, OperationRefMut,
        },
        r#type::IntegerType,
    },
};

/// The operation's name, e.g. `tile.copy`.
pub fn name(operation: OperationRef<'_, '_>) -> String {
    operation
        .name()
        .as_string_ref()
        .as_str()
        .unwrap_or_default()
        .to_string()
}

/// The operations of a block, in order, as they stand now.
pub fn operations<'c, 'a>(block: BlockRef<'c, 'a>) -> Vec<OperationRef<'c, 'a>> {
    // SAFETY: a block and its operations live as long as the module that holds both; the
    // references are shortened to `block`'s own.
    let first = block
        .first_operation()
        .map(|op| unsafe { OperationRef::from_raw(op.to_raw()) });
    std::iter::successors(first, |op: &OperationRef<'c, 'a>| {
        // SAFETY: as above.
        op.next_in_block()
            .map(|next| unsafe { OperationRef::from_raw(next.to_raw()) })
    })
    .collect()
}

/// The operations of a block that have that name.
pub fn named<'c, 'a>(block: BlockRef<'c, 'a>, wanted: &str) -> Vec<OperationRef<'c, 'a>> {
    operations(block)
        .into_iter()
        .filter(|op| name(*op) == wanted)
        .collect()
}

/// The single operation of a block that has that name.
pub fn single<'c, 'a>(
    block: BlockRef<'c, 'a>,
    wanted: &'static str,
) -> Result<OperationRef<'c, 'a>, PassError> {
    match named(block, wanted)[..] {
        [op] => Ok(op),
        ref found => Err(PassError::Form {
            wanted,
            found: found.len(),
        }),
    }
}

/// The first block of an operation's first region.
pub fn body<'c, 'a>(operation: OperationRef<'c, 'a>) -> Result<BlockRef<'c, 'a>, PassError> {
    region(operation, 0)
}

/// The first block of an operation's region `index`.
pub fn region<'c, 'a>(
    operation: OperationRef<'c, 'a>,
    index: usize,
) -> Result<BlockRef<'c, 'a>, PassError> {
    let block = operation
        .region(index)
        .ok()
        .and_then(|region| region.first_block())
        .ok_or(PassError::Form {
            wanted: "a body",
            found: 0,
        })?;
    // SAFETY: the block lives as long as the operation that holds it.
    Ok(unsafe { BlockRef::from_raw(block.to_raw()) })
}

/// The kernel's function and its body.
pub fn function<'c, 'a>(
    module: &'a Module<'c>,
) -> Result<(OperationRef<'c, 'a>, BlockRef<'c, 'a>), PassError> {
    let function = single(module.body(), "func.func")?;
    Ok((function, body(function)?))
}

/// Every operation of the function's body and of its loops' bodies that has that name.
pub fn everywhere<'c, 'a>(
    block: BlockRef<'c, 'a>,
    wanted: &str,
) -> Result<Vec<OperationRef<'c, 'a>>, PassError> {
    let mut found = Vec::new();
    for operation in operations(block) {
        match name(operation).as_str() {
            found_name if found_name == wanted => found.push(operation),
            "scf.for" => found.extend(everywhere(body(operation)?, wanted)?),
            _ => {}
        }
    }
    Ok(found)
}

/// The same operation, to change.
pub fn mutable<'c, 'a>(operation: OperationRef<'c, 'a>) -> OperationRefMut<'c, 'a> {
    // SAFETY: the module is exclusively the pass's while it runs, on one thread.
    unsafe { OperationRefMut::from_raw(operation.to_raw()) }
}

/// Removes an operation that nothing uses any more.
pub fn erase(operation: OperationRef<'_, '_>) {
    mutable(operation).remove_from_parent();
    // SAFETY: the operation was just detached, so that dropping it here frees it once.
    drop(unsafe { Operation::from_raw(operation.to_raw()) });
}

/// The value with the lifetime of the module that it stands in.
pub fn value<'c, 'a>(value: impl ValueLike<'c>) -> Value<'c, 'a> {
    // SAFETY: values live as long as their module; passes drop theirs before the module.
    unsafe { Value::from_raw(value.to_raw()) }
}

/// Operand `index`.
pub fn operand<'c, 'a>(
    operation: OperationRef<'c, 'a>,
    index: usize,
) -> Result<Value<'c, 'a>, PassError> {
    let wanted = "an operand";
    operation
        .operand(index)
        .map(value)
        .map_err(|_| PassError::Form {
            wanted,
            found: index,
        })
}

/// Result `index`.
pub fn result<'c, 'a>(
    operation: OperationRef<'c, 'a>,
    index: usize,
) -> Result<Value<'c, 'a>, PassError> {
    let wanted = "a result";
    operation
        .result(index)
        .map(value)
        .map_err(|_| PassError::Form {
            wanted,
            found: index,
        })
}

/// Inserts operations in front of one operation.
#[derive(Clone, Copy)]
pub struct Before<'c, 'a> {
    context: &'c Context,
    block: BlockRef<'c, 'a>,
    anchor: OperationRef<'c, 'a>,
    /// Where inserted operations say they come from.
    pub location: Location<'c>,
}

impl<'c, 'a> Before<'c, 'a> {
    /// Inserts before `anchor`, which stands in `block`.
    pub fn new(
        context: &'c Context,
        block: BlockRef<'c, 'a>,
        anchor: OperationRef<'c, 'a>,
    ) -> Self {
        Self {
            context,
            block,
            anchor,
            location: anchor.location(),
        }
    }

    /// Inserts an operation.
    pub fn insert(&self, operation: Operation<'c>) -> OperationRef<'c, 'a> {
        let inserted = self.block.insert_operation_before(self.anchor, operation);
        // SAFETY: the operation now lives as long as its block.
        unsafe { OperationRef::from_raw(inserted.to_raw()) }
    }

    /// Inserts an operation with one result.
    pub fn value(&self, operation: Operation<'c>) -> Result<Value<'c, 'a>, PassError> {
        result(self.insert(operation), 0)
    }

    /// A 32-bit constant.
    pub fn constant(&self, constant: i64) -> Result<Value<'c, 'a>, PassError> {
        let r#type = IntegerType::new(self.context, 32).into();
        self.value(melior::dialect::arith::constant(
            self.context,
            IntegerAttribute::new(r#type, constant).into(),
            self.location,
        ))
    }

    /// A 32-bit operation of the arith dialect on two values.
    pub fn arith(
        &self,
        name: &str,
        left: Value<'c, '_>,
        right: Value<'c, '_>,
    ) -> Result<Value<'c, 'a>, PassError> {
        let r#type: Type<'c> = IntegerType::new(self.context, 32).into();
        let operation = OperationBuilder::new(name, self.location)
            .add_operands(&[left, right])
            .add_results(&[r#type])
            .build()
            .expect("the result type is given, so that nothing is inferred");
        self.value(operation)
    }
}

/// Sets a text attribute.
pub fn set_text<'c>(context: &'c Context, operation: OperationRef<'c, '_>, name: &str, text: &str) {
    let attribute = melior::ir::attribute::StringAttribute::new(context, text);
    set(operation, name, attribute.into());
}

/// Sets an attribute.
pub fn set<'c>(operation: OperationRef<'c, '_>, name: &str, attribute: Attribute<'c>) {
    mutable(operation).set_attribute(name, attribute);
}
