"""What hosts ask of this machine beside a network, and their files in the run directory."""

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from longhaul import storage
from longhaul.diagnostics import Code
from longhaul.errors import LonghaulError
from longhaul.scenario.model.host_settings import CAPABILITIES
from longhaul.scenario.model.program import ENTRYPOINT

if TYPE_CHECKING:
    from longhaul.diagnostics import Diagnostic
    from longhaul.plan import Node, Plan, Program
    from longhaul.run.images import Configuration, Image
    from longhaul.scenario import Resolved
    from longhaul.scenario.model.node import Node as Host

CONTENTS = "raw/files"
"""Files of hosts in the run directory, by their hash; the twin of ``CONTENTS`` in ``crates/live``."""
LIMITS = ("cpu", "memory")
"""Keys of resources that control groups limit."""
_READABLE, _EXECUTABLE = 0o444, 0o555


def require(resolved: "Resolved", *, sudo: bool = False) -> None:
    """Raise ScenarioError with the place of each setting that this machine cannot give."""
    problems = list(_problems(resolved, sudo=sudo))
    if problems:
        from longhaul.run.ports import EXIT_CANNOT
        from longhaul.scenario import ScenarioError

        refused = ScenarioError(problems)
        refused.exit_code = EXIT_CANNOT
        raise refused


def unknown_users(resolved: "Resolved") -> "list[Diagnostic]":
    """Users of hosts that their images and root directories do not have, as far as these are here."""
    found: list[Diagnostic] = []
    is_root = os.geteuid() == 0
    for key, node in resolved.scenario.document.nodes.items():
        wrong: tuple[tuple[str, ...], tuple[str, str] | None] | None = None
        if node.image is not None:
            try:
                image = _image(node.image, resolved.scenario.inputs().folder)
            except LonghaulError:
                continue
            wrong = _wrong_user_of_image(node, image, is_root=is_root)
        elif node.rootfs is not None and node.user is not None:
            passwd = _root_directory(resolved, node.rootfs) / "etc/passwd"
            wrong = ("user",), _wrong_user(node.user, passwd, _read(passwd)) if passwd.is_file() else None
        if wrong is not None and wrong[1] is not None:
            path = ("nodes", key, *wrong[0])
            found.append(resolved.scenario.problem(Code.HOST_SETTINGS_UNAVAILABLE, path, *wrong[1]))
    return found


def _problems(resolved: "Resolved", *, sudo: bool) -> "Iterator[Diagnostic]":
    is_root = sudo or os.geteuid() == 0
    for key, node in resolved.scenario.document.nodes.items():
        found: list[tuple[tuple[str, ...], tuple[str, str] | None]] = []
        if node.image is not None:
            found.append(_wrong_image(resolved, node, is_root=is_root))
        elif node.rootfs is None:
            found += [(("files", target), _wrong_target(Path(target))) for target in node.files]
        else:
            found.append((("rootfs",), _wrong_root(_root_directory(resolved, node.rootfs))))
        if node.user not in (None, "root", "0") and not is_root:
            message = f"an ordinary user's run has no user {node.user}: its only user is root of the run"
            found.append((("user",), (message, "run it with --sudo or as root, or leave it out")))
        elif node.user is not None and node.image is None:
            root = Path("/") if node.rootfs is None else _root_directory(resolved, node.rootfs)
            found.append((("user",), _wrong_user(node.user, root / "etc/passwd", _read(root / "etc/passwd"))))
        found += [(("capabilities",), wrong) for wrong in _capabilities_without_effect(resolved, node)]
        if not sudo:
            found += [((limit,), _wrong_limit(limit)) for limit in LIMITS if getattr(node, limit) is not None]
        for path, wrong in found:
            if wrong is not None:
                yield resolved.scenario.problem(Code.HOST_SETTINGS_UNAVAILABLE, ("nodes", key, *path), *wrong)


def _image(name: str, folder: Path) -> "Image":
    from longhaul.run import images

    return images.find(name, folder)


def _wrong_user(user: str, passwd: Path | str, content: bytes) -> tuple[str, str] | None:
    """Why a host with this ``passwd`` has no such user, and what helps."""
    lines = content.decode(errors="replace").splitlines()
    if user.isdecimal() or any(line.partition(":")[0] == user for line in lines):
        return None
    return f"{passwd} has no user {user}", "write one that it has, or a number"


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _capabilities_without_effect(resolved: "Resolved", node: "Host") -> Iterator[tuple[str, str]]:
    """Those of a host that strict isolation takes from all programs, and what helps."""
    from longhaul import _longhaul

    left = _longhaul.strict_capabilities() if resolved.scenario.document.isolation == "strict" else -1
    for name in node.capabilities or ():
        if not left >> CAPABILITIES.index(name) & 1:
            message = f"isolation: strict takes {name} from all programs"
            yield message, "leave it out, or write isolation: none"


def _wrong_limit(limit: str) -> tuple[str, str] | None:
    """Why this machine cannot limit a resource of hosts, and what helps."""
    from longhaul import _longhaul

    try:
        _longhaul.check_limits(cpu=limit == "cpu", memory=limit == "memory")
    except _longhaul.LiveError as error:
        return error.message, error.remedy or "leave it out"
    return None


def _root_directory(resolved: "Resolved", written: str) -> Path:
    return resolved.scenario.inputs().folder / written


def _wrong_root(directory: Path) -> tuple[str, str] | None:
    """Why no host can have this root directory, and what helps."""
    try:
        if not directory.is_dir():
            what = "is not a directory" if directory.exists() else "is not there"
            remedy = f"make it, for example: mmdebstrap --variant=minbase stable {directory}"
            return f"{directory} {what}", remedy
        if not any(directory.iterdir()):
            return f"{directory} is empty", "name a directory with the files of a system"
    except OSError as error:
        return f"{directory}: {str(error.strerror).lower()}", "name a directory that this user can read"
    return None


def _wrong_image(
    resolved: "Resolved", node: "Host", *, is_root: bool
) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """Why a host cannot have the files of its image, or no such user, and what helps."""
    try:
        image = _image(node.image or "", resolved.scenario.inputs().folder)
        return _wrong_user_of_image(node, image, is_root=is_root)
    except LonghaulError as error:
        return ("image",), (error.message, error.remedy or "name another image")


def _wrong_user_of_image(
    node: "Host", image: "Image", *, is_root: bool
) -> tuple[tuple[str, ...], tuple[str, str] | None]:
    """Why the image of a host does not have the user of its programs, and what helps."""
    user = node.user or (image.configuration.user if is_root else None)
    place = ("image",) if node.user is None else ("user",)
    if user is None or user.isdecimal():
        return place, None
    passwd = image.file("etc/passwd") or b""
    return place, _wrong_user(user, f"/etc/passwd of the image {node.image}", passwd)


def with_images(resolved: "Resolved", plan: "Plan", *, is_root: bool, merged: bool = False) -> "Plan":
    """The plan with absolute paths of root directories, and what images say about their hosts' programs.

    With ``merged``, an image is one directory. Raises LonghaulError for an image that cannot be unpacked.
    """
    nodes = list(plan["nodes"])
    configurations: dict[int, Configuration] = {}
    for index, node in enumerate(nodes):
        settings = node.get("settings")
        if settings and (root := settings.get("root")):
            written = root.get("image")
            if written is None:
                directories = [
                    str(_root_directory(resolved, each).absolute()) for each in root["directories"]
                ]
            else:
                image = _image(written, resolved.scenario.inputs().folder)
                configurations[index] = image.configuration
                directories = image.directories(merged=merged)
            settings = {**settings, "root": {**root, "directories": directories}}
            own = configurations.get(index)
            if own is not None and own.user is not None and is_root and "user" not in settings:
                settings = {**settings, "user": own.user}
            nodes[index] = {**node, "settings": settings}
    programs = [
        _configured(program, configurations[program["host"]])
        if program["host"] in configurations and not program.get("plays")
        else program
        for program in plan["programs"]
    ]
    return {**plan, "nodes": nodes, "programs": programs}


def _configured(program: "Program", image: "Configuration") -> "Program":
    """A program of a host with an image, as this says that its programs run. Raises LonghaulError."""
    argv = list(program["argv"])
    if argv[0] == ENTRYPOINT:
        argv = [*image.entrypoint, *argv[1:]] if len(argv) > 1 else list(image.command)
        if not argv:
            message = f"program {program['name']}: its image has neither an entry point nor a command"
            raise LonghaulError(Code.HOST_SETTINGS_UNAVAILABLE, message, remedy="write run: COMMAND")
    return {
        **program,
        "argv": argv,
        "env": {**image.environment, **program["env"]},
        "cwd": program["cwd"] or image.working_directory,
    }


def _wrong_target(target: Path) -> tuple[str, str] | None:
    """Why no file can be in this place, and what helps."""
    from longhaul import _longhaul

    if target.is_file():
        return None
    if target.exists():
        return f"{target} is not a file on this machine", "name a file, or one that is not there"
    above = next(each for each in target.parents if each.exists())
    if not above.is_dir():
        return f"{above} is not a directory on this machine", "name a place in a directory"
    directories = [Path(each) for each in _longhaul.system_directories()]
    if not any(above.resolve().is_relative_to(each) for each in directories):
        listed = ", ".join(str(each) for each in directories if each.is_dir())
        return (
            f"{target} does not exist on this machine, and hosts write to {above}",
            f"make it, so that it can be replaced; files are added only to {listed}",
        )
    return None


def contents(resolved: "Resolved", nodes: "Sequence[Node]") -> Mapping[str, tuple[bytes, int]]:
    """The files of hosts, by their places in the run directory, each with its mode."""
    known: dict[str, bytes] | None = None
    found: dict[str, tuple[bytes, int]] = {}
    for node in nodes:
        for file in (node.get("settings") or {}).get("files", ()):
            known = resolved.files() if known is None else known
            is_program = file.get("executable", False)
            place = f"{CONTENTS}/{file['sha256']}{'.x' if is_program else ''}"
            found[place] = known[_name(resolved, file["source"])], _EXECUTABLE if is_program else _READABLE
    return found


def _name(resolved: "Resolved", source: str) -> str:
    """What the files of a scenario call the one that it calls ``source``."""
    folder = resolved.scenario.inputs().folder
    path = folder / source
    return str(path.relative_to(folder) if path.is_relative_to(folder) else path)


def write(directory: Path, files: Mapping[str, tuple[bytes, int]]) -> None:
    """Write ``files`` into the run directory. Raises LonghaulError."""
    if files:
        storage.make_directory(directory / CONTENTS)
    for place, (content, mode) in files.items():
        storage.replace_bytes(directory / place, content)
        (directory / place).chmod(mode)
