"""Every verb and option, from the command line itself: one page a verb."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator

import click

from bitwright.cli.main import VERBS, cli
from bitwright.cli.options import grouped


def pages() -> Iterator[tuple[str, str]]:
    context = click.Context(cli, info_name="bitwright")
    commands = {verb: command for verb in VERBS if (command := cli.get_command(context, verb)) is not None}
    yield "command-line.md", _index(commands)
    for verb, command in commands.items():
        yield f"verbs/{verb}.md", _page(verb, command, click.Context(command, context, info_name=verb))


def _index(commands: dict[str, click.Command]) -> str:
    rows = "\n".join(f"| [`{verb}`](verbs/{verb}.md) | {short(command)} |" for verb, command in commands.items())
    return f"""# The command line

Every verb and its options, as `bitwright VERB --help` says them too.

| verb | what it does |
|---|---|
{rows}

`bitwright --version` prints the version, and `-h` or `--help` stands for help everywhere. What a command prints with
`--json` is in [JSON](../reference/json.md), what its exit code means in [exit codes](../reference/json.md#exit-codes).
"""


def _page(verb: str, command: click.Command, context: click.Context) -> str:
    pieces = " ".join(command.collect_usage_pieces(context))
    lines = [f"# bitwright {verb}", "", "```", f"bitwright {verb} {pieces}", "```", "", prose(command.help or "")]
    lines += ["", prose(command.epilog or "")]
    lines += ["", "```{program} bitwright " + verb, "```"]
    for title, options in grouped(command, context).items():
        lines += ["", f"## {title}", *(line for one in options for line in ("", _option(one, context)))]
    return "\n".join(lines) + "\n"


def _option(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    assert record is not None
    names, said = record
    said = " ".join(said.split())
    value = "" if option.is_flag else option.make_metavar(context)
    forms = ", ".join(f"{name} {value}".strip() for name in sorted(option.opts, key=len))
    if option.secondary_opts:
        forms = names
    return f"````{{option}} {forms}\n{marked(said)}\n````"


def short(command: click.Command) -> str:
    """The first sentence of a verb's help."""
    return marked(" ".join((command.help or "").strip().split("\n\n")[0].split()))


def prose(text: str) -> str:
    """Help text as Markdown: what click prints as it stands becomes a block of code."""
    parts = re.split(r"\n\s*\n", inspect.cleandoc(text))
    return "\n\n".join(_paragraph(part) for part in parts)


def _paragraph(part: str) -> str:
    head, mark, rest = part.partition("\b\n")
    if mark and not head.strip():
        return f"```\n{inspect.cleandoc(rest)}\n```"
    return marked(" ".join(part.split()))


def marked(text: str) -> str:
    """Options and what stands in backticks as code; brackets and stars as they stand."""
    return "".join(part if part.startswith("`") else _plain(part) for part in re.split(r"(`[^`]+`)", text))


def _plain(text: str) -> str:
    text = re.sub(r"([\\*_\[\]<>|`])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--?[a-z][a-z-]*\w)(?![\w`])", r"`\1`", text)
