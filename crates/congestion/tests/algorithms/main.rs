//! Every algorithm against the closed form, table or equilibrium of its RFC or paper, without a network.

mod bbr;
mod coupled;
mod delay;
mod fluid;
mod high_speed;
mod marks_and_mixtures;
mod parallel;
mod pipe;
mod properties;
mod reno;
mod settings;
mod slow_start;
