"""Dask between a sweep and its workers: TLS with certificates that last as long as the cluster.

Whoever can talk to a Dask scheduler or worker can have it run any code. So each cluster has a certificate of
its own, which its client, scheduler and workers show one another, and which nobody else can read.
"""

import importlib
import os
import shutil
import signal
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.results.certificate import state_home
from longhaul.run.cleanup import cluster_prefix, temporary_prefix
from longhaul.subprocesses import spawning

if TYPE_CHECKING:
    from longhaul.sweeps.place import Place

DEATHS = 10
"""How many workers may die with a shard in hand before the shard is given up."""
LOOPBACK = "127.0.0.1:0"
"""Where processes of Dask that run here serve HTTP, as they always do."""

FILES: Mapping[str, str] = {"ca_file": "ca.pem", "cert": "cert.pem", "key": "key.pem"}
"""Names of the files that workers get, by Dask's words for them."""
WORKER_ENVIRONMENT: Mapping[str, str] = {
    "PYTHONSAFEPATH": "1",
    "DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION": "True",
    "DASK_DISTRIBUTED__WORKER__HTTP__ROUTES": "[]",
}
WORKER_ARGUMENTS = ("--no-dashboard", "--dashboard-address", LOOPBACK)


class Certificates(AbstractContextManager["Certificates"]):
    """A certificate for a new cluster, and a private directory with files for its workers."""

    def __init__(self, shared: str | None = None) -> None:
        """Made in memory; inside the ``with`` block its files exist, in ``shared`` or this user's state."""
        self._home = Path(os.path.expanduser(os.path.expandvars(shared))) if shared else state_home()
        self.security: Any = module("distributed").Security.temporary()
        self.directory = Path()
        self._before: str | None = None

    def __enter__(self) -> Self:
        """Write the files; those that Dask makes meanwhile, such as job scripts, go to the same place."""
        self._home.mkdir(parents=True, exist_ok=True)
        # mkdtemp makes it for this user alone.
        self.directory = Path(tempfile.mkdtemp(prefix=cluster_prefix(), dir=self._home))
        for part, text in self.security.get_tls_config_for_role("worker").items():
            if part in FILES:
                path = self.directory / FILES[part]
                path.touch(mode=0o600, exist_ok=False)
                path.write_text(text, encoding="ascii")
        self._before, tempfile.tempdir = tempfile.tempdir, str(self.directory)
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        """Remove them."""
        tempfile.tempdir = self._before
        shutil.rmtree(self.directory, ignore_errors=True)

    def for_workers(self, directory: str) -> Any:
        """The same certificate, read from files in ``directory`` of the machine that a worker runs on."""
        return module("distributed").Security(
            require_encryption=True,
            tls_ca_file=os.path.join(directory, FILES["ca_file"]),
            tls_worker_cert=os.path.join(directory, FILES["cert"]),
            tls_worker_key=os.path.join(directory, FILES["key"]),
        )


@contextmanager
def settings(*, dashboard: bool) -> Iterator[None]:
    """Dask's configuration while there is a cluster; its own processes import nothing from the directory."""
    dask = module("dask")
    quiet: dict[str, list[str]] = {} if dashboard else {"distributed.scheduler.http.routes": []}
    with (
        spawning(),
        tempfile.TemporaryDirectory(prefix=temporary_prefix("dask"), ignore_cleanup_errors=True) as scratch,
        dask.config.set(
            {
                "distributed.scheduler.allowed-failures": DEATHS,
                "distributed.worker.http.routes": [],
                "distributed.nanny.http.routes": [],
                # Not the directory in /tmp whose name everybody knows: workers keep pickles there.
                "temporary-directory": scratch,
                **quiet,
            }
        ),
    ):
        yield


def dashboard_address(port: int | None) -> str:
    """Where the scheduler serves HTTP: at this machine's loopback, dashboard or none."""
    return f"127.0.0.1:{port or 0}"


def dashboard_link(cluster: Any) -> str:
    """Where the dashboard of a cluster is whose scheduler runs in this process; else what Dask thinks."""
    server = getattr(getattr(cluster, "scheduler", None), "http_server", None)
    ports = [each.getsockname()[1] for each in getattr(server, "_sockets", {}).values()]
    return f"http://127.0.0.1:{ports[0]}/status" if ports else str(cluster.dashboard_link)


def job_options(place: "Place", certificates: Certificates) -> dict[str, Any]:
    """Options for a class of dask-jobqueue: the user's, with what makes its jobs private."""
    given = {key: value for key, value in place.options.items() if key != "shared_temp_directory"}
    condor = place.kind == "htcondor"
    exports = [f"export {name}='{value}'" for name, value in WORKER_ENVIRONMENT.items()]
    # HTCondor's directory of a job is private already, and has the files of the job.
    scratch = [
        'export DASK_TEMPORARY_DIRECTORY="$(mktemp -d)"',
        "trap 'rm -rf \"$DASK_TEMPORARY_DIRECTORY\"' EXIT",
    ]
    options = {
        **given,
        "security": certificates.security,
        "scheduler_options": {
            "dashboard": place.dashboard is not None,
            "dashboard_address": dashboard_address(place.dashboard),
            **(given.get("scheduler_options") or {}),
        },
        "job_script_prologue": [
            *exports,
            *([] if condor else scratch),
            *(given.get("job_script_prologue") or []),
        ],
        "worker_extra_args": [*WORKER_ARGUMENTS, *(given.get("worker_extra_args") or [])],
    }
    if condor:
        directives = dict(given.get("job_extra_directives") or {})
        files = [str(certificates.directory / name) for name in FILES.values()]
        if theirs := directives.get("transfer_input_files"):
            files.append(str(theirs))
        options["job_extra_directives"] = {
            "should_transfer_files": "YES",
            **directives,
            "transfer_input_files": ", ".join(files),
        }
    return options


def secured(kind: type, certificates: Certificates) -> type:
    """A class of dask-jobqueue whose workers find the certificate where they run.

    Most batch systems have a file system that all machines share. HTCondor brings files to a job: there they
    are in the job's own directory.
    """
    place = "" if kind.__name__ == "HTCondorCluster" else str(certificates.directory)

    def of_workers(_cluster: Any, _security: Any) -> Any:
        return certificates.for_workers(place)

    return type(kind.__name__, (kind,), {"_get_worker_security": of_workers})


def module(name: str, *, package: str | None = None, extra: str = "dask") -> Any:
    """A package that only clusters need; raises LonghaulError, which says what to install.

    dask-jobqueue sets a handler of SIGINT when it is imported; the one of the sweep is restored.
    """
    handler = signal.getsignal(signal.SIGINT)
    try:
        found = importlib.import_module(name)
        if signal.getsignal(signal.SIGINT) is not handler:
            signal.signal(signal.SIGINT, handler)
        return found
    except ImportError as error:
        raise LonghaulError(
            Code.NOT_INSTALLED,
            f"clusters need the package {package or name}",
            remedy=f"install longhaul[{extra}]",
            exit_code=3,
        ) from error
