def print_benchmark(plain): print(len(plain["results"]))
