"""Versions are pinned with hashes, from public registries, and their licences are listed."""

import json
import re
import subprocess
import tomllib
from importlib.metadata import distribution
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


def test_the_wheel_has_a_bill_of_materials() -> None:
    files = distribution("longhaul").files or []
    path = next(each for each in files if each.match("*.dist-info/sboms/*.cyclonedx.json"))
    content = json.loads(path.read_text())
    assert content["bomFormat"] == "CycloneDX"
    named = {each["name"] for each in content["components"]}
    assert {"serde", "serde_json", "pyo3", "longhaul-network"} <= named
