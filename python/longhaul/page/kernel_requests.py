"""Requests about guest kernels for runs on the virtual clock: their list, and the build of one."""

from collections.abc import Callable
from dataclasses import dataclass

from longhaul.errors import LonghaulError
from longhaul.kernels.building import CPU_S, FREE_BYTES
from longhaul.kernels.cache import find, kernels
from longhaul.kernels.commands import require_tools
from longhaul.kernels.headlines import read_headline
from longhaul.page.bodies import KernelBuild
from longhaul.page.jobs import Jobs
from longhaul.page.json_requests import Asked
from longhaul.page.responses.jobs import Job, JobProgress
from longhaul.page.responses.kernels import KernelList, Want
from longhaul.units.text import duration_text

KIND = "kernel"


@dataclass(frozen=True)
class KernelRequests:
    """Answers about the guest kernels of this user."""

    jobs: Jobs

    def all(self, _asked: Asked) -> KernelList:
        """All of them, the newest version first; what is missing for a run, and for a build."""
        return {
            "kernels": [
                {
                    "name": each.name,
                    "release": each.release,
                    "built": each.built,
                    "source": each.source,
                    "outdated": each.is_outdated,
                }
                for each in kernels()
            ],
            "missing": _want(find),
            "command": "longhaul kernel build",
            "takes": f"{duration_text(CPU_S)} of CPU time, and {FREE_BYTES >> 30} GB of disk space while it "
            "lasts; no privileges",
            "build_lacks": _want(require_tools),
        }

    def build(self, _asked: Asked, body: KernelBuild) -> Job:  # noqa: ARG002 -- it is empty
        """Build one, as ``longhaul kernel build`` does. Raises LonghaulError without the programs for it."""
        require_tools()
        return self.jobs.start(
            ["kernel", "build"],
            kind=KIND,
            title="guest kernel",
            alone=(KIND, "calibrate", "study"),
            read=_progress,
        )


def _want(require: Callable[[], object]) -> Want | None:
    try:
        require()
    except LonghaulError as error:
        return {"message": error.message, "remedy": error.remedy}
    return None


def _progress(line: str) -> JobProgress | None:
    found = read_headline(line)
    if found is None:
        return None
    phase, percent = found
    return {
        "done": percent or 0,
        "of": 100,
        "text": phase if percent is None else f"{phase}, {percent} %",
        "left_text": "",
    }
