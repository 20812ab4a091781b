//! Congestion-control algorithms as eBPF `struct_ops` programs: objects compiled from `bpf/`, and the data to load
//! them. Who loads them is `longhaul-live`; here nothing is a system call.
//!
//! Each algorithm has one core in C (`bpf/core/`), which counts in numbers of 32 whole and 32 fractional bits. It is
//! compiled for the kernel together with `bpf/kernel.h`, and, by a test, for this machine, to be compared with
//! the algorithm of `longhaul-congestion`.
#![forbid(unsafe_code)]

mod algorithms;
mod btf;
mod object;
mod parameters;

pub use algorithms::{BpfAlgorithm, NAMES, SlowStartLimit, bpf_algorithm};
pub use btf::{Member, Types};
pub use object::{Object, Program, Reference};
