"""Runs: live ones, their directories, and the processes behind them."""
