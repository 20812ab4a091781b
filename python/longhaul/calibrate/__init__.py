"""The accuracy and capacity of this machine: its checks, its measurements, and its certificate."""
