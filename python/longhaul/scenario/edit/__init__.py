"""Edits of a scenario's text, and templates of new ones."""
