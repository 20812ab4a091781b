"""From a resolved scenario to the files of an export."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from longhaul import storage
from longhaul.diagnostics import Code, Diagnostic
from longhaul.errors import LonghaulError
from longhaul.export import ansible, compose, containerlab, ewan
from longhaul.export.deployment import Deployment, Machine, deploy
from longhaul.export.machines import Machines
from longhaul.export.qdiscs import Kernel
from longhaul.export.shell import disciplines, hosts, script
from longhaul.scenario import Resolved


def listing(machine: Machine) -> str:
    """The commands of ``machine``; empty where it shapes nothing."""
    lines = []
    for port in machine.ports:
        commands = disciplines(port)
        if commands:
            lines += [f"# {port.link}, {port.way}: from {machine.name} to {port.peer}", *commands]
    return "\n".join(lines) + "\n" if lines else ""


Kind = Literal["tc", "shell", "ansible", "containerlab", "compose"]
Style = Literal["longhaul", "ewan"]


@dataclass(frozen=True)
class Exported:
    """Text by path, and what differs from a run."""

    files: dict[str, str]
    warnings: tuple[Diagnostic, ...]

    def together(self) -> str:
        """All files in one text, each under its path."""
        return "\n".join(f"# ==> {path} <==\n{text}" for path, text in self.files.items())


def export(
    resolved: Resolved,
    kind: Kind,
    *,
    machines: Machines | None = None,
    kernel: Kernel,
    style: Style = "longhaul",
    image: str | None = None,
) -> Exported:
    """The files that set ``resolved`` up on ``machines``; raises :class:`LonghaulError`.

    ``image``: of the containers of a lab for containerlab.
    """
    for option, value, kinds in (
        ("image", image, ("containerlab",)),
        ("machines", machines, ("tc", "shell", "ansible")),
    ):
        if value is not None and kind not in kinds:
            message = f"--{option} does not apply to export {kind}"
            raise LonghaulError(Code.OPTION_CONFLICT, message, remedy="leave it out", exit_code=2)
    if style == "ewan" and kind != "shell":
        message = f"eWAN's style does not include {kind}"
        raise LonghaulError(Code.EXPORT_IMPOSSIBLE, message, remedy="export shell --style ewan", exit_code=2)
    if kind == "compose":
        return Exported({compose.FILE: compose.override(resolved)}, ())
    deployment = deploy(resolved, machines=machines, kernel=kernel)
    if kind == "containerlab":
        return Exported(
            containerlab.files(deployment, image=image or containerlab.IMAGE), deployment.warnings
        )
    return Exported(_files(resolved, deployment, kind, kernel, style), deployment.warnings)


def write(exported: Exported, folder: Path) -> list[Path]:
    """Write all files into ``folder``, which need not be there; returns their paths."""
    written = []
    try:
        for name, text in exported.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            storage.replace_bytes(path, text.encode(), mode=0o755 if path.suffix == ".sh" else None)
            written.append(path)
    except OSError as error:
        message = f"cannot write into {folder}: {(error.strerror or 'it fails').lower()}"
        raise LonghaulError(
            Code.FILE_UNWRITABLE, message, remedy="name another folder with --out", exit_code=2
        ) from error
    return written


def _files(
    resolved: Resolved, deployment: Deployment, kind: Kind, kernel: Kernel, style: Style
) -> dict[str, str]:
    if style == "ewan":
        deployment = ewan.addressed(deployment)
        return {
            f"{machine.name}.sh": ewan.script(deployment, machine, resolved.plan, kernel)
            for machine in deployment.machines
        }
    if kind == "ansible":
        return ansible.files(deployment, hosts(deployment))
    if kind == "shell":
        scripts = {f"{machine.name}.sh": script(deployment, machine) for machine in deployment.machines}
        return {**scripts, "hosts": hosts(deployment)}
    lists = {f"{machine.name}.tc": listing(machine) for machine in deployment.machines}
    return {path: text for path, text in lists.items() if text}
