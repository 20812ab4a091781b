"""How fast the workloads' inner loops are, beside plain C loops compiled with ``cc -O2``, by turns.

A figure is a ratio of CPU times, ours to C's: 1 is as fast, and 3 is what we allow.
"""

import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from figures import Row, measure_all, row

from longhaul import _longhaul as compiled
from longhaul.workloads import gaussian_pairs
from longhaul.workloads.uniform import fill, powers

ROOT = Path(__file__).parents[1]
SEED = 314_159_265
MOST = 3.0

Loop = Callable[[], object]


def _uniforms(count: int) -> np.ndarray:
    out = np.empty(count)
    fill(out, seed=SEED, skip=0)
    return out


def _pairs() -> Loop:
    table, sums, counts = powers(2 * gaussian_pairs.BATCH), np.zeros(2), np.zeros(10)

    def loop() -> None:
        for begin in range(0, 1 << 22, gaussian_pairs.BATCH):
            gaussian_pairs._batch(table, begin, sums, counts)

    return loop


def _keys() -> Loop:
    keys = ((1 << 17) * _uniforms(4 << 22).reshape(-1, 4).sum(axis=1)).astype(np.int32)
    out = np.empty_like(keys)

    def loop() -> None:
        counts, ranks = np.zeros(1 << 10, np.int32), np.zeros(1 << 19, np.int32)
        compiled.count_keys(keys, 0, 9, counts)
        compiled.distribute_keys(keys, 9, (np.cumsum(counts) - counts).astype(np.int32), out)
        compiled.count_keys(out, 0, 0, ranks)

    return loop


def _sparse() -> Loop:
    rows, each = 14_000, 132
    drawn = _uniforms(2 * rows * each)
    starts = np.arange(rows + 1, dtype=np.int32) * each
    columns = (rows * drawn[0::2]).astype(np.int32)
    values, x, product = drawn[1::2].copy(), np.ones(rows), np.zeros(rows)
    return lambda: compiled.multiply_sparse(starts, columns, values, x, product)


def _stencil() -> Loop:
    grid, out = _uniforms(130**3), np.zeros(130**3)
    weights = (-0.375, 0.03125, -0.015625, 0.001)
    return lambda: compiled.add_stencil((130, 130, 130), grid, weights, out)


def _planes() -> Loop:
    planes = _uniforms(2 * 64 * 128 * 128).view(complex).reshape(64, 128, 128)

    def loop() -> None:
        for number in range(len(planes)):
            planes[number] = np.fft.fft2(planes[number])
            planes[number] *= 1e-3

    return loop


def _relax() -> Loop:
    grid = np.zeros((1000, 1000))
    grid[0] = 1.0
    return lambda: [compiled.relax(grid, 1000, colour, 1.9) for colour in (0, 1)]


LOOPS: dict[str, tuple[str, Callable[[], Loop], int]] = {
    "pairs": ("EP: pairs, NumPy", _pairs, 4),
    "keys": ("IS: histogram, distribution, ranks", _keys, 6),
    "sparse": ("CG: sparse product", _sparse, 60),
    "stencil": ("MG: stencil of 27 points", _stencil, 20),
    "planes": ("FT: transforms of planes, NumPy", _planes, 10),
    "relax": ("SOR: both colours", _relax, 60),
}
"""C's name of the loop, what it is, ours, and how often it is repeated."""


def kernels(rounds: int) -> list[Row]:
    """Medians of ratios over rounds; C and ours by turns."""
    with tempfile.TemporaryDirectory(prefix="longhaul-kernels-") as temporary:
        binary = Path(temporary) / "kernels"
        source = ROOT / "bench/peers/kernels.c"
        subprocess.run(["cc", "-O2", "-o", str(binary), str(source), "-lm"], check=True)
        return [_ratio(binary, name, rounds) for name in LOOPS]


def _ratio(binary: Path, name: str, rounds: int) -> Row:
    what, prepare, times = LOOPS[name]
    loop = prepare()
    loop()
    ratios = []
    for _ in range(rounds):
        peer = subprocess.run([str(binary), name, str(times)], capture_output=True, text=True, check=True)
        begin = time.process_time()
        for _ in range(times):
            loop()
        ratios.append((time.process_time() - begin) / float(peer.stdout))
    value = median(ratios)
    return row(what, value, "of C", f"at most {MOST:g}", value <= MOST)


if __name__ == "__main__":
    measure_all(__doc__, {"kernels": kernels}, Path(__file__).parent / "workloads.json")
