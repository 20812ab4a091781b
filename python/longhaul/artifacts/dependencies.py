"""The packages that Longhaul and programs of studies run with here, with versions and checksums, for pip."""

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import longhaul

LOCK = Path(longhaul.__file__).parents[2] / "uv.lock"
"""Of a checkout."""


def installed(name: str = "longhaul") -> dict[str, str]:
    """All packages that ``name`` needs here, without itself, and their versions."""
    found: dict[str, str] = {}
    waiting = [(name, frozenset({""}))]
    while waiting:
        package, extras = waiting.pop()
        for line in distribution(package).requires or ():
            needed = Requirement(line)
            if needed.marker and not any(needed.marker.evaluate({"extra": extra}) for extra in extras):
                continue
            key = canonicalize_name(needed.name)
            try:
                version = distribution(key).version
            except PackageNotFoundError:
                continue
            if key not in found:
                waiting.append((key, frozenset({"", *needed.extras})))
            found[key] = version
    return dict(sorted(found.items()))


def requirements(lock: Path = LOCK, *, packages: Sequence[str] = ()) -> str:
    """``requirements.txt`` of Longhaul, and of more installed ``packages``.

    It has checksums, which pip then demands, if ``lock`` has them for all packages.
    """
    found = installed()
    for name in packages:
        found |= {canonicalize_name(name): distribution(name).version, **installed(name)}
    found = {name: version for name, version in sorted(found.items()) if name != "longhaul"}
    hashes = _hashes(lock) if lock.is_file() else {}
    complete = all((name, version) in hashes for name, version in found.items())
    head = "# What Longhaul ran with. pip install --requirement requirements.txt\n"
    return head + "".join(
        f"{name}=={version}{_options(hashes[name, version]) if complete else ''}\n"
        for name, version in found.items()
    )


def _options(digests: Iterable[str]) -> str:
    return "".join(f" \\\n    --hash={digest}" for digest in digests)


def _hashes(lock: Path) -> Mapping[tuple[str, str], list[str]]:
    """By package and version."""
    packages = tomllib.loads(lock.read_text(encoding="utf-8")).get("package", [])
    found = {}
    for package in packages:
        files = [*package.get("wheels", []), *([package["sdist"]] if "sdist" in package else [])]
        digests = [file["hash"] for file in files if "hash" in file]
        if digests:
            found[package["name"], package["version"]] = digests
    return found
