//! Random expressions.

use tilefold_layout::Layout;

/// A small linear congruential generator, so that the run is the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    fn one_of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    fn extent(&mut self) -> i64 {
        match self.below(200) {
            0 => self.one_of(&[1 << 20, 1 << 40, 3 << 35, i64::MAX, 1_000_003]),
            _ => self.one_of(&[1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 8, 8, 16]),
        }
    }

    fn stride(&mut self) -> i64 {
        match self.below(200) {
            0 => self.one_of(&[1 << 20, 1 << 40, -(1 << 33), i64::MIN]),
            _ => self.one_of(&[0, 1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 32, -1, -4, 7]),
        }
    }

    /// Shape and stride, with leaves from these.
    fn nest(
        &mut self,
        depth: usize,
        extent: fn(&mut Random) -> String,
        stride: fn(&mut Random) -> String,
    ) -> (String, String) {
        if depth == 0 || self.below(3) == 0 {
            return (extent(self), stride(self));
        }
        let modes = (0..1 + self.below(3)).map(|_| self.nest(depth - 1, extent, stride));
        let (n, d): (Vec<_>, Vec<_>) = modes.unzip();
        (format!("({})", n.join(",")), format!("({})", d.join(",")))
    }

    fn shape(&mut self) -> String {
        self.nest(1, |r| r.extent().to_string(), |_| String::new())
            .0
    }

    pub fn layout(&mut self) -> String {
        let number: fn(&mut Random) -> String = |r| r.extent().to_string();
        let (n, d) = match self.below(24) {
            0..=3 => {
                // Compact ones, of which more is defined.
                let extents = [1, 2, 3, 4, 8];
                let extents: Vec<i64> = (0..1 + self.below(3))
                    .map(|_| self.one_of(&extents))
                    .collect();
                let compact = self.one_of(&[Layout::row_major, Layout::col_major]);
                return compact(&extents)
                    .expect("small layouts are valid")
                    .to_string();
            }
            4 | 5 => self.nest(2, number, |r| {
                let path = r.one_of(&["@0", "@1", "@2", "@0@1", ""]);
                format!("{}{path}", r.stride())
            }),
            6..=9 => self.nest(
                1,
                |r| match r.below(3) {
                    0 => r.one_of(&["N", "N/4", "2*N", "M", "3*M/8"]).to_string(),
                    _ => r.extent().to_string(),
                },
                |r| r.stride().to_string(),
            ),
            _ => self.nest(2, number, |r| r.stride().to_string()),
        };
        format!("{n}:{d}")
    }

    fn swizzle(&mut self) -> &'static str {
        self.one_of(&[
            "Sw<1,0,1>",
            "Sw<2,0,3>",
            "Sw<3,3,3>",
            "Sw<2,1,-2>",
            "Sw<0,4,3>",
        ])
    }

    fn literal(&mut self) -> String {
        match self.below(12) {
            0 => format!(
                "{} o {} o {}",
                self.swizzle(),
                self.below(3) * 8,
                self.layout()
            ),
            1 if self.below(4) == 0 => self.swizzle().to_string(),
            _ => self.layout(),
        }
    }

    fn coordinate(&mut self) -> String {
        match self.below(3) {
            0 => "_".to_string(),
            1 => self.below(20).to_string(),
            _ => {
                let items =
                    (0..1 + self.below(3)).map(|_| self.one_of(&["_", "0", "1", "2", "(_,1)"]));
                format!("({})", items.collect::<Vec<_>>().join(","))
            }
        }
    }

    fn tile(&mut self, depth: usize) -> String {
        match self.below(6) {
            0 | 1 => self.extent().to_string(),
            2 => format!("<{}, {}>", self.extent(), self.layout()),
            3 => format!(
                "<{}, {}>",
                self.extent(),
                self.one_of(&["_", "2", "<2,1>", "4:1"])
            ),
            _ => self.expression(depth),
        }
    }

    /// An expression, of at most `depth` calls within one another.
    pub fn expression(&mut self, depth: usize) -> String {
        match depth == 0 || self.below(2) == 0 {
            true => self.literal(),
            false => self.call(depth),
        }
    }

    /// A call, of at most `depth` calls within one another, at least one.
    pub fn call(&mut self, depth: usize) -> String {
        if self.below(25) == 0 {
            return self.tiled();
        }
        let a = self.expression(depth - 1);
        match self.below(10) {
            0 | 1 => {
                let name = self.one_of(&[
                    "coalesce",
                    "flatten",
                    "right_inverse",
                    "left_inverse",
                    "filter",
                    "nullspace",
                    "filter_zeros",
                    "complement",
                    "make_layout_like",
                    "size",
                    "cosize",
                    "rank",
                    "depth",
                    "table",
                ]);
                format!("{name}({a})")
            }
            2 => {
                let name = self.one_of(&[
                    "upcast",
                    "downcast",
                    "complement",
                    "mode",
                    "with_shape",
                    "pad",
                    "select",
                    "at",
                ]);
                format!("{name}({a}, {})", 1 + self.below(8))
            }
            3 => {
                let shape = self.shape();
                match self.below(9) {
                    0 => format!("make_layout_left({shape})"),
                    1 => format!("make_layout_right({shape})"),
                    2 => format!("make_identity_layout({shape})"),
                    3 => format!("domain_distribute({shape}, {})", 1 + self.below(16)),
                    4 => format!("idx2crd({}, {shape})", self.below(40)),
                    5 => format!("tile_to_shape({a}, {shape})"),
                    6 => format!("coalesce({a}, {shape})"),
                    7 => format!("complement({a}, {shape})"),
                    _ => format!("with_shape({a}, {shape})"),
                }
            }
            4 => match self.below(6) {
                0 => format!("slice({a}, {})", self.coordinate()),
                1 => format!("dice({a}, {})", self.coordinate()),
                2 => format!("at({a}, {})", self.coordinate()),
                3 => format!("group({a}, {}, {})", self.below(2), 1 + self.below(3)),
                4 => format!("select({a}, ({},{}))", self.below(3), self.below(3)),
                _ => format!("upcast({a}, {}, {})", 1 + self.below(4), self.below(2)),
            },
            5 => {
                let name = self.one_of(&["composition", "max_common_vector", "max_common_layout"]);
                format!("{name}({a}, {})", self.literal())
            }
            _ => {
                let name = self.one_of(&[
                    "composition",
                    "logical_divide",
                    "zipped_divide",
                    "tiled_divide",
                    "flat_divide",
                    "hier_unzip_divide",
                    "logical_product",
                    "zipped_product",
                    "tiled_product",
                    "flat_product",
                    "hier_unzip_product",
                    "blocked_product",
                    "raked_product",
                    "zip",
                    "make_layout",
                    "divide_evenly",
                    "max_common_layout",
                    "max_common_vector",
                    "make_layout_tv",
                ]);
                let b = self.tile(depth - 1);
                format!("{name}({a}, {b})")
            }
        }
    }

    /// A partition by a tiled copy or a tiled multiplication.
    fn tiled(&mut self) -> String {
        let extents = [8, 16, 24, 32, 48, 64];
        let shape = [self.one_of(&extents), self.one_of(&extents)];
        let block = match self.below(3) {
            0 => format!("({},{}):({},1)", shape[0], shape[1], shape[1]),
            1 => format!("({},(2,{})):(2,(1,{}))", shape[0], shape[1], 2 * shape[0]),
            _ => format!("({},{})", shape[0], shape[1]),
        };
        if self.below(3) == 0 {
            let side = self.one_of(&["source", "destination"]);
            return format!("partition_{side}({}, {block})", self.tiled_copy());
        }
        let mma = self.tiled_mma();
        let operand = self.one_of(&["a", "b", "c"]);
        match self.below(4) {
            0 => format!("layout_{operand}({mma})"),
            1 => {
                let values = self.one_of(&[1, 2, 4]);
                format!("tiled_copy_{operand}({mma}, copy_atom({values}))")
            }
            _ => format!("partition_{operand}({mma}, {block})"),
        }
    }

    fn tiled_copy(&mut self) -> String {
        let atom = self.one_of(&[
            "1",
            "2",
            "4",
            "(8,2):(2,1), (8,2):(1,8), 1",
            "(8,2):(2,1), (8,2):(1,8), 0",
            "(4,2):(2,1), (4,(2,4)):(0,(1,2))",
        ]);
        let threads = self.one_of(&[
            "(4,8):(8,1)",
            "(8,4):(1,8)",
            "(2,8):(8,1)",
            "((2,2),4):((1,8),2)",
            "16:1",
        ]);
        let values = self.one_of(&["(1,4):(4,1)", "(2,1):(1,2)", "(2,2):(1,2)", "4:1", "2:1"]);
        format!("tiled_copy(copy_atom({atom}), {threads}, {values})")
    }

    fn tiled_mma(&mut self) -> String {
        let atom = self.one_of(&[
            "(4,4,2), ((4,2),2):((1,0),4), ((4,2),2):((1,0),4), ((4,2),2):((4,2),1)",
            "(16,16,16), ((16,4),4):((1,64),16), ((16,4),4):((1,64),16), ((16,4),4):((16,4),1)",
            "(2,4,1), (4,2):(0,1), (4,1):(1,0), (4,2):(2,1)",
            "(1,1,1), (1,1):(0,0), (1,1):(0,0), (1,1):(0,0)",
        ]);
        let waves = self.one_of(&[
            "1:0",
            "2:1",
            "(2,2):(1,2)",
            "(2,2):(2,1)",
            "(2,3):(3,1)",
            "(1,2,2):(0,1,2)",
            "((2,2),2):((1,4),2)",
        ]);
        let along_m = self.one_of(&["_", "_", "16", "(4,2,2):(1,8,4)", "(2,8):(8,1)"]);
        let along_n = self.one_of(&["_", "(4,2):(2,1)", "(8,3):(3,1)"]);
        format!("tiled_mma(mma_atom({atom}), {waves}, <{along_m}, {along_n}>)")
    }
}
