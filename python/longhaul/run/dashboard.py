"""A Grafana dashboard for the metrics that a live run serves."""

from collections.abc import Sequence
from typing import Any

Json = dict[str, Any]

_LINK = '{instance=~"$instance",link=~"$link"}'
_RUN = '{instance=~"$instance"}'
_DIRECTION = "{{link}} {{direction}}"
_PLACE = {"type": "prometheus", "uid": "${datasource}"}
_WINDOW = "[$__rate_interval]"


def dashboard() -> Json:
    """The dashboard as Grafana imports it."""
    panels = [
        *_row("Links", 0),
        _graph("Delivered", "bps", [_rate("longhaul_link_delivered_bytes_total", _LINK, 8)], place=(0, 1)),
        _graph(
            "Utilisation",
            "percentunit",
            [(f"longhaul_link_utilisation_ratio{_LINK}", _DIRECTION)],
            place=(1, 1),
        ),
        _graph("Waiting", "bytes", [(f"longhaul_link_queue_bytes{_LINK}", _DIRECTION)], place=(0, 2)),
        _graph(
            "Packets that ended on the way",
            "pps",
            [
                (
                    f"sum by (link, direction, fate) ({_ended()}) > 0",
                    f"{_DIRECTION} {{{{fate}}}}",
                )
            ],
            place=(1, 2),
        ),
        *_row("How faithful", 3),
        _graph("Lateness", "s", [_quantile(0.5), _quantile(0.99)], place=(0, 3)),
        _graph("Packets", "pps", [_rate("longhaul_link_delivered_packets_total", _LINK, 1)], place=(1, 3)),
        *_row("Hosts and programs", 4),
        _graph(
            "Processor time",
            "percentunit",
            [(f"sum by (host) (rate(longhaul_host_cpu_seconds_total{_RUN}{_WINDOW}))", "{{host}}")],
            place=(0, 4),
        ),
        _graph(
            "Programs that run",
            "short",
            [(f"longhaul_program_up{_RUN}", "{{program}} on {{host}}")],
            place=(1, 4),
        ),
        *_row("TCP", 5),
        _graph(
            "Congestion window",
            "short",
            [(f"longhaul_tcp_congestion_window_segments{_RUN}", "{{host}} {{local}} > {{remote}} {{cc}}")],
            place=(0, 5),
        ),
        _graph(
            "Round trip",
            "s",
            [(f"longhaul_tcp_rtt_seconds{_RUN}", "{{host}} {{local}} > {{remote}} {{cc}}")],
            place=(1, 5),
        ),
        _graph(
            "Segments sent again",
            "pps",
            [(f"sum by (host, cc) (rate(longhaul_tcp_retransmits_total{_RUN}{_WINDOW}))", "{{host}} {{cc}}")],
            place=(0, 6),
        ),
    ]
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
        "panels": [{"id": number, **panel} for number, panel in enumerate(panels, start=1)],
    }


def expressions(content: Json) -> list[str]:
    """Everything in a dashboard that is asked of Prometheus."""
    targets = [target["expr"] for panel in content["panels"] for target in panel.get("targets", ())]
    variables = [each["query"] for each in content["templating"]["list"] if each["type"] == "query"]
    return targets + variables


def _row(title: str, line: int) -> list[Json]:
    return [
        {"type": "row", "title": title, "gridPos": {"x": 0, "y": line * 9, "w": 24, "h": 1}, "panels": []}
    ]


def _graph(title: str, unit: str, queries: Sequence[tuple[str, str]], *, place: tuple[int, int]) -> Json:
    column, line = place
    return {
        "type": "timeseries",
        "title": title,
        "datasource": _PLACE,
        "gridPos": {"x": 12 * column, "y": line * 9 + 1, "w": 12, "h": 8},
        "fieldConfig": {"defaults": {"unit": unit, "min": 0}, "overrides": []},
        "targets": [
            {"refId": chr(ord("A") + number), "datasource": _PLACE, "expr": query, "legendFormat": legend}
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


def _ended() -> str:
    return f"rate(longhaul_link_ended_packets_total{_LINK}{_WINDOW})"


def _variable(name: str, query: str) -> Json:
    return {
        "name": name,
        "type": "query",
        "datasource": _PLACE,
        "query": query,
        "refresh": 2,
        "includeAll": True,
        "multi": True,
        "current": {"text": "All", "value": "$__all"},
    }
