"""Guest kernels on a terminal."""

from collections.abc import Sequence

from rich.table import Table

from longhaul.kernels.cache import Kernel
from longhaul.report.console import Console
from longhaul.units.text import bytes_text, duration_text


def print_kernels(kernels: Sequence[Kernel]) -> None:
    """A table with a row for each kernel."""
    console = Console(highlight=False)
    if not kernels:
        console.print("no guest kernels; build one with: longhaul kernel build")
        return
    table = Table(box=None, pad_edge=False, header_style="dim", padding=(0, 2, 0, 0))
    for name in ("name", "release", "built", "size", "state"):
        table.add_column(name, no_wrap=True)
    for kernel in kernels:
        state = "outdated: build it again" if kernel.is_outdated else "usable"
        table.add_row(kernel.name, kernel.release, kernel.built[:16].replace("T", " "), _size(kernel), state)
    console.print(table)


def print_kernel(kernel: Kernel) -> None:
    """All that is known of one kernel."""
    rows = [
        ("name", kernel.name),
        ("release", kernel.release),
        ("state", "outdated: build it again" if kernel.is_outdated else "usable"),
        ("kernel", f"{kernel.binary}, {_size(kernel)}"),
        ("", f"sha256 {kernel.sha256}"),
        ("source", kernel.source),
        ("", f"sha256 {kernel.source_sha256}"),
        *(
            ("recipe" if index == 0 else "", f"{name}, sha256 {digest[:16]}...")
            for index, (name, digest) in enumerate(kernel.recipe.items())
        ),
        ("compiler", kernel.compiler),
        ("built", f"{kernel.built}, in {duration_text(kernel.build_s)}"),
        ("options not in this version", ", ".join(kernel.absent_options) or "none"),
    ]
    console = Console(highlight=False)
    for name, value in rows:
        console.print(f"{name:<28} {value}", soft_wrap=True)


def print_built(kernel: Kernel) -> None:
    """What a build made, and what to do with it."""
    console = Console(highlight=False)
    console.print(f"{kernel.name} ({kernel.release}, {_size(kernel)}): {kernel.binary}", soft_wrap=True)


def _size(kernel: Kernel) -> str:
    return bytes_text(kernel.binary.stat().st_size)
