//! The `tile` MLIR dialect: whole-tile actions of a workgroup as operations.
//!
//! The dialect is defined in IRDL (`tile.mlir` beside this file), which checks operand and
//! attribute kinds. What IRDL cannot say, that the layouts of an operation fit each other,
//! is checked by the passes that read them.

mod attributes;
mod build;

pub use attributes::{AttributeError, integer, integers, layout, text};
pub use build::TileBuilder;

use melior::{
    Context,
    dialect::{DialectHandle, DialectRegistry},
    ir::Module,
    utility::load_irdl_dialects,
};
use mlir_sys::MlirDialectHandle;

// Part of MLIR's C API (mlir-c/Dialect/{IRDL,ROCDL}.h) that mlir-sys does not declare.
unsafe extern "C" {
    fn mlirGetDialectHandle__irdl__() -> MlirDialectHandle;
    fn mlirGetDialectHandle__rocdl__() -> MlirDialectHandle;
}

/// The dialect's definition.
pub const DEFINITION: &str = include_str!("tile.mlir");

/// A context that knows the `tile` dialect and those that it lowers to.
///
/// Only these dialects are registered, since registering all of MLIR's takes longer than
/// compiling a kernel. The context has no threads of its own: a module is small, and
/// compilations run side by side, each in its own context.
pub fn context() -> Context {
    let registry = DialectRegistry::new();
    // SAFETY: both functions take nothing and return a handle to a static dialect description.
    let (irdl, rocdl) = unsafe {
        (
            DialectHandle::from_raw(mlirGetDialectHandle__irdl__()),
            DialectHandle::from_raw(mlirGetDialectHandle__rocdl__()),
        )
    };
    for handle in [
        DialectHandle::func(),
        DialectHandle::arith(),
        DialectHandle::scf(),
        DialectHandle::cf(),
        DialectHandle::llvm(),
        DialectHandle::gpu(),
        irdl,
        rocdl,
    ] {
        handle.insert_dialect(&registry);
    }
    let context = Context::new();
    context.append_dialect_registry(&registry);
    context.enable_multi_threading(false);
    context.load_all_available_dialects();
    let definition =
        Module::parse(&context, DEFINITION).expect("the dialect's definition is checked by tests");
    assert!(
        load_irdl_dialects(&definition),
        "the dialect's definition loads once per context"
    );
    context
}

#[cfg(test)]
mod tests {
    use super::*;
    use melior::ir::operation::OperationLike;

    #[test]
    fn operations_parse_and_verify() {
        let context = context();
        let module = Module::parse(
            &context,
            r#"func.func @f(%p: !llvm.ptr<1>, %m: i32) {
              %a = "tile.view"(%p, %m, %m, %m)
                {operand = "a", element = "f16", order = "row", space = "global"}
                : (!llvm.ptr<1>, i32, i32, i32) -> !tile.matrix
              "tile.barrier"() : () -> ()
              return
            }"#,
        )
        .unwrap();
        assert!(module.as_operation().verify());
    }

    #[test]
    fn a_missing_attribute_is_refused() {
        let context = context();
        let module = Module::parse(
            &context,
            r#"func.func @f() {
              %a = "tile.lds"() {operand = "a", element = "f16", buffers = 2} : () -> !tile.shared
              return
            }"#,
        );
        assert!(module.is_none());
    }
}
