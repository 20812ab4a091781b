"""FT: a diffusion equation by Fourier transforms in three dimensions (NAS-91-002, 3.4).

The array is cut into slabs of planes. Along x and y each rank transforms its planes; then one alltoall of the
whole array brings it lines along z. Nothing else in these benchmarks is as heavy on the network.
"""

import numpy as np
from numpy.typing import NDArray

from longhaul.workloads.job import Job, Outcome, power_of_two
from longhaul.workloads.problems import FT, SEED, Box
from longhaul.workloads.uniform import fill

ALPHA = 1e-6
TOLERANCE = 1e-12
SUMMED = 1024

Complexes = NDArray[np.complex128]


def totals(name: str) -> dict[str, float]:
    """Units of computing in the timed part, of one rank alone."""
    box = FT[name]
    points = float(np.prod(box.sizes))
    exponents = float(np.log2(box.sizes).sum())
    # The first transform, of the initial state, is timed too.
    return {
        "fft": points * exponents * (box.steps + 1),
        "pack": points * (box.steps + 1),
        "evolve": points * box.steps,
    }


def run(job: Job, name: str) -> Outcome:
    """An untimed transform; then the initial state's, and in each step an inverse one and a checksum."""
    box = FT[name]
    power_of_two(job, "FT", most=min(box.sizes[1:]))
    slabs = _Slabs(job, box)
    slabs.forward()
    slabs.draw()
    sums = []
    with job.timed():
        slabs.forward()
        for _ in job.iterations(box.steps):
            job.compute("evolve", slabs.points, slabs.evolve)
            slabs.inverse()
            sums.append(slabs.checksum())
    if job.is_skeleton:
        return Outcome(verified=None, figures={})
    right = all(
        abs(found - known) <= TOLERANCE * abs(known)
        for found, known in zip(sums, box.checksums, strict=False)
    )
    return Outcome(verified=right, figures={"checksums": [[value.real, value.imag] for value in sums]})


class _Slabs:
    """This rank's planes of u, and its lines along z of the transform of u."""

    def __init__(self, job: Job, box: Box) -> None:
        nx, ny, nz = box.sizes
        ranks = job.ranks
        self.job, self.box = job, box
        self.points = nx * ny * nz // ranks
        self.planes: Complexes = np.zeros((nz // ranks, ny, nx), complex)
        self.lines: Complexes = np.zeros((nz, ny // ranks, nx), complex)
        self.buffer: Complexes = np.zeros(self.points, complex)
        self.state: Complexes = self.lines
        self.flat = float(np.log2(nx * ny))
        self.deep = float(np.log2(nz))
        if not job.is_skeleton:
            first = job.rank * (ny // ranks)
            damping = [np.exp(-4.0 * ALPHA * np.pi**2 * _wrapped(n) ** 2) for n in (nx, ny, nz)]
            own = damping[1][first : first + ny // ranks]
            self.damping = damping[2][:, None, None] * own[:, None] * damping[0]
            self.draw()

    def draw(self) -> None:
        """The initial state: real and imaginary parts by turns, x fastest."""
        if not self.job.is_skeleton:
            fill(self.planes.reshape(-1).view(np.float64), seed=SEED, skip=2 * self.points * self.job.rank)

    def forward(self) -> None:
        """From planes to lines."""
        job = self.job
        job.compute("fft", self.points * self.flat, self._forward_flat)
        job.compute("pack", self.points, self._pack)
        job.all_to_all(self.buffer, self.lines)
        job.compute("fft", self.points * self.deep, self._forward_deep)

    def _forward_flat(self) -> None:
        for plane in self.planes:
            plane[:] = np.fft.fft2(plane)

    def _pack(self) -> None:
        """To each rank its range of y, for all planes here."""
        nx, ny, nz = self.box.sizes
        ranks = self.job.ranks
        by_rank = self.planes.reshape(nz // ranks, ranks, ny // ranks, nx).transpose(1, 0, 2, 3)
        self.buffer.reshape(by_rank.shape)[:] = by_rank

    def _forward_deep(self) -> None:
        for y in range(self.lines.shape[1]):
            self.lines[:, y] = np.fft.fft(self.lines[:, y], axis=0)

    def evolve(self) -> None:
        """One step of time."""
        self.lines *= self.damping

    def inverse(self) -> None:
        """From lines, which stay, to planes; not normalised."""
        job = self.job
        job.compute("fft", self.points * self.deep, self._inverse_deep)
        job.all_to_all(self.buffer, self.planes)
        job.compute("pack", self.points, self._unpack)
        job.compute("fft", self.points * self.flat, self._inverse_flat)

    def _inverse_deep(self) -> None:
        out = self.buffer.reshape(self.lines.shape)
        for y in range(self.lines.shape[1]):
            out[:, y] = np.fft.ifft(self.lines[:, y], axis=0, norm="forward")

    def _unpack(self) -> None:
        """From each rank its range of y, for all planes here."""
        nx, ny, nz = self.box.sizes
        ranks = self.job.ranks
        by_rank = self.planes.reshape(ranks, nz // ranks, ny // ranks, nx).transpose(1, 0, 2, 3)
        self.buffer.reshape(by_rank.shape)[:] = by_rank

    def _inverse_flat(self) -> None:
        planes = self.buffer.reshape(self.planes.shape)
        for plane, out in zip(planes, self.planes, strict=True):
            out[:] = np.fft.ifft2(plane, norm="forward")

    def checksum(self) -> complex:
        """The sum of 1024 points, over all ranks."""
        nx, ny, nz = self.box.sizes
        total = np.zeros(1, complex)
        if not self.job.is_skeleton:
            number = np.arange(1, SUMMED + 1)
            z = 5 * number % nz - self.job.rank * (nz // self.job.ranks)
            here = number[(z >= 0) & (z < nz // self.job.ranks)]
            z = 5 * here % nz - self.job.rank * (nz // self.job.ranks)
            total[0] = self.planes[z, 3 * here % ny, here % nx].sum() / (nx * ny * nz)
        self.job.reduce_all(total)
        return complex(total[0])


def _wrapped(points: int) -> NDArray[np.float64]:
    """Wave numbers: 0, 1, ... and, from the middle on, negative."""
    return np.fft.fftfreq(points, 1.0 / points).astype(np.float64)
