"""A Grafana dashboard for the metrics of live runs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Json = dict[str, Any]

_LINK = '{instance=~"$instance",link=~"$link"}'
_RUN = '{instance=~"$instance"}'
_DIRECTION = "{{link}} {{direction}}"
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_WINDOW = "[$__rate_interval]"
_HEIGHT = 8
"""Of a graph, in the units of Grafana's grid, which is 24 wide."""


def dashboard() -> Json:
    """The dashboard as Grafana imports it."""
    connection = "{{host}} {{local}} > {{remote}} {{cc}}"
    busy = f"sum by (host) (rate(longhaul_host_cpu_seconds_total{_RUN}{_WINDOW}))"
    again = f"sum by (host, cc) (rate(longhaul_tcp_retransmits_total{_RUN}{_WINDOW}))"
    ended = f"sum by (link, direction, fate) (rate(longhaul_link_ended_packets_total{_LINK}{_WINDOW})) > 0"
    sections: dict[str, list[Json]] = {
        "Links": [
            _graph("Throughput", "bps", (f"longhaul_link_throughput_bits_per_second{_LINK}", _DIRECTION)),
            _graph("Utilisation", "percentunit", (f"longhaul_link_utilisation_ratio{_LINK}", _DIRECTION)),
            _graph("Waiting", "bytes", (f"longhaul_link_queue_bytes{_LINK}", _DIRECTION)),
            _graph("Packets that ended on the way", "pps", (ended, f"{_DIRECTION} {{{{fate}}}}")),
        ],
        "How faithful": [
            _graph("Lateness", "s", _quantile(0.5), _quantile(0.99)),
            _graph("Packets", "pps", _rate("longhaul_link_delivered_packets_total", _LINK, 1)),
        ],
        "Hosts and programs": [
            _graph("Processor time", "percentunit", (busy, "{{host}}")),
            _graph("Programs that run", "short", (f"longhaul_program_up{_RUN}", "{{program}} on {{host}}")),
        ],
        "TCP": [
            _graph(
                "Congestion window", "short", (f"longhaul_tcp_congestion_window_segments{_RUN}", connection)
            ),
            _graph("Round trip", "s", (f"longhaul_tcp_rtt_seconds{_RUN}", connection)),
            _graph("Retransmitted segments", "pps", (again, "{{host}} {{cc}}")),
        ],
    }
    return {
        "title": "Longhaul",
        "uid": "longhaul",
        "tags": ["longhaul"],
        "schemaVersion": 39,
        "refresh": "5s",
        "time": {"from": "now-15m", "to": "now"},
        "templating": {
            "list": [
                {"name": "datasource", "type": "datasource", "query": "prometheus"},
                _variable("instance", "label_values(longhaul_run_info, instance)"),
                _variable("link", f"label_values(longhaul_link_delivered_bytes_total{_RUN}, link)"),
            ]
        },
        "panels": [{"id": number, **panel} for number, panel in enumerate(_placed(sections), start=1)],
    }


def expressions(content: Json) -> list[str]:
    """Everything in a dashboard that is asked of Prometheus."""
    targets = [target["expr"] for panel in content["panels"] for target in panel.get("targets", ())]
    variables = [each["query"] for each in content["templating"]["list"] if each["type"] == "query"]
    return targets + variables


def _placed(sections: Mapping[str, Sequence[Json]]) -> Iterator[Json]:
    """Sections below one another, each a title and its graphs, two in a line."""
    top = 0
    for title, graphs in sections.items():
        yield {"type": "row", "title": title, "gridPos": {"x": 0, "y": top, "w": 24, "h": 1}, "panels": []}
        top += 1
        for number, graph in enumerate(graphs):
            line, column = divmod(number, 2)
            place = {"x": 12 * column, "y": top + _HEIGHT * line, "w": 12, "h": _HEIGHT}
            yield {**graph, "gridPos": place}
        top += _HEIGHT * -(-len(graphs) // 2)


def _graph(title: str, unit: str, *queries: tuple[str, str]) -> Json:
    return {
        "type": "timeseries",
        "title": title,
        "datasource": _SOURCE,
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + number), "datasource": _SOURCE, "expr": query, "legendFormat": legend}
            for number, (query, legend) in enumerate(queries)
        ],
    }


def _rate(metric: str, labels: str, factor: int) -> tuple[str, str]:
    scale = "" if factor == 1 else f" * {factor}"
    return f"rate({metric}{labels}{_WINDOW}){scale}", _DIRECTION


def _quantile(share: float) -> tuple[str, str]:
    classes = f"rate(longhaul_link_lateness_seconds_bucket{_LINK}{_WINDOW})"
    return (
        f"histogram_quantile({share}, sum by (link, direction, le) ({classes}))",
        f"{_DIRECTION} {share:.0%}",
    )


def _variable(name: str, query: str) -> Json:
    return {
        "name": name,
        "type": "query",
        "datasource": _SOURCE,
        "query": query,
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }
