"""Plans of transfers carried out: simulated, or live by senders of our own or by commands."""
