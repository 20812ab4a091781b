//! Virtual time: real programs on User-Mode Linux kernels whose clock Longhaul owns.
#![deny(unsafe_code)]

pub mod vhost;
