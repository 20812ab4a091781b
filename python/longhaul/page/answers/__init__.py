"""What the server answers and what its streams tell, as types, of which the page's own are made.

Names of numbers end in their unit, shares lie from 0 to 1, and ``None`` is what is not known.
"""
