//! Search among equals, with e-graphs.

pub mod layouts;
