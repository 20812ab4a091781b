"""Transfer plans and their results on a terminal."""

from rich.table import Table

from longhaul.report.console import Console
from longhaul.transfers.plan.measures import measures
from longhaul.transfers.plan.plans import Plan
from longhaul.transfers.plan.policies import POLICIES
from longhaul.units.configured import rate, share, size

MOST_ROWS = 40


def print_plan(plan: Plan) -> None:
    """A row for each request, what is refused with its reason, and the measures."""
    console = Console(highlight=False)
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("request", "way"):
        table.add_column(name)
    for name in ("volume", "start", "finish", "rate"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in plan.running[:MOST_ROWS]:
        request = each.request
        several = f" ({len(each.pieces)} rates)" if len(each.pieces) > 1 else ""
        cells = (f"{each.start_s:.6g} s", f"{each.finish_s:.6g} s", rate(round(each.bits_per_s)) + several)
        way = f"{request.source} > {request.destination}"
        table.add_row(request.name, way, size(request.volume_bytes), *cells)
    console.print(table)
    if len(plan.running) > MOST_ROWS:
        console.print(f"... and {len(plan.running) - MOST_ROWS} more (--json prints all)")
    lost = [each for each in plan.outcomes if not each.satisfied]
    for each in lost[:MOST_ROWS]:
        console.print(f"not satisfied: {each.request.name}: {each.reason}", soft_wrap=True)
    if len(lost) > MOST_ROWS:
        console.print(f"... and {len(lost) - MOST_ROWS} more that are not satisfied")
    console.print(_measures(plan), soft_wrap=True)


def print_policies() -> None:
    """The policies, a line each."""
    table = Table(box=None, pad_edge=False, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column()
    for name, policy in POLICIES.items():
        table.add_row(name, policy.what)
    Console(highlight=False).print(table)


def _measures(plan: Plan) -> str:
    found = measures(plan)
    parts = [f"{plan.policy}: {found.satisfied} of {found.requests} requests satisfied"]
    if plan.congestion is not None:
        parts.append(f"congestion {plan.congestion:.4g}")
    if found.f1_s is not None:
        parts.append(f"longest transfer (f1) {found.f1_s:.6g} s")
        parts.append(f"mean flow time {found.flow_time_mean_s:.6g} s")
        parts.append(f"last finish {found.last_finish_s:.6g} s")
    if found.f2_over_time is not None:
        printed = f"{found.f2_as_printed:.4g}"
        parts.append(f"{found.bottleneck} used {share(found.f2_over_time)} (f2; as printed {printed})")
    if found.jain is not None:
        parts.append(f"Jain {found.jain:.4f}")
    return "; ".join(parts)
