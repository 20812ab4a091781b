//! The inner loops of the workloads, where NumPy would be several times slower than plain C.
//!
//! Functions of slices: no state, no allocation beyond a row or two. What is computed is defined in the
//! description of the NAS parallel benchmarks (NAS-91-002), section by section; `python/longhaul/workloads`
//! puts it together and does everything else.

#![forbid(unsafe_code)]

pub mod multigrid;
pub mod relaxation;
pub mod sorting;
pub mod sparse;
