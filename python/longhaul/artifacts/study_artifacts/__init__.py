"""Artifacts of studies: studies that are measured again, and compared claim by claim."""
