"""Which metrics a rule to stop by, or a summary, speaks of."""

from collections.abc import Iterable
from fnmatch import fnmatchcase


def matching_metrics(pattern: str, metrics: Iterable[str]) -> list[str]:
    """The metrics that ``pattern`` names: by name, by pattern, or by the end of their names."""
    return [name for name in metrics if fnmatchcase(name, pattern) or name.endswith(f".{pattern}")]
