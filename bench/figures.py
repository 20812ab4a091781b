"""One line for each figure, with its target, and a JSON file of parts with provenance."""

import argparse
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from longhaul.studies.provenance import commit, machine, now

ROOT = Path(__file__).parents[1]

Row = dict[str, Any]


def row(what: str, value: float, unit: str, target: str, met: bool) -> Row:
    """One figure. A name that begins with two spaces belongs to the last that does not."""
    print(f"{what:<46} {value:>10.3f} {unit:<8} {target:<22} {'met' if met else 'MISSED'}", flush=True)
    return {"what": what, "value": value, "unit": unit, "target": target, "met": met}


def measure_all(
    what: str, parts: Mapping[str, Callable[[int], list[Row]]], out: Path, *, rounds: int = 3
) -> None:
    """Measure the parts that the command line names, print, and replace them in ``out``."""
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--only", choices=parts, action="append")
    parser.add_argument("--out", type=Path, default=out)
    arguments = parser.parse_args()
    missed = 0
    for name, part in parts.items():
        if name in (arguments.only or parts):
            rows = part(arguments.rounds)
            missed += sum(not each["met"] for each in rows)
            write_part(arguments.out, name, rows, rounds=arguments.rounds)
    print(f"{missed} missed; {arguments.out}; make docs writes what documents quote of it")


def write_part(out: Path, name: str, rows: Iterable[Row], *, rounds: int) -> None:
    """Replace one part of a file of figures; the others stay, with the provenance that they have."""
    known = json.loads(out.read_text(encoding="utf-8"))["figures"] if out.is_file() else {}
    origin = {"commit": commit(ROOT), "date": now(), "machine": machine(), "rounds": rounds}
    known[name] = {"provenance": origin, "rows": list(named(rows))}
    out.write_text(json.dumps({"figures": known}, indent=1) + "\n", encoding="utf-8")


def named(rows: Iterable[Row]) -> Iterable[Row]:
    """Rows of which each has a name of its own: ``one TCP flow at 0 ms: of a direct veth``."""
    above = ""
    for each in rows:
        below = each["what"].startswith("  ")
        what = f"{above}: {each['what'].strip()}" if below else each["what"]
        above = above if below else what
        yield {**each, "what": what}
