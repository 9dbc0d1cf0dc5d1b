//! Rewrites over the tile dialect and the lowering to ROCDL
