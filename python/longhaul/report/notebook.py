"""Results as HTML for notebooks."""

from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from longhaul.analysis.changes import verdict_text
from longhaul.analysis.comparison import Row
from longhaul.analysis.fitting import Fits
from longhaul.analysis.gaps import Gaps
from longhaul.analysis.limits import limit_texts
from longhaul.diagnostics import Diagnostic
from longhaul.report import fitting
from longhaul.report.colours import ANYWHERE, BAD, GOOD
from longhaul.report.comparison import difference_text, estimate_text, letter_of
from longhaul.scenario.model.metrics import unit_of
from longhaul.units.configured import size
from longhaul.units.text import rate_text, share_text, time_text

Json = Mapping[str, Any]
MOST_ROWS = 12


def run_html(summary: Json, *, mode: str) -> str:
    """Of a run: what flows and pings got, and whether it can be trusted."""
    verdict = summary["fidelity"]["verdict"]
    good = verdict == "faithful"
    text = verdict_text(summary)
    said = text if good and mode == "sim" else f"{mode}, {text}"
    reasons = "; ".join(each["what"] for each in summary["fidelity"]["reasons"])
    outcome = summary["outcome"]
    head = f"{strong(summary['name'])}: {judged(said, good=good)}, {time_text(summary['duration_ns'])}"
    parts = [paragraph(head + (f". {escape(reasons)}" if reasons else ""))]
    parts.append(paragraph(judged(outcome["headline"], good=outcome["state"] == "passed")))
    hosts = summary["fidelity"].get("hosts") or {}
    starved = [f"Hosts {hosts['state']}: {each['what']}." for each in hosts.get("reasons", ())]
    limited = [f"{text}." for text in limit_texts(summary.get("limits") or [])]
    warned = [f"Warning: {each['text']}." for each in summary.get("warnings", ())]
    parts += [paragraph(judged(text, good=False)) for text in (*starved, *limited, *warned)]
    drops = summary.get("drops") or {}
    if drops.get("packets"):
        parts.append(paragraph(f"Dropped packets: {escape(drops['text'])}"))
    flows = [
        (
            each["flow"],
            f"{each['from']} to {each['to']}",
            rate_text(each["goodput_bits_per_s"]),
            "-" if each["retransmits"] is None else str(each["retransmits"]),
            time_text(each["rtt"]["p50_ns"]) if each["rtt"] else "-",
        )
        for each in summary["flows"]
    ]
    parts.append(html_table(("flow", "way", "goodput", "retransmits", "RTT p50"), flows))
    pings = [
        (
            each["name"],
            f"{each['from']} to {each['to']}",
            *(time_text(each[f"rtt_{quantile}_ns"]) for quantile in ("min", "p50", "p99")),
            share_text(each["loss"]),
            "-" if each.get("lost_down") is None else str(each["lost_down"]),
        )
        for each in summary["probes"]
    ]
    parts.append(html_table(("ping", "way", "least RTT", "p50", "p99", "lost", "lost while down"), pings))
    failed = [each["metric"] for each in summary["expectations"] if each["state"] == "failed"]
    if summary["expectations"]:
        met = sum(each["met"] for each in summary["expectations"])
        told = f"{met} of {len(summary['expectations'])} expectations passed"
        parts.append(paragraph(judged(told, good=not failed) + escape("".join(f", not {n}" for n in failed))))
    return "".join(parts)


def comparison_html(names: Sequence[str], rows: Sequence[Row], notes: Sequence[str]) -> str:
    """Of a comparison: the metrics of the answer, and how the last side differs from the first."""
    letters = [letter_of(number) for number in range(len(names))]
    lines = [
        (
            row.metric,
            *(estimate_text(each, unit_of(row.metric)) if each else "-" for each in row.estimates),
            difference_text(row),
            {True: "yes", False: "no", None: "not known"}[row.differs],
        )
        for row in rows[:MOST_ROWS]
    ]
    sides = "; ".join(f"{letter}: {escape(name)}" for letter, name in zip(letters, names, strict=True))
    heads = ("metric", *letters, f"{letters[-1]} - A", "significant?")
    return (
        paragraph(sides)
        + html_table(heads, lines, words=1)
        + "".join(paragraph(escape(note)) for note in notes)
    )


def network_html(told: Json) -> str:
    """Of a scenario: its paths, as ``longhaul show`` tells them."""
    counted = f"{len(told['nodes'])} nodes, {len(told['links'])} links"
    if told["duration_ns"]:
        counted += f", {time_text(told['duration_ns'])}"
    lines = [
        (
            f"{each['from']} to {each['to']}",
            str(each["hops"]),
            time_text(each["round_trip_ns"]),
            rate_text(each["bits_per_s"]) if each["bits_per_s"] else "unlimited",
            size(each["bdp_bytes"]) if each["bdp_bytes"] else "-",
        )
        for each in told["paths"][:MOST_ROWS]
    ]
    warnings = "".join(
        paragraph(judged(Diagnostic.from_json(each).headline, good=False)) for each in told["warnings"]
    )
    head = paragraph(f"{strong(told['name'])}: {counted}")
    return head + html_table(("path", "hops", "RTT", "bottleneck", "BDP"), lines) + warnings


def fit_html(gaps: Gaps, fits: Fits, block: str | None) -> str:
    """Of a fit: the families in their order, and the loss in a scenario's words."""
    lines = [
        (
            each.family,
            fitting.parameters_text(each),
            fitting.number_text(each.a2.value),
            fitting.p_text(each.a2),
            {True: "yes", False: "no", None: "-"}[each.contradicted],
        )
        for each in fits.fits
    ]
    heads = ("family", "parameters", "A2", "p", "contradicted")
    text = f"<pre>{escape(block)}</pre>" if block else paragraph(escape(fitting.no_block_text()))
    return paragraph(escape(fitting.summary_text(gaps, fits))) + html_table(heads, lines, words=2) + text


def html_table(heads: Sequence[str], lines: Sequence[Sequence[str]], *, words: int = 2) -> str:
    """Empty without lines; the first ``words`` columns are words, the others numbers."""
    if not lines:
        return ""
    sides = ["left" if place < words else "right" for place in range(len(heads))]

    def cells(tag: str, values: Sequence[str]) -> str:
        return "".join(
            f'<{tag} style="text-align: {side}">{escape(value)}</{tag}>'
            for side, value in zip(sides, values, strict=True)
        )

    body = "".join(f"<tr>{cells('td', line)}</tr>" for line in lines)
    return f"<table><thead><tr>{cells('th', heads)}</tr></thead><tbody>{body}</tbody></table>"


def paragraph(content: str) -> str:
    """A paragraph of HTML."""
    return f"<p>{content}</p>"


def strong(text: str) -> str:
    """Text in bold."""
    return f"<strong>{escape(text)}</strong>"


def judged(text: str, *, good: bool) -> str:
    """Text in the colour of good or bad."""
    return f'<span style="color: {ANYWHERE[GOOD if good else BAD]}">{escape(text)}</span>'
