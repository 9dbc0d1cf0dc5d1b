//! The host's vector units: loops over lanes compiled once for each instruction set and chosen at
//! run time.

use std::sync::OnceLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Base,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

fn level() -> Level {
    static LEVEL: OnceLock<Level> = OnceLock::new();
    *LEVEL.get_or_init(|| {
        #[cfg(target_arch = "x86_64")]
        {
            let avx2 = is_x86_feature_detected!("avx2")
                && is_x86_feature_detected!("fma")
                && is_x86_feature_detected!("f16c");
            let avx512 = is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl");
            match (avx2, avx512) {
                (true, true) => return Level::Avx512,
                (true, false) => return Level::Avx2,
                _ => {}
            }
        }
        Level::Base
    })
}

/// Runs a lane loop compiled for the widest vectors the host has. Every version computes the same
/// bits: a fused multiply-add is fused in all of them.
#[inline(always)]
pub(crate) fn wide<R>(body: impl FnOnce() -> R) -> R {
    match level() {
        Level::Base => body(),
        // SAFETY: the level is only chosen when the host has these instructions.
        #[cfg(target_arch = "x86_64")]
        Level::Avx2 => unsafe { avx2(body) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        Level::Avx512 => unsafe { avx512(body) },
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c")]
fn avx2<R>(body: impl FnOnce() -> R) -> R {
    body()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
fn avx512<R>(body: impl FnOnce() -> R) -> R {
    body()
}
