//! Simulates a plan and says how fast that went.
//!
//! ```text
//! cargo run --release -p longhaul-sim --example run -- plan.json [automatic | calendar | lookahead] [0,0,1,1,...: each node's shard]
//! ```
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::print_stdout,
    reason = "an example reads, measures and prints"
)]

use longhaul_sim::{Records, Scheduler, Simulation};
use longhaul_units::Time;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name a plan")?;
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
    let plan = longhaul_plan::Plan::from_json(text.as_bytes())?;
    let scheduler = match std::env::args().nth(2).as_deref() {
        None | Some("automatic") => Scheduler::Automatic,
        Some("calendar") => Scheduler::Calendar,
        Some("lookahead") => Scheduler::Lookahead,
        Some(other) => return Err(format!("{other}: neither calendar nor lookahead").into()),
    };
    let mut simulation = Simulation::new(plan, Records::none())?.with_scheduler(scheduler);
    if let Some(partition) = std::env::args().nth(3) {
        let partition = partition.split(',').map(str::parse).collect::<Result<Vec<u32>, _>>()?;
        simulation.divide(&partition)?;
    }
    let start = Instant::now();
    while !simulation.advance(Time::NEVER, 1_000_000) {}
    let seconds = start.elapsed().as_secs_f64();
    let result = simulation.finish()?;
    let hops = result["hops"].as_u64().unwrap_or(0) as f64;
    println!(
        "{} s in {seconds:.3} s: {:.1} million packet-hops/s, {:.1} million events/s, digest {}",
        simulation.now().ns() as f64 / 1e9,
        hops / seconds / 1e6,
        simulation.events() as f64 / seconds / 1e6,
        result["digest"].as_str().unwrap_or("")
    );
    Ok(())
}
