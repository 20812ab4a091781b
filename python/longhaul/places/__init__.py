"""Cities of the world by name, and where they are."""

from longhaul.places.gazetteer import City, cities, named, search

__all__ = ["City", "cities", "named", "search"]
