"""Congestion controls compared, live and simulated: the scenarios of the common TCP evaluation suite."""
