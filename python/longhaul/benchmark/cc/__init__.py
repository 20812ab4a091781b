"""The benchmark of congestion-control algorithms: draft-irtf-iccrg-tcpeval-01, metrics of RFC 5166."""
