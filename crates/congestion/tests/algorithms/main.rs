//! Every algorithm against the closed form, table or equilibrium of its RFC or paper, without a network.

mod bbr;
mod cdg;
mod coupled;
mod delay;
mod fluid;
mod high_speed;
mod loss_and_delay;
mod marks_and_mixtures;
mod nv;
mod parallel;
mod pipe;
mod properties;
mod reno;
mod rule;
mod settings;
mod slow_start;
