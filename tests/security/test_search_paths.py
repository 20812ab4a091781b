"""A directory in which somebody else left modules, programs and settings is safe to work in, also as root."""

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from longhaul import subprocesses

from .conftest import Started
from .planted import PROGRAMS, SCENARIO, found, plant_programs


@pytest.fixture
def places(tmp_path: Path, trace: Path) -> str:
    """A ``PATH`` whose first directory somebody else can write, and has; then the working directory."""
    directory = tmp_path / "open"
    directory.mkdir()
    plant_programs(directory, trace)
    return os.pathsep.join([str(directory), ".", "", os.environ["PATH"]])


def test_the_attack_itself_works_on_an_interpreter_that_is_not_isolated(planted: Path, trace: Path) -> None:
    subprocess.run([sys.executable, "-m", "longhaul.cli.main", "--version"], cwd=planted, check=False)
    assert found(trace)


def test_simulations_sweeps_and_reports_import_nothing_from_the_working_directory(
    planted: Path, trace: Path, started: Started
) -> None:
    for arguments in (
        ["check", "pair.yaml"],
        ["sim", "pair.yaml"],
        ["sweep", "pair.yaml", "--axis", "cc=cubic,reno", "--workers", "2"],
        ["sweep", "pair.yaml", "--axis", "cc=cubic,reno", "--cluster", "local", "--no-report"],
    ):
        done = started(*arguments)
        assert done.returncode == 0, (arguments, done.stderr)
    assert found(trace) == ""


def test_job_scripts_of_a_sweep_import_nothing_from_the_directory_they_run_in(
    planted: Path, trace: Path, started: Started, environment: dict[str, str]
) -> None:
    assert started("sweep", "pair.yaml", "--axis", "cc=cubic,reno", "--array", "1").returncode == 0
    script = (planted / "runs/pair/latest/sweep.sbatch").resolve()
    done = subprocess.run(
        ["/bin/sh", str(script)],
        cwd=planted,
        env={**environment, "SLURM_ARRAY_TASK_ID": "0"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert found(trace) == ""


def test_trials_of_a_benchmark_import_nothing_from_the_working_directory(planted: Path, trace: Path) -> None:
    code = """
    from pathlib import Path
    from longhaul.benchmark.trials import perform_all
    list(perform_all([7], place=Path("trials"), keep=False, at_once=1))
    """
    done = subprocess.run(
        [sys.executable, "-P", "-c", textwrap.dedent(code)],
        cwd=planted,
        capture_output=True,
        text=True,
        check=False,
    )
    # 7 is not a trial: so says a process that has come up.
    assert "AttributeError: 'int' object has no attribute 'case'" in done.stderr, done.stderr
    assert found(trace) == ""


def test_interpreters_of_ours_ignore_the_environment_of_python(
    planted: Path, trace: Path, environment: dict[str, str]
) -> None:
    """The parent is isolated, so that what is found was found by its children."""
    for variable, value in (
        ("PYTHONPATH", str(planted)),
        ("PYTHONPATH", ":"),
        ("PYTHONSTARTUP", str(planted / "json.py")),
        ("PYTHONUSERBASE", str(planted)),
        ("PYTHONWARNINGS", "error::json.Evil"),
        ("PYTHONBREAKPOINT", "json.evil"),
    ):
        done = subprocess.run(
            subprocesses.python_command("longhaul.page.running"),
            input="not json\n",
            cwd=planted,
            env={**environment, variable: value},
            capture_output=True,
            text=True,
            check=False,
        )
        assert "JSONDecodeError" in done.stderr, done.stderr
        assert found(trace) == "", variable


def test_ours_is_the_parents_longhaul_and_not_another_that_is_installed(tmp_path: Path) -> None:
    other = tmp_path / "longhaul"
    other.mkdir()
    (other / "__init__.py").write_text("raise SystemExit('the other one')")
    code = "import longhaul, sys; print(longhaul.__file__); print(sys.argv)"
    command = subprocesses.python_code_command(code, "x")
    launcher = command.index(next(each for each in command if each.endswith("launch.py")))
    command[launcher + 1] = str(tmp_path)
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path).stdout
    import longhaul

    assert out.splitlines() == [longhaul.__file__, "['-c', 'x']"]


def test_a_settings_file_in_the_working_directory_does_not_reach_our_figures(
    work: Path, started: Started
) -> None:
    (work / "pair.yaml").write_text(SCENARIO)
    (work / "matplotlibrc").write_text("text.usetex: True\nlines.linewidth: 77\nfigure.facecolor: red\n")
    assert started("sim", "pair.yaml").returncode == 0
    report = (work / "runs/pair/latest/report.html").read_text()
    assert "<svg" in report
    assert "stroke-width: 77" not in report
    (work / "matplotlibrc").unlink()
    os.mkfifo(work / "matplotlibrc")
    assert started("report", "runs/pair/latest", timeout=30).returncode == 0


def test_programs_that_we_start_come_from_directories_that_only_root_and_we_can_write(
    places: str, trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", places)
    assert not any(each in ("", ".") for each in subprocesses.trusted_path().split(os.pathsep))
    for name in PROGRAMS:
        place = subprocesses.find_program(name)
        assert place is None or Path(place).parent != Path(places.split(os.pathsep, maxsplit=1)[0]), place


def test_probes_of_this_machine_start_nothing_that_others_left(
    places: str, trace: Path, started: Started
) -> None:
    done = started("doctor", "--no-self-test", PATH=places)
    assert "privilege" in done.stdout, done.stderr
    done = started("path", "127.0.0.1", "--with", "ping", "--pings", "1", PATH=places)
    assert found(trace) == "", done.stderr


def test_a_program_of_a_scenario_is_found_as_its_user_would_find_it(tmp_path: Path) -> None:
    """Only what we start is looked for elsewhere; the user's own PATH is the user's."""
    from longhaul.run.session import search_path

    before = os.environ["PATH"]
    assert search_path().endswith(before)


@pytest.mark.parametrize(
    ("mode", "owner", "trusted"),
    [(0o755, 0, True), (0o777, 0, False), (0o1777, 0, False), (0o775, 65534, False), (0o755, 65534, False)],
)
def test_root_trusts_no_directory_that_somebody_else_can_write(
    tmp_path: Path, mode: int, owner: int, trusted: bool
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    place = tmp_path / "bin"
    place.mkdir()
    os.chown(place, owner, owner)
    place.chmod(mode)
    below = place / "below"
    below.mkdir()
    assert subprocesses.is_trusted(str(place)) is trusted
    # Below a sticky directory, what is root's stays root's.
    assert subprocesses.is_trusted(str(below)) is (trusted or mode == 0o1777)
    link = tmp_path / "link"
    link.symlink_to(place)
    assert subprocesses.is_trusted(str(link)) is trusted


def test_root_of_a_user_namespace_trusts_the_directories_of_the_system() -> None:
    """There, files of the machine's root seem to be nobody's."""
    code = "from longhaul.subprocesses import is_trusted; print(is_trusted('/usr/bin'), is_trusted('/tmp'))"
    command = ["unshare", "-Ur", *subprocesses.python_code_command(code)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "unshare" in done.stderr:
        pytest.skip("user namespaces are closed here")
    assert done.stdout.split() == ["True", "False"], done.stderr
