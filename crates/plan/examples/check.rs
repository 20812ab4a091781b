//! Checks the plan on standard input: silent if it is good, one line if not.
use std::io::Read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let plan: longhaul_plan::Plan = serde_json::from_str(&text)?;
    plan.check()?;
    Ok(())
}
