"""The charts that a report has in it, as its script reads them."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

Json = dict[str, Any]


def embedded_charts(directory: Path) -> dict[str, Json]:
    """The charts of the report of a run by their names."""
    page = (directory / "report.html").read_text()
    found = re.findall(
        r'<div class="chart"[^>]*><script type="application/json">(.*?)</script>', page, re.DOTALL
    )
    return {each["name"]: each for each in map(json.loads, found)}


def panels(chart: Json) -> list[Json]:
    """All panels of a chart, from the top left on."""
    return [panel for row in chart["rows"] for panel in row]


def column(values: Any) -> np.ndarray:
    """The numbers of a column, NaN where there is none."""
    if isinstance(values, list):
        return np.array([np.nan if each is None else each for each in values], dtype=float)
    whole = np.cumsum(values["steps"]) if values["sums"] else np.array(values["steps"])
    return whole * values["step"]


def loads_matplotlib(code: str) -> bool:
    """Whether a program imports it."""
    head, foot = (
        "import sys; from pathlib import Path; import numpy as np",
        "print('matplotlib' in sys.modules)",
    )
    program = "\n".join((head, code, foot))
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return done.stdout == "True\n"
