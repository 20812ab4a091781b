"""The results of each command on a terminal, in 80 columns."""
