use tilefold_passes::*;
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let spec = tilefold_dialect::spec::Spec::from_toml("x", &text).unwrap();
    let plan = Plan::complete(&spec).map_err(|e| println!("{:?}", miette::Report::new(e))).unwrap();
    let context = tilefold_dialect::tile::context();
    let module = tile_module(&context, &plan, |name, m| println!("=== {name}\n{}", m.as_operation())).unwrap();
    let low = lower(&context, &module, &plan).unwrap();
    println!("=== rocdl\n{}", low.as_operation());
}
