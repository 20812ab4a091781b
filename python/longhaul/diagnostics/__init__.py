"""Diagnostics: what is wrong, where, and what to do, as data with a stable code."""

from longhaul.diagnostics.codes import Code
from longhaul.diagnostics.diagnostic import Diagnostic, Severity, Span, printable

__all__ = ["Code", "Diagnostic", "Severity", "Span", "printable"]
