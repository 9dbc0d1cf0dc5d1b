//! One refusal for each rule, as a person reads it.

use tilefold_layout::{
    Basis, ComposedLayout, IntTuple, Layout, Nest, SliceCoord, Swizzle, Tiler, domain_distribute,
    draw::Drawing, make_layout, zip,
};

fn parse(text: &str) -> Layout {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

fn refusal<T: std::fmt::Debug>(result: tilefold_layout::Result<T>) -> String {
    result.expect_err("the operands break a rule").to_string()
}

#[test]
fn every_rule_is_explained() {
    let a = parse("(4,(2,3)):(1,(4,8))");
    let basis = |text: &str| text.parse::<Layout<Basis>>().unwrap();
    let sw = |text: &str| text.parse::<ComposedLayout>().unwrap();
    let fixed: SliceCoord =
        Nest::Tuple(vec![Nest::Int(None), Nest::Tuple(vec![Nest::Int(Some(1))])]);
    let whole = Tiler::Modes(vec![Tiler::Whole]);
    let refusals = [
        refusal(Layout::new([0, 4], [1, 1])),
        refusal(Layout::new(Nest::Tuple(vec![]), Nest::<i64>::Tuple(vec![]))),
        refusal(make_layout::<i64>(&[])),
        refusal(Layout::row_major(&[])),
        refusal(Layout::row_major(&[1 << 32, 1 << 32])),
        refusal(Layout::new([4, 8], IntTuple::from(1))),
        refusal(parse("(6,4):(1,7)").compose(&parse("(2,4):(1,4)"))),
        refusal(parse("(4,6):(1,10)").compose(&parse("6:1"))),
        refusal(parse("(4,4):(1,8)").compose(&parse("(2,2):(2,2)"))),
        refusal(parse("(4,4):(1,8)").compose(&basis("2:1@2"))),
        refusal(parse("(4,4):(1,8)").compose_tiler(&[parse("2:1"), parse("8:1"), parse("2:1")])),
        refusal(parse("(4,6):(1,10)").compose_tiler(&[parse("2:1"), parse("2:1"), parse("2:1")])),
        refusal(parse("(2,2):(1,1)").complement(8)),
        refusal(parse("4:-1").complement(8)),
        refusal(parse("4:1").complement(0)),
        refusal(parse("(2,3):(3,4)").left_inverse()),
        refusal(parse("4:-2").left_inverse()),
        refusal(parse("(4,2,2):(1,2,16)").left_inverse()),
        refusal(a.coalesce_by(&[1, 1, 1].into())),
        refusal(a.slice(&fixed)),
        refusal(a.at_coord(&[1, 2, 3].into())),
        refusal(a.mode(2)),
        refusal(a.group(1..3)),
        refusal(a.zipped_divide(&whole)),
        refusal(a.divide_evenly(&[parse("3:1")])),
        refusal(a.divide_evenly(&[parse("(2,2):(1,3)")])),
        refusal(a.logical_product(&[parse("2:1"), parse("2:1"), parse("2:1")])),
        refusal(parse("(4,8):(1,3)").upcast(2)),
        refusal(parse("(4,8):(2,8)").downcast(2)),
        refusal(parse("(4,8):(1,4)").upcast(0)),
        refusal(parse("(4,4):(4,1)").tile_to_shape(&[8, 6].into(), None)),
        refusal(parse("(4,4):(4,1)").tile_to_shape(&8.into(), None)),
        refusal(Layout::ordered([4, 4], &[0, 1, 2].into())),
        refusal(zip(&parse("(4,4):(4,1)"), &parse("4:1"))),
        refusal(domain_distribute(&[4, 4].into(), 0)),
        refusal(Swizzle::new(3, 0, 2)),
        refusal(Swizzle::new(2, 1, 3).and_then(|s| s.upcast(4))),
        refusal(sw("Sw<1,3,-3> o 0 o (2,(2,4)):(8,(4,1))").right_inverse()),
        refusal(sw("Sw<2,0,3> o 1 o (4,8):(1,4)").right_inverse()),
        refusal(Drawing::offsets(parse("(1024,1024):(1,1024)"))),
        refusal(tilefold_layout::make_layout_tv(
            &parse("4:2"),
            &parse("2:1"),
        )),
        refusal(basis("(2,2):(1@0,1@0@0)").coord_at(3)),
    ];
    insta::assert_snapshot!(refusals.join("\n"));
}
