"""Charts in notebooks that can be zoomed, as those of a report, by anywidget.

The package ``anywidget`` is needed for them alone: ``longhaul[notebook]``.
"""

import re
from collections.abc import Sequence
from functools import cache
from typing import Any

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.report.chart import Chart
from longhaul.report.chart_json import chart_json
from longhaul.report.page import asset

_VARIABLES = re.compile(r":root \{(.*?)\}", re.DOTALL)


def widget(charts: Sequence[Chart]) -> Any:
    """``charts`` as one widget. Raises LonghaulError without anywidget."""
    return _kind()(charts=[chart_json(chart) for chart in charts])


@cache
def _kind() -> Any:
    """The class of such widgets."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise LonghaulError(
            Code.NOT_INSTALLED,
            "charts that can be zoomed need anywidget; figure(NAME) needs nothing",
            remedy="pip install 'longhaul[notebook]'",
            exit_code=3,
        ) from error

    class Charts(anywidget.AnyWidget):
        """Charts of Longhaul, drawn by the browser."""

        _esm = asset("charts/notebook.js")
        _css = asset("charts/notebook.css") + _look()
        charts: Any = traitlets.List().tag(sync=True)

    return Charts


def _look() -> str:
    """The report's colours by day and by night, for the widget alone."""
    light, dark = _VARIABLES.findall(asset("look.css"))[:2]
    return f".longhaul-charts {{{light}}} .longhaul-charts.dark {{{dark}}}"
