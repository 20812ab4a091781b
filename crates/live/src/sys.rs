//! System calls that no crate offers as safe functions, one subject per file, behind safe functions of our own.
//!
//! Only this module may use `unsafe`. Each block has one unsafe operation and says why it is sound.

#[cfg(test)]
mod allocations;
pub mod bpf;
pub mod capabilities;
pub mod datagrams;
pub mod exec;
pub mod fork;
pub mod host_command;
pub mod packet;
pub mod pidfd;
pub mod scheduler;
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub mod seccomp;
pub mod signals;
pub mod tcp_info;
pub mod terminal;
pub mod tun;
pub mod wait;

#[cfg(test)]
pub use allocations::{ALLOCATED, forbid_in_children};
