//! What matrices are filled with.

use std::str::FromStr;
use tilefold_dialect::element::ElementType;

/// Kinds of inputs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inputs {
    /// -1 and +1: every product and, up to the precision of the accumulator, every partial sum
    /// is exact in any order.
    #[default]
    Signs,
    /// Integers from -3 to 3.
    Small,
    /// Uniform in [-1, 1), rounded to the element type.
    Random,
}

impl FromStr for Inputs {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "signs" => Ok(Self::Signs),
            "small" => Ok(Self::Small),
            "random" => Ok(Self::Random),
            _ => Err("inputs are signs, small or random".into()),
        }
    }
}

impl Inputs {
    /// Whether all values are integers.
    pub fn are_integers(self) -> bool {
        self != Self::Random
    }

    /// `count` values; the same for the same kind, seed and stream, everywhere.
    pub fn values(self, element: ElementType, count: usize, seed: u64, stream: u64) -> Vec<f64> {
        let mut random = fastrand::Rng::with_seed(
            seed.wrapping_mul(0x9E37_79B9_7F4A_7C15)
                .wrapping_add(stream),
        );
        let mut bytes = Vec::with_capacity(8);
        (0..count)
            .map(|_| match self {
                Self::Signs => [-1.0, 1.0][usize::from(random.bool())],
                Self::Small => f64::from(random.i32(-3..=3)),
                Self::Random => {
                    bytes.clear();
                    super::encode(element, random.f64() * 2.0 - 1.0, &mut bytes);
                    super::decode(element, &bytes)
                }
            })
            .collect()
    }
}
