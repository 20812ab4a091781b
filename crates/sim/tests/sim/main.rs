//! Whole simulations against arithmetic, closed forms and themselves.

mod arithmetic;
mod common;
mod determinism;
mod fill;
mod flows;
mod forms;
mod monitor;
mod mptcp;
mod queues;
mod rules;
mod schedulers;
mod shards;
mod shares;
mod transport;
