//! The host's vector units: loops over lanes compiled once for each instruction set and chosen at
//! run time.

use std::sync::OnceLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Base,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

#[inline]
pub(crate) fn level() -> Level {
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

/// Defines a function that is compiled once for each level and calls the one for the host. Every
/// version computes the same bits: a fused multiply-add is fused in all of them. Type and constant
/// parameters stand in brackets after the name.
macro_rules! vectorized {
    ($(#[$meta:meta])* $vis:vis fn $name:ident[$($generics:tt)*]($($arg:ident: $ty:ty),* $(,)?)
        $(-> $ret:ty)? $body:block) => {
        $(#[$meta])*
        // The last version is the only one where there is no other vector unit.
        $vis fn $name<$($generics)*>($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn base<$($generics)*>($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2,fma,f16c")]
                fn avx2<$($generics)*>($($arg: $ty),*) $(-> $ret)? { base($($arg),*) }

                #[target_feature(enable = "avx2,fma,f16c,avx512f,avx512bw,avx512dq,avx512vl")]
                fn avx512<$($generics)*>($($arg: $ty),*) $(-> $ret)? { base($($arg),*) }

                match $crate::simd::level() {
                    $crate::simd::Level::Base => {}
                    // SAFETY: a level is only chosen when the host has its instructions.
                    $crate::simd::Level::Avx2 => return unsafe { avx2($($arg),*) },
                    // SAFETY: as above.
                    $crate::simd::Level::Avx512 => return unsafe { avx512($($arg),*) },
                }
            }
            base($($arg),*)
        }
    };
}
pub(crate) use vectorized;
