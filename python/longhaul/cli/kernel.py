"""``longhaul kernel``: guest kernels for runs on the virtual clock."""

import json
from pathlib import Path

import click


@click.group()
def kernel() -> None:
    """Guest kernels: Linux as a program (User-Mode Linux), for runs on the virtual clock.

    Each host of such a run is a Linux kernel that is an ordinary process of this user, and Longhaul controls
    its clock. The kernel is built on this machine from the source of Linux, once for each user. Several
    versions can be installed side by side, in ~/.cache/longhaul/kernels.

    \b
    longhaul kernel build
    longhaul kernel list
    longhaul kernel info 6.12
    longhaul kernel remove 6.12.117
    """


@kernel.command()
@click.option(
    "--version",
    default="6.12",
    show_default=True,
    metavar="X.Y",
    help="Version of Linux: that of Debian's package linux-source-X.Y.",
)
@click.option(
    "--source",
    type=click.Path(exists=True, path_type=Path),
    help="Directory or tarball with the source of Linux, instead of Debian's package.",
)
@click.option("--name", help="Name of the kernel. Default: its version, for example 6.12.117.")
@click.option(
    "--jobs", "-j", type=click.IntRange(min=1), help="Compilers to run at once. Default: one for each CPU."
)
@click.option("--rebuild", is_flag=True, help="Build also if the same kernel is there.")
@click.option("--json", "as_json", is_flag=True, help="Print the record of the kernel as JSON.")
def build(
    version: str, source: Path | None, name: str | None, jobs: int | None, rebuild: bool, as_json: bool
) -> None:
    """Build a guest kernel; needs no privileges, some minutes, and 3 GB of disk space meanwhile.

    The source is /usr/src/linux-source-X.Y.tar.xz, or Debian's package of that name, which is fetched but not
    installed. It is unpacked, changed and compiled in ~/.cache/longhaul/kernels; the kernel (14 MB), its
    configuration and the log remain there. Needed are flex, bison, bc, make, gcc and xz.

    \b
    longhaul kernel build
    longhaul kernel build --source ~/linux-6.12.30 --name mine
    """
    from longhaul.cli.kernel_progress import BuildProgress
    from longhaul.cli.terminal.kernels import print_built
    from longhaul.kernels.building import build as build_kernel

    with BuildProgress() as progress:
        built = build_kernel(
            version, source=source, name=name, jobs=jobs, rebuild=rebuild, listen=progress.tell
        )
    if as_json:
        click.echo(json.dumps(built.as_json(), indent=1))
    else:
        print_built(built)


@kernel.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print the records of the kernels as JSON.")
def list_(as_json: bool) -> None:
    """List the guest kernels of this user, the newest version first.

    One that is outdated was built by another version of Longhaul, and runs do not use it.

    \b
    longhaul kernel list
    longhaul kernel list --json
    """
    from longhaul.cli.terminal.kernels import print_kernels
    from longhaul.kernels.cache import kernels

    if as_json:
        click.echo(json.dumps([each.as_json() for each in kernels()], indent=1))
    else:
        print_kernels(kernels())


@kernel.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print the record as JSON.")
def info(name: str, as_json: bool) -> None:
    """Show how the guest kernel NAME was built: source, hashes, compiler, options.

    NAME is a kernel's name, or the beginning of one: 6.12 is the newest 6.12.

    \b
    longhaul kernel info 6.12
    """
    from longhaul.cli.terminal.kernels import print_kernel
    from longhaul.kernels.cache import matching

    found = matching(name)
    if as_json:
        click.echo(json.dumps(found.as_json(), indent=1))
    else:
        print_kernel(found)


@kernel.command()
@click.argument("name")
def remove(name: str) -> None:
    """Remove the guest kernel NAME. Runs that use it are not disturbed.

    \b
    longhaul kernel remove 6.12.117
    """
    from longhaul.kernels.cache import remove as remove_kernel

    click.echo(f"removed {remove_kernel(name)}")
