"""Everything that answers requests to one server."""

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from longhaul.page.capture_requests import Captures
from longhaul.page.host_requests import Hosts
from longhaul.page.jobs import Jobs
from longhaul.page.link_requests import Links
from longhaul.page.run_requests import Experiments
from longhaul.page.text_requests import Texts


@dataclass(frozen=True)
class Services:
    """The state of a server: its files, its runs, and what was begun in them."""

    texts: Texts
    experiments: Experiments
    hosts: Hosts
    links: Links
    captures: Captures
    jobs: Jobs

    @classmethod
    def of(cls, directory: Path, *, read_only: bool = False) -> Self:
        """The services of a server for ``directory``."""
        texts = Texts(directory, read_only=read_only)
        experiments = Experiments(texts)
        return cls(
            texts,
            experiments,
            Hosts(experiments),
            Links(experiments),
            Captures(experiments),
            Jobs(directory),
        )

    def close(self) -> None:
        """End what would go on for ever; from any thread."""
        self.experiments.close()
        self.hosts.close()
        self.links.close()
        self.captures.close()
        self.jobs.close()
