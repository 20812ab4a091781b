"""One line for each figure, with the target that it is held against, and one JSON file for all."""

import argparse
import json
import os
import platform
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

Row = dict[str, Any]


def row(what: str, value: float, unit: str, target: str, met: bool) -> Row:
    """One figure."""
    print(f"{what:<46} {value:>10.3f} {unit:<8} {target:<22} {'met' if met else 'MISSED'}", flush=True)
    return {"what": what, "value": value, "unit": unit, "target": target, "met": met}


def measure_all(
    what: str, parts: Mapping[str, Callable[[int], list[Row]]], out: Path, *, rounds: int = 3
) -> None:
    """Measure the parts that the command line names, print, and write ``out``."""
    parser = argparse.ArgumentParser(description=what, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=rounds)
    parser.add_argument("--only", choices=parts, action="append")
    parser.add_argument("--out", type=Path, default=out)
    arguments = parser.parse_args()
    results = {
        name: part(arguments.rounds) for name, part in parts.items() if name in (arguments.only or parts)
    }
    machine = {"cpus": os.cpu_count(), "kernel": platform.release(), "rounds": arguments.rounds}
    arguments.out.write_text(json.dumps({"machine": machine, "figures": results}, indent=1) + "\n")
    missed = sum(not each["met"] for rows in results.values() for each in rows)
    print(f"{missed} missed; {arguments.out}")
