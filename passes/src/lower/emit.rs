//! Appends operations of the LLVM and ROCDL dialects to a block.

use melior::{
    Context,
    ir::{
        Attribute, BlockLike, BlockRef, Identifier, Location, Operation, Type, TypeLike, Value,
        ValueLike,
        attribute::{DenseI32ArrayAttribute, IntegerAttribute, StringAttribute},
        operation::{OperationBuilder, OperationRef},
        r#type::IntegerType,
    },
};

/// Builds operations at the end of one block. All values it makes are of the module that the
/// block will stand in.
#[derive(Clone, Copy)]
pub struct Emit<'c> {
    pub context: &'c Context,
    pub location: Location<'c>,
    block: BlockRef<'c, 'c>,
}

/// Address spaces of AMDGPU (LLVM's AMDGPU usage guide, "Address Spaces").
pub const GLOBAL: u32 = 1;
pub const LDS: u32 = 3;
pub const BUFFER: u32 = 8;

impl<'c> Emit<'c> {
    /// Appends to `block`, which must outlive every value made here.
    pub fn new(context: &'c Context, location: Location<'c>, block: BlockRef<'c, '_>) -> Self {
        // SAFETY: the lowering keeps the block's module for as long as any `Emit`.
        let block = unsafe { BlockRef::from_raw(block.to_raw()) };
        Self {
            context,
            location,
            block,
        }
    }

    /// Appends an operation.
    pub fn append(&self, operation: Operation<'c>) -> OperationRef<'c, 'c> {
        let appended = self.block.append_operation(operation);
        // SAFETY: as for the block.
        unsafe { OperationRef::from_raw(appended.to_raw()) }
    }

    /// Appends an operation without results.
    pub fn effect(
        &self,
        name: &str,
        operands: &[Value<'c, '_>],
        attributes: &[(&str, Attribute<'c>)],
    ) {
        self.append(self.build(name, operands, &[], attributes));
    }

    /// Appends an operation with one result.
    pub fn op(
        &self,
        name: &str,
        operands: &[Value<'c, '_>],
        result: Type<'c>,
        attributes: &[(&str, Attribute<'c>)],
    ) -> Value<'c, 'c> {
        let operation = self.append(self.build(name, operands, &[result], attributes));
        crate::rewrite::value(operation.result(0).expect("the operation has one result"))
    }

    fn build(
        &self,
        name: &str,
        operands: &[Value<'c, '_>],
        results: &[Type<'c>],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Operation<'c> {
        let attributes: Vec<_> = attributes
            .iter()
            .map(|(name, value)| (Identifier::new(self.context, name), *value))
            .collect();
        OperationBuilder::new(name, self.location)
            .add_operands(operands)
            .add_results(results)
            .add_attributes(&attributes)
            .build()
            .expect("all results are given, so that nothing is inferred")
    }

    /// A type by its MLIR text.
    pub fn r#type(&self, text: &str) -> Type<'c> {
        Type::parse(self.context, text).expect("the lowering writes well-formed types")
    }

    /// An attribute by its MLIR text.
    pub fn attribute(&self, text: &str) -> Attribute<'c> {
        Attribute::parse(self.context, text).expect("the lowering writes well-formed attributes")
    }

    /// An integer type.
    pub fn int(&self, bits: u32) -> Type<'c> {
        IntegerType::new(self.context, bits).into()
    }

    /// A pointer type.
    pub fn pointer(&self, space: u32) -> Type<'c> {
        melior::dialect::llvm::r#type::pointer(self.context, space)
    }

    /// A vector of integers of `bits`, or the integer itself for a length of one.
    pub fn vector(&self, len: i64, bits: u32) -> Type<'c> {
        if len == 1 {
            self.int(bits)
        } else {
            self.vector_of(len, self.int(bits))
        }
    }

    /// A vector of `len` elements.
    pub fn vector_of(&self, len: i64, element: Type<'c>) -> Type<'c> {
        // SAFETY: the element is an integer or float type, of which vectors can be made.
        unsafe { Type::from_raw(mlir_sys::mlirVectorTypeGet(1, &len, element.to_raw())) }
    }

    /// An integer attribute.
    pub fn integer(&self, bits: u32, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(self.int(bits), value).into()
    }

    /// A text attribute.
    pub fn text(&self, value: &str) -> Attribute<'c> {
        StringAttribute::new(self.context, value).into()
    }

    /// A constant of an integer type.
    pub fn constant(&self, bits: u32, value: i64) -> Value<'c, 'c> {
        let value = self.integer(bits, value);
        self.op(
            "llvm.mlir.constant",
            &[],
            self.int(bits),
            &[("value", value)],
        )
    }

    /// A binary operation whose result has the type of its operands.
    pub fn binary(&self, name: &str, left: Value<'c, '_>, right: Value<'c, '_>) -> Value<'c, 'c> {
        self.op(name, &[left, right], left.r#type(), &[])
    }

    /// `left + right`, which the caller knows not to wrap.
    pub fn add(&self, left: Value<'c, '_>, right: Value<'c, '_>) -> Value<'c, 'c> {
        self.no_wrap("arith.addi", left, right)
    }

    /// `left * right`, which the caller knows not to wrap.
    pub fn mul(&self, left: Value<'c, '_>, right: Value<'c, '_>) -> Value<'c, 'c> {
        self.no_wrap("arith.muli", left, right)
    }

    fn no_wrap(&self, name: &str, left: Value<'c, '_>, right: Value<'c, '_>) -> Value<'c, 'c> {
        // Offsets are at least zero and below 2^31 (2^63), so that neither reading of them wraps.
        // The arith dialect keeps these flags as an attribute; the LLVM dialect keeps them where
        // the C API cannot set them.
        let flags = self.attribute("#arith.overflow<nsw, nuw>");
        self.op(
            name,
            &[left, right],
            left.r#type(),
            &[("overflowFlags", flags)],
        )
    }

    /// A non-negative 32-bit value as 64 bits.
    pub fn widen(&self, value: Value<'c, '_>) -> Value<'c, 'c> {
        let unit = Attribute::unit(self.context);
        self.op("llvm.zext", &[value], self.int(64), &[("nonNeg", unit)])
    }

    /// `value`, of 32 bits, and what is computed from it stays where it is used.
    ///
    /// LLVM's loop passes move what is the same in every step to the top of the kernel, sums of
    /// it with others too. They know nothing of what laundering returns, which exists for
    /// pointers alone and is no instruction: LLVM drops it before it selects instructions.
    pub fn stay(&self, value: Value<'c, '_>) -> Value<'c, 'c> {
        let pointer = self.op("llvm.inttoptr", &[value], self.pointer(LDS), &[]);
        let name = "llvm.intr.launder.invariant.group";
        let laundered = self.op(name, &[pointer], self.pointer(LDS), &[]);
        self.op("llvm.ptrtoint", &[laundered], self.int(32), &[])
    }

    /// `value`, of 32 bits, in a vector register of its own, of which LLVM does not know what it
    /// holds: an empty line of assembly has it as operand and result.
    pub fn own(&self, value: Value<'c, '_>) -> Value<'c, 'c> {
        let attributes = [
            ("asm_string", self.text("")),
            ("constraints", self.text("=v,0")),
        ];
        self.op("llvm.inline_asm", &[value], self.int(32), &attributes)
    }

    /// `pointer` moved by a number of bytes.
    pub fn offset(&self, pointer: Value<'c, '_>, bytes: Value<'c, '_>) -> Value<'c, 'c> {
        let dynamic = DenseI32ArrayAttribute::new(self.context, &[i32::MIN]);
        self.op(
            "llvm.getelementptr",
            &[pointer, bytes],
            pointer.r#type(),
            &[
                ("rawConstantIndices", dynamic.into()),
                ("elem_type", self.attribute("i8")),
            ],
        )
    }

    /// `pointer` moved by a constant number of bytes.
    pub fn offset_by(&self, pointer: Value<'c, '_>, bytes: i64) -> Value<'c, 'c> {
        if bytes == 0 {
            return crate::rewrite::value(pointer);
        }
        self.offset(pointer, self.constant(32, bytes))
    }

    /// Loads from an address that is a multiple of `align` bytes.
    pub fn load(&self, pointer: Value<'c, '_>, r#type: Type<'c>, align: i64) -> Value<'c, 'c> {
        self.op(
            "llvm.load",
            &[pointer],
            r#type,
            &[("alignment", self.integer(64, align))],
        )
    }

    /// Stores to an address that is a multiple of `align` bytes.
    pub fn store(&self, value: Value<'c, '_>, pointer: Value<'c, '_>, align: i64) {
        self.effect(
            "llvm.store",
            &[value, pointer],
            &[("alignment", self.integer(64, align))],
        );
    }

    /// The same bits as another type.
    pub fn bitcast(&self, value: Value<'c, '_>, r#type: Type<'c>) -> Value<'c, 'c> {
        if value.r#type() == r#type {
            return crate::rewrite::value(value);
        }
        self.op("llvm.bitcast", &[value], r#type, &[])
    }

    /// Element `index` of a vector.
    pub fn element(&self, vector: Value<'c, '_>, index: i64, r#type: Type<'c>) -> Value<'c, 'c> {
        self.op(
            "llvm.extractelement",
            &[vector, self.constant(32, index)],
            r#type,
            &[],
        )
    }

    /// The elements of two vectors of one type at `positions`, counted through both.
    pub fn shuffle(
        &self,
        left: Value<'c, '_>,
        right: Value<'c, '_>,
        positions: &[i32],
        result: Type<'c>,
    ) -> Value<'c, 'c> {
        let mask = DenseI32ArrayAttribute::new(self.context, positions);
        self.op(
            "llvm.shufflevector",
            &[left, right],
            result,
            &[("mask", mask.into())],
        )
    }

    /// A vector whose elements nobody reads.
    pub fn poison(&self, r#type: Type<'c>) -> Value<'c, 'c> {
        self.op("llvm.mlir.poison", &[], r#type, &[])
    }

    /// A vector of zeros, or zero.
    pub fn zero(&self, r#type: Type<'c>) -> Value<'c, 'c> {
        self.op("llvm.mlir.zero", &[], r#type, &[])
    }
}
