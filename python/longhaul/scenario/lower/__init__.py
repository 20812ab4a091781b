"""From a checked scenario to the plan that Rust executes: integers in ns, bit/s and bytes."""
