"""The benchmark of congestion-control algorithms: the common TCP evaluation suite, live and simulated."""
