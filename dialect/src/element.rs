//! Element types of matrices.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::Serialize;
use thiserror::Error;

/// Type of a matrix element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ElementType {
    /// IEEE binary32.
    F32,
    /// IEEE binary16.
    F16,
    /// The upper half of binary32.
    Bf16,
    /// Signed 8-bit integer.
    I8,
    /// Signed 32-bit integer.
    I32,
    /// 8-bit float E4M3.
    Fp8,
    /// 8-bit float E5M2.
    Bf8,
    /// 6-bit float E2M3.
    Fp6,
    /// 6-bit float E3M2.
    Bf6,
    /// 4-bit float E2M1.
    Fp4,
}

/// The error of parsing an [`ElementType`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("unknown element type `{0}`")]
pub struct UnknownElementType(pub String);

impl ElementType {
    /// Every element type, in the order in which they are listed to the user.
    pub const ALL: [Self; 10] = [
        Self::F32,
        Self::F16,
        Self::Bf16,
        Self::I8,
        Self::I32,
        Self::Fp8,
        Self::Bf8,
        Self::Fp6,
        Self::Bf6,
        Self::Fp4,
    ];

    /// Bits of one element.
    pub fn bits(self) -> u32 {
        match self {
            Self::F32 | Self::I32 => 32,
            Self::F16 | Self::Bf16 => 16,
            Self::I8 | Self::Fp8 | Self::Bf8 => 8,
            Self::Fp6 | Self::Bf6 => 6,
            Self::Fp4 => 4,
        }
    }

    /// The name used in specs.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::I8 => "i8",
            Self::I32 => "i32",
            Self::Fp8 => "fp8",
            Self::Bf8 => "bf8",
            Self::Fp6 => "fp6",
            Self::Bf6 => "bf6",
            Self::Fp4 => "fp4",
        }
    }
}

impl fmt::Display for ElementType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for ElementType {
    type Err = UnknownElementType;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|element| element.name() == text)
            .ok_or_else(|| UnknownElementType(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_are_those_of_serde() {
        for element in ElementType::ALL {
            assert_eq!(element.to_string().parse(), Ok(element));
            assert_eq!(serde_json::to_value(element).unwrap(), element.name());
        }
        assert_eq!(
            "F16".parse::<ElementType>(),
            Err(UnknownElementType("F16".to_owned()))
        );
    }
}
