"""A small tree that the recipe takes for a source of Linux, programs instead of compilers, and a cache."""

import shutil
from pathlib import Path

import pytest

from longhaul.kernels import recipe

MAKE = """#!/bin/sh
# Takes the place of make: make ARCH=um [KCONFIG_ALLCONFIG=FILE] [-jN] TARGET
for word; do case $word in KCONFIG_ALLCONFIG=*) fragment=${word#*=};; esac; done
echo "make $*"
case $word in
allnoconfig) grep '^CONFIG_[A-Z0-9_]*=[^n]' "$fragment" | grep -vxF -f absent > .config
  echo 'CONFIG_CC_VERSION_TEXT="gcc 1.2.3"' >> .config;;
linux) . ./make.sh
  mkdir -p include/config; echo 6.12.99-longhaul > include/config/kernel.release
  echo "  LD      linux"; cp kernel.sh linux; chmod +x linux;;
esac
"""


def source_tree(place: Path) -> Path:
    """A tree that has what the recipe changes, and whose Kconfig has every option but NET_SCH_DUALPI2."""
    made = recipe.load()
    for change in made.changes:
        path = place / change.file
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(f"{change.find}\n")
    for added in made.new:
        (place / added).parent.mkdir(parents=True, exist_ok=True)
    (place / "Makefile").write_text("VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 99\nEXTRAVERSION =\n")
    (place / "Kbuild").touch()
    (place / "absent").write_text("CONFIG_NET_SCH_DUALPI2=y\nCONFIG_FD_CHAN=y\n")
    (place / "make.sh").write_text("")
    (place / "kernel.sh").write_text("#!/bin/sh\necho 'Attempted to kill init! exitcode=0x00000000'\n")
    known = [line.partition("=")[0] for line in made.configuration.splitlines() if line.startswith("CONFIG_")]
    options = [name.removeprefix("CONFIG_") for name in known if name not in (place / "absent").read_text()]
    (place / "Kconfig").write_text("".join(f"config {name}\n" for name in options))
    return place


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A source directory."""
    return source_tree(tmp_path / "linux-6.12.99")


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of kernels."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/longhaul/kernels"


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The programs that a build needs, as far as it starts them: ``make`` is a script, others do nothing."""
    place = tmp_path / "tools"
    place.mkdir()
    for name in ("gcc", "ld", "flex", "bison", "bc"):
        (place / name).write_text("#!/bin/sh\n")
    (place / "make").write_text(MAKE)
    for path in place.iterdir():
        path.chmod(0o755)
    for name in ("tar", "xz"):
        (place / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", f"{place}:/usr/bin:/bin")
    monkeypatch.setattr("longhaul.kernels.commands.HEADER", place / "gcc")
    monkeypatch.setattr("longhaul.kernels.building.FREE_BYTES", 1 << 20)
    return place
