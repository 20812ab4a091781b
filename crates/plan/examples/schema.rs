//! Prints the JSON Schema of plans.
#![expect(clippy::print_stdout, reason = "its output is the schema")]

fn main() -> serde_json::Result<()> {
    println!("{}", serde_json::to_string_pretty(&schemars::schema_for!(longhaul_plan::Plan))?);
    Ok(())
}
