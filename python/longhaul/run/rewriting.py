"""The results of a run, relay, sweep or benchmark again, from its records; also of one that was killed."""

from pathlib import Path

from longhaul.run import ending, record


def write_again(directory: Path) -> Path:
    """Write how what is in ``directory`` ended, unless it runs, and its results; returns their first page."""
    path = record.path_of(directory)
    if path is not None:
        ending.settle(directory)
    if path is not None and path.name == "sweep.json":
        from longhaul.run.sweeps.sweep import rewrite

        return rewrite(directory)
    if path is not None and path.name == "benchmark.json":
        from longhaul.report.benchmark_page import write_benchmark_report
        from longhaul.run.benchmark.benchmark import rewrite as rewrite_benchmark

        rewrite_benchmark(directory)
        return write_benchmark_report(directory)
    if path is not None and record.read(path).get("mode") == "relay":
        from longhaul.run.relay.results import write_results as write_relay

        write_relay(directory)
        return directory / "summary.json"
    from longhaul.report.html import write_report
    from longhaul.run.results import write_results

    write_results(directory)
    return write_report(directory)
