"""Types of all responses and events, from which the page's own types are generated.

Names of numbers end in their unit, shares lie from 0 to 1, and ``None`` is what is not known.
"""
