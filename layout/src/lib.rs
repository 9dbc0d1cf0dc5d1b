//! CuTe-style layout algebra: nested shapes and strides, swizzles, composition, complement, divides and products
