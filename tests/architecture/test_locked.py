"""Every command of the repository that installs or builds uses the lock files as they are."""

import base64
import json
import re
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
MUST_SAY = {
    r"cargo (\+nightly )?(bench|build|check|clippy|fetch|install|metadata|miri|run|test|tree)\b": "--locked",
    r"cargo install\b": "@",
    r"uv (export|lock|sync)\b": "--locked",
    r"uv run\b": "--no-sync",
    r"uv tool run\b": "@",
    r"pip install\b": "--require-hashes",
    r"npm (add|i|install|update)\b": "use npm ci",
    r"\bnpx\b": "use npm ci",
}
"""What a command says, and what it must say with it."""


def commands(text: str) -> list[str]:
    """Lines of a script or a program without their quotes and brackets, continued lines as one."""
    code = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    return re.sub(r"[\"'$(){}\[\],]", "", re.sub(r"\\\n\s*", "", "\n".join(code))).splitlines()


def unlocked(text: str) -> list[str]:
    """The commands that could install other versions than those in a lock file."""
    found = []
    for command in commands(text):
        for pattern, needed in MUST_SAY.items():
            for match in re.finditer(pattern, command, re.IGNORECASE):
                rest = re.split(r"[|;&]", command[match.start() :])[0]
                if needed not in rest:
                    found.append(f"{rest.strip()}: {needed}")
    return found


def scripts() -> list[Path]:
    listed = ["git", "ls-files", "-z", "Makefile", ".ci", "tools", "bench/*.py", "studies/*.py"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\0")
    return [ROOT / name for name in names if name]


@pytest.mark.parametrize("path", scripts(), ids=lambda path: str(path.relative_to(ROOT)))
def test_commands_install_and_build_what_is_locked(path: Path) -> None:
    assert not unlocked(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    "command",
    [
        '"$uv" sync --quiet',
        "$(UV) run python",
        '["cargo", "build", "--release"]',
        "cargo install --locked cargo-fuzz",
        ".tools/bin/pip install --quiet uv",
        "(cd web && npm install --silent)",
        "cargo test --quiet && cargo build --locked",
        "uv tool run pip-audit",
    ],
)
def test_a_command_that_ignores_lock_files_is_found(command: str) -> None:
    assert len(unlocked(command)) == 1


def test_setup_installs_from_every_lock_file() -> None:
    setup = (ROOT / "tools/setup").read_text(encoding="utf-8")
    for command in ("sync --quiet --locked", "npm ci", "--require-hashes -r tools/uv.txt"):
        assert command in setup


def test_the_wheel_is_built_from_locked_crates_by_a_pinned_maturin() -> None:
    tool = table("pyproject.toml")["tool"]
    assert tool["maturin"]["locked"] is True
    (constraint,) = tool["uv"]["build-constraint-dependencies"]
    assert re.fullmatch(r"maturin==[0-9.]+", constraint)


def table(name: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", ["Cargo.lock", "fuzz/Cargo.lock"])
def test_crates_come_with_checksums_from_one_public_index(name: str) -> None:
    external = [each for each in table(name)["package"] if "source" in each]
    assert external
    for each in external:
        assert each["source"].startswith("registry+https://github.com/rust-lang/"), each["name"]
        assert re.fullmatch("[0-9a-f]{64}", each["checksum"]), each["name"]


def test_npm_packages_come_with_checksums_and_name_no_registry() -> None:
    lock = json.loads((ROOT / "web/package-lock.json").read_text(encoding="utf-8"))
    packages = {name: each for name, each in lock["packages"].items() if name}
    assert packages
    for name, each in packages.items():
        kind, _, digest = each["integrity"].partition("-")
        assert kind == "sha512", name
        assert len(base64.b64decode(digest)) == 64, name
        assert "resolved" not in each, name


def test_the_first_uv_is_the_locked_one() -> None:
    (uv,) = [each for each in table("uv.lock")["package"] if each["name"] == "uv"]
    text = (ROOT / "tools/uv.txt").read_text(encoding="utf-8")
    assert text.startswith(f"uv=={uv['version']} "), "write tools/uv.txt anew; pyproject.toml says how"
    hashes = {each["hash"] for each in (*uv["wheels"], uv["sdist"])}
    assert set(re.findall(r"--hash=(sha256:[0-9a-f]+)", text)) == hashes
