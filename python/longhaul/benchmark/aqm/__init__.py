"""The benchmark of queue disciplines: RFC 7928, Characterization Guidelines for Active Queue Management."""
