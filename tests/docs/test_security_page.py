"""What the security model says of isolation is what the source does."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/explanation/security.md").read_text(encoding="utf-8")
SOURCE = (ROOT / "crates/live/src/isolation/restriction.rs").read_text(encoding="utf-8")


def test_it_has_the_number_of_refused_system_calls() -> None:
    array = re.search(r"REFUSED: \[libc::c_long; (\d+)\] = \[(.*?)\];", SOURCE, re.DOTALL)
    assert array
    assert len(re.findall(r"\bSYS_\w+,", array[2])) == int(array[1])
    assert f"| {array[1]} refused: " in PAGE


def test_it_names_the_architectures_whose_system_calls_are_filtered() -> None:
    filtered = re.search(r"#\[cfg\(any\((.*?)\)\)\]\nstatic FILTER", SOURCE)
    assert filtered
    names = re.findall(r'target_arch = "(\w+)"', filtered[1])
    assert f"System calls are filtered on {' and '.join(names)} only" in PAGE


def test_it_names_the_dangerous_capability_that_is_kept() -> None:
    assert re.search(r"\n        Self::SysAdmin,\n", SOURCE)
    assert "`SYS_ADMIN`, which the launch agent of MPI needs" in PAGE
