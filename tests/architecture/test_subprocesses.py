"""One module knows how Longhaul starts programs of its own: everything else asks it.

So no child of ours looks for modules or programs in a directory where somebody else can leave them.
"""

import re

import pytest

from .test_layers import ROOT, tracked

PACKAGE = ROOT / "python/longhaul"
ELSEWHERE = {
    r"sys\.executable": {"run/session.py"},  # the directory of the commands that users call
    r"shutil\.which": {
        "run/mpi.py",  # the user's own launcher, in the user's PATH
        "transfers/execute/transfer_programs.py",  # the user's own command
        "calibrate/mpi.py",  # in directories that are trusted
    },
    r"\bimport matplotlib|from matplotlib": {"report/mpl.py"},
    r"\bos\.(system|popen|exec\w+|spawn\w+|posix_spawn\w*)\(": set[str](),
    r"shell=True": set[str](),
    r"^import webbrowser|^ +import webbrowser": set[str](),
    r"(run|Popen|check_output|check_call)\(\s*\[\s*\"": set[str](),
    r"get_context\(|import multiprocessing|ProcessPoolExecutor\(": {"benchmark/trials.py"},
}
"""Ways to start a program or to import from a directory, and the modules that may use them."""


@pytest.mark.parametrize("pattern", ELSEWHERE)
def test_nothing_else_starts_interpreters_or_looks_for_programs(pattern: str) -> None:
    for path in tracked("python/longhaul/*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name in ("subprocesses.py", "launch.py") or name.startswith("workloads/"):
            continue
        if name not in ELSEWHERE[pattern]:
            assert not re.search(pattern, path.read_text(encoding="utf-8"), re.MULTILINE), name
