"""Checks of a scenario's names, and its loading: from the bytes of a file to a checked scenario.

Values are checked in :mod:`longhaul.scenario.model`, names here, numbers and paths in
:mod:`longhaul.scenario.lower`.
"""
