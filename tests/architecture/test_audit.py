"""tools/audit tells packages without known vulnerabilities from packages that no database was asked for."""

import json
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# What the programs print, as far as tools/audit reads it.
DENY_ACCEPTS = ("stderr", 0, {"type": "summary", "fields": {"advisories": {"errors": 0, "warnings": 0}}})
DENY_REFUSES = (
    "stderr",
    1,
    {
        "type": "diagnostic",
        "fields": {
            "severity": "error",
            "code": "vulnerability",
            "message": "Numbers wrap",
            "advisory": {"id": "RUSTSEC-2099-0001", "package": "itoa"},
            "graphs": [{"Krate": {"name": "itoa", "version": "1.0.0"}}],
        },
    },
)
DENY_HAS_NO_DATABASE = (
    "stderr",
    1,
    {
        "type": "log",
        "fields": {"level": "ERROR", "message": "failed to fetch advisory database: no host\n"},
    },
)
PIP_ACCEPTS = ("stdout", 0, {"dependencies": [{"name": "idna", "version": "3.6", "vulns": []}], "fixes": []})
PIP_FINDS = (
    "stdout",
    1,
    {
        "dependencies": [
            {"name": "idna", "version": "3.6", "vulns": [{"id": "PYSEC-2099-1", "fix_versions": ["3.7"]}]},
            {"name": "own", "skip_reason": "Dependency not found on PyPI"},
        ]
    },
)
PIP_SKIPS = ("stdout", 0, {"dependencies": [{"name": "idna", "skip_reason": "Dependency not found on PyPI"}]})
NPM_ACCEPTS = ("stdout", 0, {"auditReportVersion": 2, "vulnerabilities": {}})
NPM_FINDS = ("stdout", 1, {"vulnerabilities": {"vite": {"severity": "high", "range": "<8.4.0"}}})
NPM_IS_REFUSED = ("stdout", 1, {"message": "405 Method Not Allowed", "statusCode": 405})

Output = tuple[str, int, dict[str, object]]


def audit(directory: Path, deny: Output, pip: Output, npm: Output) -> tuple[int, str]:
    """Its exit status and what it prints, where the programs answer like that."""
    for program, (stream, status, content) in {
        "cargo-deny": deny,
        "uv": pip,
        "npm": npm,
        "cargo": deny,
    }.items():
        path = directory / program
        redirection = " >&2" if stream == "stderr" else ""
        path.write_text(f"#!/bin/sh\ncat <<'END'{redirection}\n{json.dumps(content)}\nEND\nexit {status}\n")
        path.chmod(0o755)
    environment = os.environ | {"PATH": f"{directory}:{os.environ['PATH']}"}
    done = subprocess.run(
        [ROOT / "tools/audit"], env=environment, check=False, capture_output=True, text=True, timeout=60
    )
    assert not done.stderr
    return done.returncode, done.stdout


def test_packages_that_all_databases_know_as_harmless_pass(tmp_path: Path) -> None:
    status, text = audit(tmp_path, DENY_ACCEPTS, PIP_ACCEPTS, NPM_ACCEPTS)
    assert status == 0
    assert text.count("no problems found") == len(text.splitlines()) == 5


@pytest.mark.parametrize(
    ("deny", "pip", "npm", "problem"),
    [
        (DENY_REFUSES, PIP_ACCEPTS, NPM_ACCEPTS, "itoa 1.0.0 RUSTSEC-2099-0001 Numbers wrap"),
        (DENY_ACCEPTS, PIP_FINDS, NPM_ACCEPTS, "idna 3.6 PYSEC-2099-1, fixed in 3.7"),
        (DENY_ACCEPTS, PIP_ACCEPTS, NPM_FINDS, "vite <8.4.0: high"),
        # A problem counts more than a database that could not be asked.
        (DENY_HAS_NO_DATABASE, PIP_SKIPS, NPM_FINDS, "vite <8.4.0: high"),
    ],
)
def test_a_known_vulnerability_is_named_and_fails(
    tmp_path: Path, deny: Output, pip: Output, npm: Output, problem: str
) -> None:
    status, text = audit(tmp_path, deny, pip, npm)
    assert status == 1
    assert f"  {problem}" in text.splitlines()


@pytest.mark.parametrize(
    ("deny", "pip", "npm", "reason"),
    [
        (DENY_HAS_NO_DATABASE, PIP_ACCEPTS, NPM_ACCEPTS, "failed to fetch advisory database: no host"),
        # pip-audit ends with 0 and "No known vulnerabilities found" here.
        (DENY_ACCEPTS, PIP_SKIPS, NPM_ACCEPTS, "1 of 1 packages are skipped: Dependency not found on PyPI"),
        (DENY_ACCEPTS, ("stderr", 1, {}), NPM_ACCEPTS, "osv: {}"),
        (DENY_ACCEPTS, PIP_ACCEPTS, NPM_IS_REFUSED, "405 Method Not Allowed"),
    ],
)
def test_a_database_that_cannot_be_asked_does_not_count_as_no_problems(
    tmp_path: Path, deny: Output, pip: Output, npm: Output, reason: str
) -> None:
    status, text = audit(tmp_path, deny, pip, npm)
    assert status == 3
    (line, *_) = [each for each in text.splitlines() if "NOT ASKED" in each]
    assert reason in line
