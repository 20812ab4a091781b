"""Commands import what they need, and no more: a first import is most of what a short command takes."""

import subprocess
import sys
from pathlib import Path

import pytest

from longhaul.subprocesses import python_code_command

_TELL = (
    "import sys, atexit\n"
    "atexit.register(lambda: print(*sys.modules, file=sys.stderr))\n"
    "from longhaul.cli.main import main\n"
    "main()"
)


def _modules(folder: Path, *arguments: str) -> set[str]:
    """The modules that a command has imported when it ends."""
    ended = subprocess.run(
        [sys.executable, "-c", _TELL, *arguments], cwd=folder, capture_output=True, text=True, check=True
    )
    return set(ended.stderr.splitlines()[-1].split())


def _imported(folder: Path, *arguments: str) -> set[str]:
    """Their packages."""
    return {name.partition(".")[0] for name in _modules(folder, *arguments)}


@pytest.mark.parametrize("option", ["--help", "-h"])
def test_help_imports_no_library_but_click(tmp_path: Path, option: str) -> None:
    heavy = {
        "numpy",
        "pyarrow",
        "pydantic",
        "pydantic_core",
        "rich",
        "yaml",
        "asyncio",
        "email",
        "http",
        "ssl",
    }

    assert not heavy & _imported(tmp_path, option)


def test_check_imports_neither_arrays_nor_tables_nor_figures(tmp_path: Path) -> None:
    _imported(tmp_path, "new", "atlantic")

    found = _imported(tmp_path, "check", "atlantic.yaml")

    assert "pydantic" in found
    assert not {"numpy", "pyarrow", "scipy", "matplotlib", "rich", "jinja2", "starlette"} & found


def test_check_imports_only_what_its_scenario_needs(tmp_path: Path) -> None:
    _imported(tmp_path, "new", "atlantic")

    found = _modules(tmp_path, "check", "atlantic.yaml")

    assert "longhaul.scenario.model.scenario" in found
    assert (
        not {
            "longhaul.scenario.model.relay",
            "longhaul.scenario.model.sweep",
            "longhaul.scenario.model.topology",
            "longhaul.kernels.cache",
            "longhaul.run.images",
            "longhaul.run.ports",
            "tarfile",
        }
        & found
    )


def test_simulations_without_report_import_no_figures(tmp_path: Path) -> None:
    _imported(tmp_path, "new", "atlantic")

    found = _imported(tmp_path, "sim", "atlantic.yaml", "--no-report")

    assert "pyarrow" in found
    assert not {"matplotlib", "scipy", "jinja2", "starlette", "distributed"} & found


def test_simulations_do_not_wrap_the_functions_of_arrow(tmp_path: Path) -> None:
    _imported(tmp_path, "new", "atlantic")

    found = _modules(tmp_path, "sim", "atlantic.yaml")

    assert "pyarrow.parquet" in found
    assert not {"pyarrow.compute", "pyarrow.dataset", "pyarrow.acero"} & found


def test_simulations_import_neither_masked_arrays_nor_what_watches_live_runs(tmp_path: Path) -> None:
    _imported(tmp_path, "new", "atlantic")

    found = _modules(tmp_path, "sim", "atlantic.yaml")

    assert "numpy" in found
    assert not {"numpy.ma", "longhaul.results.monitors"} & found


def test_numpy_starts_no_threads_in_a_simulation(tmp_path: Path) -> None:
    _imported(tmp_path, "new", "atlantic")
    script = (
        "import os, sys\n"
        "sys.argv[1:] = ['sim', 'atlantic.yaml', '--no-report']\n"
        "import longhaul.cli.experiments\n"
        "def tell(*_args, **_settings):\n"
        "    import numpy\n"
        "    print(len(os.listdir('/proc/self/task')))\n"
        "    return 0\n"
        "longhaul.cli.experiments.simulate = tell\n"
        "from longhaul.cli.main import main\n"
        "main()"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert ended.stdout.split() == ["1"]


def test_a_check_builds_the_models_that_its_scenario_uses_and_no_others(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "version: 1\nname: a\nnodes: {a: {kind: host}, b: {kind: host}}\n"
        "links: {a-b: {endpoints: [a, b], loss: 1%}}\n"
    )
    script = (
        "import sys; from longhaul.scenario import load_scenario; load_scenario('a.yaml')\n"
        "from longhaul.scenario.model.loss import IndependentLoss, MarkovLoss\n"
        "print(IndependentLoss.__pydantic_complete__, MarkovLoss.__pydantic_complete__)\n"
        "print('longhaul.scenario.model.topology' in sys.modules)"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert ended.stdout.split() == ["True", "False", "False"]


@pytest.mark.parametrize("arguments", [("check", "atlantic.yaml"), ("sim", "atlantic.yaml")])
def test_short_commands_search_no_objects_for_garbage_even_when_they_end(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    _imported(tmp_path, "new", "atlantic")
    script = (
        "import atexit, gc, sys\n"
        "collected = lambda: sum(each['collections'] for each in gc.get_stats())\n"
        "atexit.register(lambda: print(collected() - before, gc.get_freeze_count(), file=sys.stderr))\n"
        "from longhaul.cli.main import main\n"
        "before = collected()\n"
        "main()"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script, *arguments], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    collections, frozen = map(int, ended.stderr.split()[-2:])
    assert collections == 0
    assert frozen > 50_000


def test_processes_that_longhaul_starts_search_rarely_either(tmp_path: Path) -> None:
    script = "import atexit, gc; atexit._run_exitfuncs(); print(gc.get_threshold()[0], gc.get_freeze_count())"

    ended = subprocess.run(
        python_code_command(script), cwd=tmp_path, capture_output=True, text=True, check=True
    )

    threshold, frozen = map(int, ended.stdout.split())
    assert threshold > 100_000
    assert frozen > 1_000


def test_the_import_of_topologies_parses_no_source(tmp_path: Path) -> None:
    script = (
        "import inspect\n"
        "del inspect.findsource\n"
        "from longhaul.scenario.model import topology\n"
        "print(topology.Chain.model_fields['routers'].default)"
    )

    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True
    )

    assert ended.stdout.split() == ["3"]
