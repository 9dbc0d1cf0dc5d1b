//! Typed builders of `tile` operations.

use melior::{
    Context,
    ir::{
        Attribute, Identifier, Location, Operation, Type, Value,
        attribute::{DenseI64ArrayAttribute, IntegerAttribute, StringAttribute},
        operation::OperationBuilder,
        r#type::IntegerType,
    },
};

/// Builds `tile` operations at one location.
#[derive(Clone, Copy)]
pub struct TileBuilder<'c> {
    context: &'c Context,
    location: Location<'c>,
}

impl<'c> TileBuilder<'c> {
    /// A builder whose operations carry `location`. The context must come from
    /// [`context`](super::context).
    pub fn new(context: &'c Context, location: Location<'c>) -> Self {
        Self { context, location }
    }

    fn op(
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

    fn r#type(&self, name: &str) -> Type<'c> {
        Type::parse(self.context, name).expect("the context has the tile dialect loaded")
    }

    /// A text attribute.
    pub fn text(&self, value: &str) -> Attribute<'c> {
        StringAttribute::new(self.context, value).into()
    }

    /// An array of integers.
    pub fn ints(&self, values: &[i64]) -> Attribute<'c> {
        DenseI64ArrayAttribute::new(self.context, values).into()
    }

    /// A 64-bit integer attribute.
    pub fn int(&self, value: i64) -> Attribute<'c> {
        IntegerAttribute::new(IntegerType::new(self.context, 64).into(), value).into()
    }

    /// The type of accumulators.
    pub fn accumulator(&self) -> Type<'c> {
        self.r#type("!tile.accumulator")
    }

    /// `tile.gemm`: the whole problem. `arguments` are the pointers of A, B and C, then m, n, k
    /// and the three leading dimensions; `orders` and `elements` are A's, B's and C's.
    pub fn gemm(
        &self,
        arguments: &[Value<'c, '_>],
        orders: [&str; 3],
        elements: [&str; 3],
        accumulate: &str,
    ) -> Operation<'c> {
        self.op(
            "tile.gemm",
            arguments,
            &[],
            &[
                ("a_order", self.text(orders[0])),
                ("b_order", self.text(orders[1])),
                ("c_order", self.text(orders[2])),
                ("a_element", self.text(elements[0])),
                ("b_element", self.text(elements[1])),
                ("c_element", self.text(elements[2])),
                ("accumulate", self.text(accumulate)),
            ],
        )
    }

    /// `tile.view`: the operand named `operand` as a matrix of `shape` (rows, columns), `ld`
    /// elements between its lines; accessed globally until a pass says otherwise.
    pub fn view(
        &self,
        base: Value<'c, '_>,
        shape: [Value<'c, '_>; 2],
        ld: Value<'c, '_>,
        operand: &str,
        element: &str,
        order: &str,
    ) -> Operation<'c> {
        self.op(
            "tile.view",
            &[base, shape[0], shape[1], ld],
            &[self.r#type("!tile.matrix")],
            &[
                ("operand", self.text(operand)),
                ("element", self.text(element)),
                ("order", self.text(order)),
                ("space", self.text("global")),
            ],
        )
    }

    /// `tile.block`: tile coordinates of this workgroup in the grid of `tile` = (m, n) tiles,
    /// row after row.
    pub fn block(&self, m: Value<'c, '_>, n: Value<'c, '_>, tile: [i64; 2]) -> Operation<'c> {
        let i32 = IntegerType::new(self.context, 32).into();
        self.op(
            "tile.block",
            &[m, n],
            &[i32, i32],
            &[("tile", self.ints(&tile)), ("group_rows", self.int(1))],
        )
    }

    /// `tile.lds`: one buffer for the tile that `layout` lays out.
    pub fn lds(&self, operand: &str, element: &str, layout: &str) -> Operation<'c> {
        self.op(
            "tile.lds",
            &[],
            &[self.r#type("!tile.shared")],
            &[
                ("operand", self.text(operand)),
                ("element", self.text(element)),
                ("layout", self.text(layout)),
                ("buffers", self.int(1)),
            ],
        )
    }

    /// `tile.zero`: accumulators of `repeat` = (m, n) atoms per wave.
    pub fn zero(&self, atom: &str, repeat: [i64; 2]) -> Operation<'c> {
        self.op(
            "tile.zero",
            &[],
            &[self.accumulator()],
            &[("atom", self.text(atom)), ("repeat", self.ints(&repeat))],
        )
    }

    /// `tile.copy` of block tile (`block`, `step`), `tile` elements in size, to `target`; stored as
    /// it is loaded.
    #[expect(
        clippy::too_many_arguments,
        reason = "one argument per part of the operation"
    )]
    pub fn copy(
        &self,
        source: Value<'c, '_>,
        block: Value<'c, '_>,
        step: Value<'c, '_>,
        target: Value<'c, '_>,
        buffer: Value<'c, '_>,
        tile: [i64; 2],
        layout: &str,
        load: &str,
        store: &str,
    ) -> Operation<'c> {
        self.op(
            "tile.copy",
            &[source, block, step, target, buffer],
            &[],
            &[
                ("tile", self.ints(&tile)),
                ("layout", self.text(layout)),
                ("stores", self.text(layout)),
                ("load", self.text(load)),
                ("store", self.text(store)),
            ],
        )
    }

    /// `tile.load`: the first half of a copy.
    pub fn load(
        &self,
        source: Value<'c, '_>,
        block: Value<'c, '_>,
        step: Value<'c, '_>,
        tile: [i64; 2],
        layout: &str,
        load: &str,
    ) -> Operation<'c> {
        self.op(
            "tile.load",
            &[source, block, step],
            &[self.r#type("!tile.staged")],
            &[
                ("tile", self.ints(&tile)),
                ("layout", self.text(layout)),
                ("load", self.text(load)),
            ],
        )
    }

    /// `tile.commit`: the second half of a copy.
    pub fn commit(
        &self,
        staged: Value<'c, '_>,
        target: Value<'c, '_>,
        buffer: Value<'c, '_>,
        layout: &str,
        store: &str,
    ) -> Operation<'c> {
        self.op(
            "tile.commit",
            &[staged, target, buffer],
            &[],
            &[("layout", self.text(layout)), ("store", self.text(store))],
        )
    }

    /// `tile.barrier`.
    pub fn barrier(&self) -> Operation<'c> {
        self.op("tile.barrier", &[], &[], &[])
    }

    /// `tile.mma` of `repeat` = (m, n, k) atoms per wave; `layouts` are A's and B's
    /// thread-value layouts onto their block tiles. Its order is left to the code generator.
    #[expect(
        clippy::too_many_arguments,
        reason = "one argument per part of the operation"
    )]
    pub fn mma(
        &self,
        a: Value<'c, '_>,
        b: Value<'c, '_>,
        buffer: Value<'c, '_>,
        accumulator: Value<'c, '_>,
        atom: &str,
        repeat: [i64; 3],
        layouts: [&str; 2],
        read: &str,
    ) -> Operation<'c> {
        self.op(
            "tile.mma",
            &[a, b, buffer, accumulator],
            &[self.accumulator()],
            &[
                ("atom", self.text(atom)),
                ("repeat", self.ints(&repeat)),
                ("a_layout", self.text(layouts[0])),
                ("b_layout", self.text(layouts[1])),
                ("a_read", self.text(read)),
                ("b_read", self.text(read)),
                ("ahead", self.int(-1)),
                ("lead", self.text("a")),
                ("priority", self.int(0)),
                ("first", self.text("a")),
            ],
        )
    }

    /// `tile.fold`: a multiplication with two loads spread among its instructions. `operands` are
    /// A's view and block, B's view and block, the step of the loads, the tiles in LDS, the
    /// buffer and the accumulators; `attributes` all that the operation has.
    pub fn fold(
        &self,
        operands: [Value<'c, '_>; 9],
        attributes: &[(&str, Attribute<'c>)],
    ) -> Operation<'c> {
        let staged = self.r#type("!tile.staged");
        self.op(
            "tile.fold",
            &operands,
            &[staged, staged, self.accumulator()],
            attributes,
        )
    }

    /// `tile.rest` of the fold that has left some of its matrix instructions.
    pub fn rest(&self, accumulator: Value<'c, '_>) -> Operation<'c> {
        self.op("tile.rest", &[accumulator], &[self.accumulator()], &[])
    }

    /// `tile.store` of the accumulators, whose thread-value layout onto the block tile of C is
    /// `layout`, to `target`.
    #[expect(
        clippy::too_many_arguments,
        reason = "one argument per part of the operation"
    )]
    pub fn store(
        &self,
        accumulator: Value<'c, '_>,
        target: Value<'c, '_>,
        block_m: Value<'c, '_>,
        block_n: Value<'c, '_>,
        atom: &str,
        tile: [i64; 2],
        layout: &str,
        store: &str,
    ) -> Operation<'c> {
        self.op(
            "tile.store",
            &[accumulator, target, block_m, block_n],
            &[],
            &[
                ("atom", self.text(atom)),
                ("tile", self.ints(&tile)),
                ("layout", self.text(layout)),
                ("store", self.text(store)),
                ("exchange", self.text("none")),
                ("edge", self.text("none")),
            ],
        )
    }
}
