"""What `longhaul clean` removes of sweeps that were killed, and what it leaves alone."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from longhaul.run.cleaning import remove_leftovers

SWEEPING = """
import sys
from longhaul.run.sweeps import tls
with tls.settings(dashboard=False), tls.Certificates() as certificates:
    print(certificates.directory, flush=True)
    sys.stdin.read()
"""


def test_directories_of_a_killed_sweep_are_removed_and_those_of_another_stay(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary, home = tmp_path / "temporary", tmp_path / "home"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("XDG_STATE_HOME", str(home))
    monkeypatch.setattr(tempfile, "tempdir", None)
    sweeps = []
    for _ in range(2):
        process = subprocess.Popen(
            [sys.executable, "-c", SWEEPING], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        certificates = Path(process.stdout.readline().rstrip("\n"))
        assert {"ca.pem", "cert.pem", "key.pem"} <= {path.name for path in certificates.iterdir()}
        (scratch,) = temporary.glob(f"longhaul-dask-{process.pid}-*")
        sweeps.append((process, {certificates, scratch}))
    (killed, left), (living, kept) = sweeps
    try:
        killed.kill()
        killed.wait()
        removed = [line for line in remove_leftovers(everything=False) if str(tmp_path) in line]
        assert sorted(removed) == sorted(f"removed {path}" for path in left)
        assert not any(path.exists() for path in left)
        assert all(path.is_dir() for path in kept)
    finally:
        living.communicate("")
    assert not any(path.exists() for path in kept)
    assert os.listdir(temporary) == []
