"""Who may know whom, how large a file may be, and what never stands in the project."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

MAY_KNOW = {
    "units": set(),
    "random": {"units"},
    "link": {"units", "random"},
    "congestion": {"units", "random"},
    "transport": {"units", "random", "congestion"},
    "network": {"checksum", "units", "random", "link", "plan", "record"},
    "plan": {"units", "random", "link", "congestion"},
    "endpoints": {"checksum", "units", "random", "network", "plan", "record", "congestion", "transport"},
    "sim": {"units", "random", "network", "plan", "record", "endpoints"},
    "record": {"units"},
    "storage": set(),
    "live": {
        "units",
        "random",
        "link",
        "capture",
        "checksum",
        "network",
        "plan",
        "record",
        "storage",
        "endpoints",
        "congestion",
        "bpf-cc",
        "virtual",
    },
    "relay": {"units", "random", "link", "network", "plan", "record", "storage"},
    "virtual": {"random"},
    "checksum": set(),
    "capture": {"checksum"},
    "kernels": set(),
    "bpf-cc": {"congestion", "units"},
    # Nobody knows it: it is there for its tests and for cargo-fuzz.
    "fuzz": {"bpf-cc", "capture", "live", "network", "plan", "relay", "units", "virtual"},
    "python": {
        "capture",
        "kernels",
        "live",
        "relay",
        "congestion",
        "sim",
        "record",
        "storage",
        "network",
        "plan",
        "random",
        "units",
    },
}
PURE = (
    "units",
    "random",
    "link",
    "congestion",
    "transport",
    "network",
    "plan",
    "record",
    "endpoints",
    "sim",
    "checksum",
    "capture",
    "kernels",
    "bpf-cc",
)

SPLIT_AT = 600
"""Lines at which a file holds more than one idea."""


def tracked(*patterns: str) -> list[Path]:
    found = subprocess.run(["git", "ls-files", "-z", *patterns], cwd=ROOT, capture_output=True, check=True)
    return [ROOT / name for name in found.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(scope="module")
def crates() -> dict[str, dict]:
    cargo = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--locked", "--offline", "--format-version", "1"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        env={**os.environ, "PATH": f"{os.environ['PATH']}:{Path.home()}/.cargo/bin"},
    )
    packages = json.loads(cargo.stdout)["packages"]
    return {package["name"].removeprefix("longhaul-"): package for package in packages}


def test_crates_know_only_whom_the_design_lets_them_know(crates: dict[str, dict]) -> None:
    for name, package in crates.items():
        ours = {each["name"] for each in package["dependencies"] if each["kind"] is None and each.get("path")}
        known = {other.removeprefix("longhaul-") for other in ours}
        assert name in MAY_KNOW, f"say in this test whom crates/{name} may know"
        assert known <= MAY_KNOW[name], f"crates/{name} must not know {known - MAY_KNOW[name]}"


def test_pure_crates_are_held_to_it_by_clippy() -> None:
    for name in PURE:
        assert (ROOT / "crates" / name / "clippy.toml").resolve() == ROOT / "tools" / "pure.clippy.toml"


def test_the_scenario_language_and_the_analysis_know_no_compiled_code_but_that_of_routes_and_captures() -> (
    None
):
    """Import-linter does not see extension modules."""
    pure = (f"python/longhaul/{name}/*.py" for name in ("scenario", "analysis", "transfers/plan"))
    # docs/decisions/0024-routes-are-computed-in-rust.md; captures have one reader, and it is fast.
    allowed = {
        "python/longhaul/scenario/lower/paths.py": ["from longhaul._longhaul import Routes as NetworkRoutes"],
        "python/longhaul/scenario/lower/pcap.py": [
            "from longhaul._longhaul import InvalidValueError, RewrittenCapture"
        ],
    }
    for path in tracked(*pure):
        found = [line for line in path.read_text(encoding="utf-8").splitlines() if "_longhaul" in line]
        assert found == allowed.get(path.relative_to(ROOT).as_posix(), []), path


def test_only_system_calls_and_the_extension_may_be_unsafe() -> None:
    for path in tracked("crates/*.rs"):
        place = str(path.relative_to(ROOT))
        if not place.startswith(
            ("crates/live/src/sys/", "crates/python/", "crates/virtual/src/vhost/sys.rs")
        ):
            assert not re.search(r"\bunsafe\s*(\{|fn|impl)", path.read_text(encoding="utf-8")), path


def test_no_file_has_outgrown_its_idea() -> None:
    long = {
        str(path.relative_to(ROOT)): lines
        for path in tracked("*.rs", "*.py", "*.ts", "*.svelte")
        # What npm run types writes, nobody reads as a whole.
        if not path.is_relative_to(ROOT / "web/src/api/types")
        and (lines := path.read_text(encoding="utf-8").count("\n")) > SPLIT_AT
    }
    assert not long


def test_text_is_printed_as_it_is() -> None:
    for path in tracked("python/*.py"):
        found = re.search(r"from rich\.console import .*\bConsole\b", path.read_text(encoding="utf-8"))
        assert not found, f"{path}: longhaul.report.console has ours, which knows no markup and no emoji"


def test_only_the_command_line_prints_on_a_terminal() -> None:
    """Ruff finds calls of print; a console of rich prints, too."""
    elsewhere = {"report/console.py"}
    for path in tracked("python/longhaul/*.py"):
        name = path.relative_to(ROOT / "python/longhaul").as_posix()
        if not name.startswith(("cli/", "workloads/")) and name not in elsewhere:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"\bConsole\(|\bclick\.s?echo\(|sys\.std(out|err)\.write\(", text), name


def test_nothing_names_a_machine_or_a_registry() -> None:
    # Written in pieces, or this file would find itself.
    words = [
        "/" + "work/",
        "/" + "root/",
        "/" + "home/",
        "pypi" + ".",
        "crates" + ".io",
        "registry" + ".npmjs",
    ]
    for path in tracked():
        if path.suffix in (".png", ".lock") or path.name == "package-lock.json":
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        found = [word for word in words if word in text]
        assert not found, f"{path}: {found}"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; sys.argv = ['longhaul', '--help']\n"
        "from longhaul.cli.main import longhaul\n"
        "try: longhaul.main(standalone_mode=False)\n"
        "finally: print('|'.join(sorted(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    loaded = set(out.rsplit("\n", 2)[-2].split("|"))
    assert not loaded & {"numpy", "pyarrow", "pydantic", "matplotlib", "rich", "longhaul._longhaul", "yaml"}


def test_every_model_page_is_in_the_index() -> None:
    index = (ROOT / "docs/models/README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs/models").glob("*.md"):
        assert page.name == "README.md" or f"({page.name})" in index, page


def test_every_link_between_documents_leads_somewhere() -> None:
    for page in tracked("*.md"):
        for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", page.read_text(encoding="utf-8")):
            if "://" not in target and not target.startswith("mailto:"):
                assert (page.parent / target).exists(), f"{page.relative_to(ROOT)}: {target}"


def test_the_map_for_contributors_has_every_crate_and_package() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    mapped = re.findall(r"^(crates|python/longhaul)/([\w, -]+?)  ", text, re.MULTILINE)
    places = {(where, name) for where, names in mapped for name in names.split(", ")}
    there = {("crates", each.parent.name) for each in (ROOT / "crates").glob("*/Cargo.toml")}
    there |= {
        ("python/longhaul", each.parent.name) for each in (ROOT / "python/longhaul").glob("*/__init__.py")
    }
    assert places == there


def test_no_link_leads_nowhere() -> None:
    # A package with one cannot be built.
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    links = [path for path in paths if path.is_symlink()]
    assert links
    assert [str(link.relative_to(ROOT)) for link in links if not link.exists()] == []
