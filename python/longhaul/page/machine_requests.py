"""Requests about this machine: checks, and its calibration."""

import time
from dataclasses import dataclass, field

from longhaul.calibrate.calibration import STEPS, TAKES_S
from longhaul.calibrate.preflight import findings
from longhaul.page.bodies import CalibrationStart, MachineCheck, ScenarioText
from longhaul.page.jobs import Jobs
from longhaul.page.json_requests import Asked
from longhaul.page.responses.jobs import Job, JobProgress
from longhaul.page.responses.texts import Findings
from longhaul.page.text_requests import Texts
from longhaul.units.text import duration_text

KIND = "calibrate"


@dataclass(frozen=True)
class Machines:
    """Answers about this machine."""

    texts: Texts
    jobs: Jobs

    def check(self, _asked: Asked, body: MachineCheck) -> Findings:
        """Everything that ``longhaul doctor`` checks, with a scenario if there is one."""
        resolved = None
        if body.text is not None:
            asked = ScenarioText(text=body.text, settings=body.settings, base=body.base)
            resolved = self.texts.resolved(asked)
        return {
            "findings": [
                {"what": each.what, "state": each.state, "detail": each.detail, "fix": each.fix}
                for each in findings(resolved, self_test=body.self_test)
            ]
        }

    def calibrate(self, _asked: Asked, body: CalibrationStart) -> Job:  # noqa: ARG002 -- it is empty
        """Measure this machine, as ``longhaul calibrate`` does."""
        return self.jobs.start(
            ["calibrate"],
            kind=KIND,
            title="calibration",
            alone=(KIND, "study", "kernel"),
            read=_Progress().read,
        )


@dataclass
class _Progress:
    """Counts the steps that the command announces."""

    steps: int = 0
    began_s: float = field(default_factory=time.monotonic)

    def read(self, line: str) -> JobProgress | None:
        """Each step is a line that ends with three dots; a warning about the load is none."""
        if not line.endswith(" ...") or line.strip().startswith("load "):
            return None
        self.steps += 1
        left_s = max(5.0, TAKES_S - (time.monotonic() - self.began_s))
        return {
            "done": min(self.steps, STEPS) - 1,
            "of": STEPS,
            "text": line.removesuffix(" ...").strip(),
            "left_text": f"about {duration_text(left_s)} left",
        }
