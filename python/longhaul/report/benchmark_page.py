def write_benchmark_report(directory): pass
