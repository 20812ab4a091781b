"""One file for each kind of workload: its options, and what it prints."""
