//! Laws of the window as programs for the Linux kernel: objects compiled from `bpf/`, and what it takes to load
//! them. Who loads them is `longhaul-live`; here nothing is a system call.
//!
//! Each law has one core in C (`bpf/core/`), which counts in numbers of 32 whole and 32 fractional bits. It is
//! compiled for the kernel together with `bpf/kernel.h`, and, by a test, for this machine, to be compared with
//! the law of `longhaul-congestion`.
#![forbid(unsafe_code)]

mod btf;
mod laws;
mod object;
mod parameters;

pub use btf::{Member, Types};
pub use laws::{KernelLaw, NAMES, SlowStartLimit, kernel_law};
pub use object::{Object, Program, Reference};
