"""Regeneration of results from the records, also of killed runs, relays, sweeps and benchmarks."""

from pathlib import Path

from longhaul.results import ending, run_record


def write_again(directory: Path) -> Path:
    """Write how what is in ``directory`` ended, unless it runs, and its results; returns their first page."""
    if run_record.path_of(directory) is not None:
        ending.settle(directory)
    match run_record.kind(directory):
        case "sweep":
            from longhaul.sweeps.sweep import rewrite

            return rewrite(directory)
        case "benchmark":
            from longhaul.benchmark.benchmark import rewrite as rewrite_benchmark
            from longhaul.benchmark.page import write_benchmark_report

            rewrite_benchmark(directory)
            return write_benchmark_report(directory)
        case "relay":
            from longhaul.relay.report import write_relay_report
            from longhaul.relay.results import write_results as write_relay

            write_relay(directory)
            return write_relay_report(directory)
        case "run":
            from longhaul.report.html import write_report
            from longhaul.results.summary import write_results

            write_results(directory)
            return write_report(directory)
