//! Everything that can go wrong between a spec and a verdict.

use crate::launch::LaunchError;
use miette::{Diagnostic, LabeledSpan, SourceCode};
use std::fmt::Display;
use thiserror::Error;
use tilefold_dialect::spec::SpecError;
use tilefold_passes::PassError;
use tilefold_rocdl::{ManifestError, RocdlError};
use tilefold_sim::Error as SimError;

/// What went wrong.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum Error {
    /// The spec cannot be met.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// The problem cannot be launched with this kernel.
    #[error(transparent)]
    Launch(#[from] LaunchError),
    /// A pass failed.
    #[error("a pass failed")]
    Pass(#[from] PassError),
    /// No code object came of the module.
    #[error("no code object came of the kernel")]
    Rocdl(#[from] RocdlError),
    /// The kernel and its manifest do not fit.
    #[error("the kernel and its manifest do not fit")]
    Manifest(#[from] ManifestError),
    /// The simulator could not execute the kernel.
    #[error("the simulator does not take this")]
    Sim(#[from] SimError),
    /// A file could not be read or written.
    #[error("{path}")]
    File {
        /// The file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A command's argument is wrong.
    #[error("{what}")]
    Usage {
        /// What is wrong.
        what: String,
        /// What would do.
        advice: String,
    },
}

impl Error {
    /// Whether Tilefold is at fault, rather than what it was given.
    pub fn is_internal(&self) -> bool {
        matches!(self, Self::Pass(_) | Self::Rocdl(_) | Self::Manifest(_))
    }

    /// A file that could not be read or written.
    pub fn file(path: impl AsRef<std::path::Path>, source: std::io::Error) -> Self {
        Self::File {
            path: path.as_ref().display().to_string(),
            source,
        }
    }
}

impl Error {
    /// The kinds of error that carry a place or advice of their own.
    fn inner(&self) -> Option<&dyn Diagnostic> {
        match self {
            Self::Spec(error) => Some(error),
            Self::Launch(error) => Some(error),
            _ => None,
        }
    }
}

impl Diagnostic for Error {
    fn help<'a>(&'a self) -> Option<Box<dyn Display + 'a>> {
        match self {
            Self::Usage { advice, .. } => Some(Box::new(advice)),
            _ if self.is_internal() => Some(Box::new(
                "this is a fault of Tilefold: please report it with the spec",
            )),
            _ => self.inner()?.help(),
        }
    }

    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.inner()?.source_code()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.inner()?.labels()
    }
}
