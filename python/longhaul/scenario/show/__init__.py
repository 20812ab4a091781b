"""A resolved scenario as plain data, and its link models in words."""
