"""Runs of small plans, and their measurements."""

import json
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from longhaul.calibrate.plans import Plan
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.run.cleanup import temporary_prefix
from longhaul.run.session import Session

_TIME = re.compile(r"time=([\d.]+) ms")


@dataclass(frozen=True)
class Measured:
    """What one run left, read into memory."""

    engine: dict[str, Any]
    hosts: dict[str, dict[str, int]]
    programs: list[dict[str, Any]]
    logs: dict[str, str]
    """Standard output of each program."""

    def rtts_s(self) -> list[float]:
        """Round-trip times that ping saw, in seconds."""
        return [float(text) / 1e3 for text in _TIME.findall(self.logs["ping"])]

    def report(self, program: str) -> dict[str, Any]:
        """What a program printed as JSON. Raises LonghaulError if it says of an error, or nothing."""
        try:
            found: dict[str, Any] = json.loads(self.logs.get(program, ""))
        except ValueError:
            found = {}
        if not found or "error" in found:
            ended = next((each for each in self.programs if each["name"] == program), {})
            status = f"exit code {ended.get('exit')}, signal {ended.get('signal')}"
            reason = found.get("error") or ended.get("error") or status
            raise LonghaulError(
                Code.MEASUREMENT_FAILED,
                f'"{program}" of the measurement failed: {reason}',
                remedy="measure again on an idle machine; longhaul doctor says what it lacks",
                exit_code=3,
            )
        return found

    def iperf(self) -> dict[str, Any]:
        """The iperf3 client's report."""
        return self.report("client")

    def goodput(self) -> float:
        """What the iperf3 server received, in bit/s."""
        return float(self.iperf()["end"]["sum_received"]["bits_per_second"])

    def lateness_ns(self, quantile: str) -> int:
        """A quantile of lateness over all packets: ``p50``, ``p90``, ``p99``, ``p999``, ``max``."""
        return int(self.engine["lateness"]["all"][f"{quantile}_ns"])

    def drops(self) -> dict[str, int]:
        """Every counter of unintended drops that is not zero."""
        found = {
            f"{host}.{name}": value
            for host, counters in self.hosts.items()
            for name, value in counters.items()
            if value and name != "softnet_dropped"
        }
        for host, port in self.engine["ports"].items():
            for name in ("write_failed_packets", "read_failed", "no_memory_packets"):
                if port[name]:
                    found[f"{host}.{name}"] = port[name]
        return found


def measure(plan: Plan) -> Measured:
    """Run ``plan`` to its end in a temporary directory."""
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("measure")) as temporary:
        directory = Path(temporary)
        path = directory / "plan.json"
        path.write_text(json.dumps(plan), encoding="utf-8")
        session = Session(path, directory, run=directory.name[-20:], scratch=[directory])
        try:
            for _event in session.events():
                pass
        finally:
            session.kill()
        raw = directory / "raw"
        return Measured(
            engine=json.loads((raw / "engine.json").read_text("utf-8")),
            hosts=json.loads((raw / "hosts.json").read_text("utf-8")),
            programs=json.loads((raw / "programs.json").read_text("utf-8")),
            logs={
                path.stem: path.read_text("utf-8", "replace") for path in (directory / "logs").glob("*.out")
            },
        )


def median_rtt_s(plan: Plan) -> float:
    """Median round-trip time of the plan's ping, in seconds."""
    return median(measure(plan).rtts_s())
