//! 100,000 random expressions: none crashes or hangs, and every answer is right by its table.

use tilefold_layout::expr::{Value, evaluate};
use tilefold_layout::{ComposedLayout, Layout, Nest};

/// A small linear congruential generator, so that the run is the same everywhere.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    fn extent(&mut self) -> i64 {
        [1, 2, 2, 2, 3, 4, 4, 4, 5, 6, 8, 8, 16][self.below(13)]
    }

    fn stride(&mut self) -> i64 {
        [0, 1, 1, 1, 2, 2, 3, 4, 4, 6, 8, 8, 12, 16, 32, -1, -4, 7][self.below(18)]
    }

    fn nest(&mut self, depth: usize) -> (String, String) {
        if depth == 0 || self.below(3) == 0 {
            return (self.extent().to_string(), self.stride().to_string());
        }
        let (n, d): (Vec<_>, Vec<_>) = (0..1 + self.below(3)).map(|_| self.nest(depth - 1)).unzip();
        (format!("({})", n.join(",")), format!("({})", d.join(",")))
    }

    fn layout(&mut self) -> String {
        if self.below(8) == 0 {
            // Compact ones, of which more is defined.
            let extents: Vec<i64> = (0..1 + self.below(3)).map(|_| self.extent()).collect();
            let compact = if self.below(2) == 0 {
                Layout::row_major
            } else {
                Layout::col_major
            };
            return compact(&extents)
                .expect("small layouts are valid")
                .to_string();
        }
        let (n, d) = self.nest(2);
        format!("{n}:{d}")
    }

    /// An expression that gives a layout, of at most `depth` calls within one another.
    fn expression(&mut self, depth: usize) -> String {
        if depth == 0 || self.below(4) == 0 {
            return match self.below(10) {
                0 => {
                    let sw = ["Sw<1,0,1>", "Sw<2,0,3>", "Sw<3,3,3>", "Sw<2,1,-2>"][self.below(4)];
                    format!("{sw} o {} o {}", self.below(3) * 8, self.layout())
                }
                _ => self.layout(),
            };
        }
        let a = self.expression(depth - 1);
        let unary = [
            "coalesce",
            "flatten",
            "right_inverse",
            "left_inverse",
            "filter",
            "nullspace",
            "filter_zeros",
            "complement",
            "make_layout_like",
        ];
        let binary = [
            "composition",
            "logical_divide",
            "zipped_divide",
            "tiled_divide",
            "flat_divide",
            "logical_product",
            "blocked_product",
            "raked_product",
            "zip",
            "make_layout",
            "divide_evenly",
            "max_common_layout",
        ];
        match self.below(4) {
            0 => format!("{}({a})", unary[self.below(unary.len())]),
            1 => {
                let n = 1 + self.below(8);
                let op = ["upcast", "downcast", "complement", "mode", "with_shape"][self.below(5)];
                format!("{op}({a}, {n})")
            }
            _ => {
                let b = match self.below(3) {
                    0 => format!("{}", self.extent()),
                    1 => format!("<{}, {}>", self.extent(), self.layout()),
                    _ => self.expression(depth - 1),
                };
                format!("{}({a}, {b})", binary[self.below(binary.len())])
            }
        }
    }
}

/// The name and the operands of a call, as text.
fn taken_apart(text: &str) -> Option<(&str, Vec<&str>)> {
    let open = text
        .find('(')
        .filter(|_| text.starts_with(|c: char| c.is_ascii_lowercase()))?;
    let inside = &text[open + 1..text.len() - 1];
    let (mut depth, mut start, mut operands) = (0, 0, Vec::new());
    for (i, c) in inside.char_indices() {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth -= 1,
            ',' if depth == 0 => {
                operands.push(inside[start..i].trim());
                start = i + 1;
            }
            _ => {}
        }
    }
    operands.push(inside[start..].trim());
    Some((&text[..open], operands))
}

/// The value as a layout; an integer `n` is the layout `n:1`, as where it is an operand.
fn layout(text: &str) -> Option<ComposedLayout> {
    match evaluate(text).ok()? {
        Value::Layout(layout) => Some(layout),
        Value::Tuple(Nest::Int(Some(n))) => Some(Layout::compact_left(n).ok()?.into()),
        _ => None,
    }
}

/// Whether the answer is what the operation's definition gives; `None` for operations without one
/// that a table can check.
fn right(
    name: &str,
    a: &ComposedLayout,
    b: Option<&ComposedLayout>,
    r: &ComposedLayout,
) -> Option<bool> {
    let all = |n: i64, f: &dyn Fn(i64) -> bool| (0..n).all(f);
    let sorted = |l: &ComposedLayout| {
        let mut offsets: Vec<i64> = l.offsets().collect();
        offsets.sort_unstable();
        offsets
    };
    let distinct = |l: &ComposedLayout| {
        let mut offsets = sorted(l);
        offsets.dedup();
        offsets
    };
    Some(match (name, b) {
        ("coalesce" | "flatten", None) => {
            r.size() == a.size() && all(r.size(), &|i| r.at(i) == a.at(i))
        }
        ("right_inverse", None) => all(r.size(), &|i| a.at(r.at(i)) == i),
        ("left_inverse", None) => all(a.size(), &|i| a.at(r.at(a.at(i))) == a.at(i)),
        ("filter" | "filter_zeros", None) => distinct(r) == distinct(a),
        ("nullspace", None) => all(r.size(), &|i| a.at(r.at(i)) == 0),
        ("make_layout_like", None) => {
            r.shape() == a.shape() && distinct(r).len() as i64 == r.cosize()
        }
        ("complement", _) => {
            let filtered = a.inner().filter();
            if filtered.size() * r.size() > 4096 {
                return None;
            }
            let sums = Layout::concat(&[filtered, r.inner().clone()]).expect("the sum is small");
            distinct(&sums.clone().into()).len() as i64 == sums.size()
        }
        ("composition" | "with_shape", Some(b)) => {
            r.size() == b.size() && all(b.size(), &|i| r.at(i) == a.at(b.at(i)))
        }
        ("divide_evenly", Some(_)) => sorted(r) == sorted(a),
        ("logical_divide" | "zipped_divide" | "tiled_divide", Some(b)) => {
            let tile = r.map_inner(|r| r.mode(0)).expect("divides have a tile");
            let direct = a.compose(b.as_plain()?).ok()?;
            tile.size() == b.size() && all(b.size(), &|i| tile.at(i) == direct.at(i))
        }
        ("max_common_layout", Some(b)) => {
            all(r.size(), &|i| a.at(r.at(i)) == i && b.at(r.at(i)) == i)
        }
        ("logical_product", Some(b)) => {
            let block = r.inner().mode(0).expect("products have two modes");
            block == *a.inner() && r.size() == a.size() * b.size()
        }
        ("blocked_product" | "raked_product", Some(b)) => {
            let product = a.inner().logical_product(b.as_plain()?).ok()?;
            sorted(r) == sorted(&product.into())
        }
        ("upcast", Some(n)) => {
            if a.inner().flat_modes().iter().any(|m| m.1 < 0) {
                return None;
            }
            // Rounded up within each mode, so units that hold no element may be reached besides.
            let units = distinct(r);
            a.offsets()
                .all(|x| units.binary_search(&(x / n.size())).is_ok())
        }
        ("downcast", Some(n)) => {
            let n = n.size();
            let fine = |x: i64| (0..n).map(move |j| x * n + j);
            let mut pieces: Vec<i64> = a.offsets().flat_map(fine).collect();
            pieces.sort_unstable();
            sorted(r) == pieces
        }
        ("zip", Some(b)) => {
            let sizes = |l: &ComposedLayout| {
                l.inner()
                    .modes()
                    .iter()
                    .map(Layout::size)
                    .collect::<Vec<_>>()
            };
            let products: Vec<i64> = sizes(a).iter().zip(sizes(b)).map(|(x, y)| x * y).collect();
            sizes(r) == products
        }
        _ => return None,
    })
}

#[test]
fn random_expressions_are_right_or_refused() {
    let mut random = Random(1);
    let (mut answered, mut checked) = (0, 0);
    for _ in 0..100_000 {
        let text = random.expression(3);
        let Ok(Value::Layout(result)) = evaluate(&text) else {
            continue;
        };
        answered += 1;
        // What is printed is the value.
        let again = result.to_string();
        assert_eq!(
            again.parse::<ComposedLayout>().expect(&text),
            result,
            "{text}"
        );
        if result.size() > 1024 {
            continue;
        }
        let Some((name, operands)) = taken_apart(&text) else {
            continue;
        };
        let Some(a) = layout(operands[0]).filter(|a| a.size() <= 1024) else {
            continue;
        };
        let b = operands.get(1).map(|b| layout(b));
        if let Some(None) = b {
            continue;
        }
        let b = b.flatten().filter(|b| b.size() <= 1024);
        if b.is_some() == (operands.len() == 2) {
            let right = right(name, &a, b.as_ref(), &result);
            checked += usize::from(right.is_some());
            assert_ne!(right, Some(false), "{text} = {result}");
        }
    }
    println!("{answered} answered, {checked} checked by table");
    assert!(
        answered > 30_000 && checked > 10_000,
        "{answered} answered, {checked} checked"
    );
}
