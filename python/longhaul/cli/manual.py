"""``longhaul manual`` and ``longhaul completion``: help where a shell looks for it."""

import re
from collections.abc import Iterator

import click


@click.command()
def manual() -> None:
    """Print the manual page, with all commands and their options.

    \b
    longhaul manual | man -l -
    longhaul manual > ~/.local/share/man/man1/longhaul.1
    """
    context = click.get_current_context().find_root()
    click.echo("\n".join(_page(context)))


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(shell: str) -> None:
    """Print the completion script of SHELL, for commands, options and files.

    \b
    eval "$(longhaul completion bash)"                  # for this shell; in ~/.bashrc for all
    longhaul completion zsh > ~/.zfunc/_longhaul
    longhaul completion fish > ~/.config/fish/completions/longhaul.fish
    """
    from click.shell_completion import get_completion_class

    root = click.get_current_context().find_root().command
    maker = get_completion_class(shell)
    if maker is None:
        raise click.UsageError(f"no completion for {shell}")
    click.echo(maker(root, {}, "longhaul", "_LONGHAUL_COMPLETE").source())


def _page(context: click.Context) -> Iterator[str]:
    from importlib.metadata import version

    yield f'.TH LONGHAUL 1 "" "longhaul {version("longhaul")}" "User Commands"'
    yield ".SH NAME"
    yield rf"longhaul \- {_roff(context.command.get_short_help_str(200)).lower().rstrip('.')}"
    yield from _about(context, ".SH SYNOPSIS", ".SH DESCRIPTION", ".SH OPTIONS")
    yield ".SH COMMANDS"
    yield from _commands(context)
    yield ".SH EXIT STATUS"
    yield "0 good; 1 a program or an expectation failed; 2 wrong input or usage; 3 this machine cannot;"
    yield "4 finished, but the network was invalid (with --strict: or degraded, or hosts starved), or an"
    yield "expectation with else: untrusted failed; 70 internal error; 130 interrupted, partial results kept."


def _commands(context: click.Context) -> Iterator[str]:
    """All commands below ``context``, each under its whole name."""
    group = context.command
    assert isinstance(group, click.Group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if command is None or command.hidden:
            continue
        below = click.Context(command, parent=context, info_name=name)
        yield f".SS {_roff(below.command_path)}"
        yield from _about(below, "", "", "")
        if isinstance(command, click.Group):
            yield from _commands(below)


def _about(context: click.Context, synopsis: str, description: str, options: str) -> Iterator[str]:
    """How a command is called, what it does, and its options, under these headings."""
    command = context.command
    yield from (heading for heading in [synopsis] if heading)
    usage = " ".join(command.collect_usage_pieces(context))
    yield rf"\fB{_roff(context.command_path)}\fR {_roff(usage)}"
    yield description or ".PP"
    for paragraph in (command.help or "").split("\n\n"):
        if paragraph.lstrip().startswith("\b"):
            yield from (".PP", ".nf", _roff(paragraph.strip().removeprefix("\b\n")), ".fi")
        else:
            yield from (".PP", _roff(" ".join(paragraph.split())))
    yield options or ".PP"
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None and record[1]:
            yield from (".TP", rf"\fB{_roff(record[0])}\fR", _roff(" ".join(record[1].split())))


def _roff(text: str) -> str:
    """``text`` with what roff would read otherwise."""
    escaped = text.replace("\\", r"\e").replace("-", r"\-")
    return re.sub(r"^([.'])", r"\\&\1", escaped, flags=re.MULTILINE)
