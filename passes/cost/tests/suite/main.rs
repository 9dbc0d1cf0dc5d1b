//! The model against the published ladder, and what must hold of it whatever the constants.

mod ladder;
mod order;
mod properties;
mod published;
mod refusals;
