"""The wheel on a machine without Rust and without the sources; `make test-wheel` runs these."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
WHEEL = os.environ.get("LONGHAUL_WHEEL")
"""Which `make test-wheel` sets, as building it takes minutes."""
NOBODY = 65534
needs_wheel = pytest.mark.skipif(WHEEL is None, reason="make test-wheel builds a wheel and tests it")


def project() -> dict[str, Any]:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_wheel_is_built_by_the_maturin_that_installs_the_sources() -> None:
    (built,) = [each for each in project()["dependency-groups"]["wheel"] if each.startswith("maturin")]
    assert [built] == project()["tool"]["uv"]["build-constraint-dependencies"]


def test_the_wheel_is_built_for_an_old_glibc_from_locked_crates() -> None:
    script = (ROOT / "tools/wheel").read_text(encoding="utf-8")
    for option in ("--locked", "--zig", "--compatibility manylinux2014"):
        assert option in script, option


@needs_wheel
def test_the_tag_is_of_every_cpython_from_3_11_and_of_an_old_glibc() -> None:
    assert WHEEL is not None
    assert re.search(r"-cp311-abi3-manylinux(2014|_2_17)_\w+", Path(WHEEL).name), WHEEL


@needs_wheel
def test_the_extension_needs_no_glibc_after_2_17(tmp_path: Path) -> None:
    with content() as wheel:
        extension = wheel.extract("longhaul/_longhaul.abi3.so", tmp_path)
    symbols = subprocess.run(["objdump", "-T", extension], capture_output=True, text=True, check=True).stdout
    versions = {tuple(map(int, each.split("."))) for each in re.findall(r"GLIBC_([0-9.]+)", symbols)}
    assert versions
    assert max(versions) <= (2, 17)


@needs_wheel
def test_the_wheel_contains_the_page_the_scenarios_and_the_bills_of_materials() -> None:
    with content() as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read("longhaul-0.1.0.dist-info/METADATA").decode()
    static = ROOT / "python/longhaul/page/static"
    page = {
        f"longhaul/page/static/{path.relative_to(static)}" for path in static.rglob("*") if path.is_file()
    }
    assert page
    assert page <= names
    assert "longhaul/page/scenarios/three-clusters.yaml" in names
    assert {"python.cyclonedx.json", "longhaul-python.cyclonedx.json"} <= {
        Path(name).name for name in names if "/sboms/" in name
    }
    assert not [name for name in names if name.endswith((".rs", ".pyc"))]
    assert "License-Expression: Apache-2.0 OR MIT" in metadata
    for dependency in project()["project"]["dependencies"]:
        assert f"Requires-Dist: {dependency}" in metadata.splitlines(), dependency


def content() -> zipfile.ZipFile:
    assert WHEEL is not None
    return zipfile.ZipFile(WHEEL)


class Installed:
    """A virtual environment of a user, with the wheel installed by pip."""

    def __init__(self, home: Path, prefix: Sequence[str]) -> None:
        self.home, self.prefix = home, prefix
        self.environment = {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
        self.environment |= {name: value for name, value in os.environ.items() if name.startswith("PIP_")}

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*self.prefix, *command],
            cwd=self.home,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
        )

    def longhaul(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        return self.run(str(self.home / "env/bin/longhaul"), *arguments)


@pytest.fixture(params=["this user", "nobody"], scope="module")
def installed(request: pytest.FixtureRequest) -> Iterator[Installed]:
    """As this user, who may be root, and as a user without a name, a shell or rights."""
    prefix: list[str] = []
    # Directories of pytest can be read by their user only.
    with tempfile.TemporaryDirectory(prefix="longhaul-wheel-") as text:
        home = Path(text)
        home.chmod(0o755)
        assert WHEEL is not None
        wheel = shutil.copy(WHEEL, home)
        if request.param == "nobody":
            if os.geteuid() != 0:
                pytest.skip("only root may become another user")
            prefix = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", "--"]
            os.chown(home, NOBODY, NOBODY)
        place = Installed(home, prefix)
        made = place.run("/usr/bin/python3", "-m", "venv", "env")
        if made.returncode:
            pytest.skip(f"no system Python with venv: {made.stderr}{made.stdout}")
        done = place.run("env/bin/pip", "install", "--quiet", "--only-binary", ":all:", str(wheel))
        assert done.returncode == 0, done.stderr
        yield place


@needs_wheel
def test_an_installed_wheel_checks_and_simulates_a_template(installed: Installed) -> None:
    version = installed.longhaul("--version")
    assert version.stdout.strip() == "longhaul, version 0.1.0", version.stderr
    assert installed.longhaul("new", "atlantic").returncode == 0
    checked = installed.longhaul("check", "atlantic.yaml", "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout)[0]["good"]
    simulated = installed.longhaul("sim", "atlantic.yaml", "--json")
    assert simulated.returncode == 0, simulated.stderr
    assert json.loads(simulated.stdout)["outcome"]["state"] == "passed"


@needs_wheel
def test_doctor_says_of_an_installed_wheel_whether_this_user_can_run_live(installed: Installed) -> None:
    done = installed.longhaul("doctor", "--no-self-test", "--json")
    findings = {each["what"]: each for each in json.loads(done.stdout)}
    assert done.returncode == (3 if any(each["state"] == "missing" for each in findings.values()) else 0)
    for what in ("/dev/net/tun", "privilege"):
        assert findings[what]["state"] == "good" or findings[what]["fix"], findings[what]
    names = findings["loadable algorithms"]["detail"]
    assert "scalable" in names or "none" in names


@needs_wheel
def test_the_page_of_an_installed_wheel_is_complete(installed: Installed) -> None:
    code = (
        "import longhaul.page, pathlib, re\n"
        "static = pathlib.Path(longhaul.page.__file__).parent / 'static'\n"
        "named = re.findall(r'(?:src|href)=\"[./]*(assets/[^\"]+)', (static / 'index.html').read_text())\n"
        "assert named and all((static / name).is_file() for name in named), named\n"
    )
    done = installed.run("env/bin/python", "-c", code)
    assert done.returncode == 0, done.stderr


@needs_wheel
def test_an_artifact_with_the_wheel_reproduces_itself_where_nothing_is_installed(
    installed: Installed, tmp_path: Path
) -> None:
    assert WHEEL is not None
    longhaul = str(Path(sys.executable).with_name("longhaul"))
    for command in (
        [longhaul, "new", "atlantic"],
        [longhaul, "sim", "atlantic.yaml", "--no-report"],
        [longhaul, "artifact", "runs/atlantic/latest-sim", "--wheel", WHEEL],
    ):
        subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    shutil.copy(tmp_path / "atlantic-artifact.tar.gz", installed.home)
    assert installed.run("tar", "xf", "atlantic-artifact.tar.gz").returncode == 0
    done = installed.run("atlantic-artifact/reproduce")
    assert done.returncode == 0, done.stderr
    assert "atlantic (sim): identical" in done.stdout
    results = json.loads((installed.home / "atlantic-artifact/reproduction/results.json").read_text("utf-8"))
    assert results["took_s"]["set_up"] > 0


@needs_wheel
def test_the_artifact_of_a_study_measures_itself_where_nothing_is_installed(
    installed: Installed, tmp_path: Path
) -> None:
    assert WHEEL is not None
    longhaul = str(Path(sys.executable).with_name("longhaul"))
    command = [longhaul, "artifact", "fitting", "--directory", str(ROOT / "studies"), "--wheel", WHEEL]
    subprocess.run(command, cwd=tmp_path, capture_output=True, check=True)
    shutil.copy(tmp_path / "fitting-artifact.tar.gz", installed.home)
    assert installed.run("tar", "xf", "fitting-artifact.tar.gz").returncode == 0
    done = installed.run("fitting-artifact/reproduce", "--small")
    assert done.returncode == 0, done.stderr
    assert "weibull-found (fits): " in done.stdout
    results = json.loads((installed.home / "fitting-artifact/reproduction/results.json").read_text("utf-8"))
    assert results["took_s"]["set_up"] > 0
    assert results["took_s"]["execution"] > 0
