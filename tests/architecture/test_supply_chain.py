"""Versions are pinned with hashes, from public registries, and their licences are listed."""

import json
import re
import subprocess
import tomllib
from importlib.metadata import distribution
from itertools import chain
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
PUBLIC = ("https://" + "pypi" + ".org/", "https://files.pythonhosted.org/")


def locked(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text())


def test_lock_files_are_committed() -> None:
    for name in ("Cargo.lock", "uv.lock", "web/package-lock.json"):
        tracked = subprocess.run(
            ["git", "ls-files", "--error-unmatch", name],
            cwd=ROOT,
            check=False,
            capture_output=True,
            text=True,
        )
        assert tracked.returncode == 0, tracked.stderr


def test_python_packages_come_with_hashes_from_public_registries() -> None:
    text = (ROOT / "uv.lock").read_text()
    for address in set(re.findall(r'"(https?://[^"]*)"', text)):
        assert address.startswith(PUBLIC), address
    for package in locked("uv.lock")["package"]:
        files = [*package.get("wheels", ()), *filter(None, [package.get("sdist")])]
        assert all(each["hash"].startswith("sha256:") for each in files), package["name"]
        assert files or package["name"] == "longhaul", package["name"]


def test_each_declared_dependency_is_in_the_lock_file() -> None:
    project = locked("pyproject.toml")["project"]
    names = {each["name"] for each in locked("uv.lock")["package"]}
    for each in (*project["dependencies"], *project["optional-dependencies"]["dask"]):
        assert re.split(r"[^A-Za-z0-9_.-]", each)[0].lower() in names, each


def test_every_crate_and_package_has_its_licence_listed() -> None:
    page = (ROOT / "docs/reference/licences.md").read_text()
    for crate in locked("Cargo.lock")["package"]:
        if "source" in crate:
            assert f"| {crate['name']} | {crate['version']} |" in page, "run tools/licences"
    versions = {each["name"]: each.get("version") for each in locked("uv.lock")["package"]}
    for each in locked("pyproject.toml")["project"]["dependencies"]:
        name = each.split(">")[0]
        assert f"| {name} | {versions[name]} |" in page, "run tools/licences"
    assert "see its files" not in page


def bill_of_materials(pattern: str) -> dict[str, Any]:
    """One of those in the installed wheel."""
    files = distribution("longhaul").files or []
    (path,) = [each for each in files if each.match(f"*.dist-info/sboms/{pattern}")]
    content: dict[str, Any] = json.loads(Path(path.locate()).read_text())
    assert content["bomFormat"] == "CycloneDX"
    return content


def test_the_wheel_has_a_bill_of_materials_of_its_crates() -> None:
    names = {each["name"] for each in bill_of_materials("longhaul-*.cyclonedx.json")["components"]}
    assert {"serde", "serde_json", "pyo3", "longhaul-network"} <= names


def test_the_wheel_has_a_bill_of_materials_of_all_python_packages_that_it_and_its_extras_install() -> None:
    content = bill_of_materials("python.cyclonedx.json")
    assert content == json.loads((ROOT / "python.cyclonedx.json").read_text()), "run uv sync"
    listed = {(each["name"], each["version"]) for each in content["components"]}
    assert listed == with_dependencies(locked("uv.lock")["package"], "longhaul"), "run tools/licences"


def with_dependencies(packages: list[dict[str, Any]], root: str) -> set[tuple[str, str]]:
    """What a package and all its extras install, on any platform: names and versions."""
    (own,) = [each for each in packages if each["name"] == root]
    requirements = [*own["dependencies"], *chain(*own["optional-dependencies"].values())]
    installed = set[tuple[str, str]]()
    # Grows while it is read.
    for wanted in requirements:
        for package in packages:
            name, version = package["name"], package.get("version")
            if name == wanted["name"] and version == wanted.get("version", version):
                extras = package.get("optional-dependencies", {})
                needed = [*package.get("dependencies", ())]
                needed += chain(*(extras[each] for each in wanted.get("extra", ())))
                requirements += [each for each in needed if each not in requirements]
                installed.add((name, version))
    return installed
