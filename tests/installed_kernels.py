"""Guest kernels in a cache for tests: complete records, and a file in place of the kernel."""

import json
from dataclasses import asdict
from pathlib import Path

from longhaul.kernels import recipe
from longhaul.kernels.cache import CONFIG, Kernel


def installed(
    cache: Path, name: str, *, built: str = "2026-01-01T00:00:00+00:00", outdated: bool = False
) -> Kernel:
    """Put a kernel into the cache."""
    hashes = dict(recipe.hashes())
    if outdated:
        hashes["waiting.c"] = "0" * 64
    kernel = Kernel(name, f"{name}-longhaul", "a.tar", "1" * 64, hashes, (), "2" * 64, "gcc 12", built, 300.0)
    kernel.directory.mkdir(parents=True)
    assert kernel.directory.parent == cache
    kernel.binary.write_text("kernel")
    (kernel.directory / CONFIG).write_text("CONFIG_TCP_CONG_CUBIC=y\n")
    (kernel.directory / "kernel.json").write_text(json.dumps(asdict(kernel)))
    return kernel
