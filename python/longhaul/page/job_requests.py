"""Requests about jobs: list, output, stop."""

from dataclasses import dataclass

from longhaul.page.jobs import Jobs
from longhaul.page.json_requests import Asked
from longhaul.page.responses.jobs import JobList, JobOutput
from longhaul.page.responses.texts import Done

_MOST_LINES = 10**9


@dataclass(frozen=True)
class JobRequests:
    """Answers about the jobs of one server."""

    jobs: Jobs

    def all(self, _asked: Asked) -> JobList:
        """All of them, newest first."""
        return {"jobs": self.jobs.all()}

    def look(self, asked: Asked) -> JobOutput:
        """A job, and its output after the first ``after`` lines."""
        after = asked.number("after", least=0, most=_MOST_LINES, default=0)
        return self.jobs.output(asked.path["job"], after=after)

    def stop(self, asked: Asked) -> Done:
        """Interrupt a job."""
        self.jobs.stop(asked.path["job"])
        return {"ok": True}
