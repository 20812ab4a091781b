//! Captures that are made up, and what is found in them.

mod exchanges;
mod formats;
mod losses;
mod wire;
