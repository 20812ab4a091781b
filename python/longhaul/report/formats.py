"""Formats of the files for papers that reports, comparisons and fits write beside their pages."""

FORMATS = ("svg", "pdf", "png", "csv")
"""Of charts."""
MARKDOWN = "md"
