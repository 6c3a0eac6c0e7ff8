"""Every verb and option, from the command line itself: one page a verb."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from pathlib import Path

import click

from bitwright.cli.main import VERBS, cli
from bitwright.cli.options import grouped


def pages(_root: Path) -> Iterator[tuple[str, str]]:
    context = click.Context(cli, info_name="bitwright")
    rows = []
    for verb in VERBS:
        command = cli.get_command(context, verb)
        assert command is not None
        rows.append(f"| [`{verb}`](verbs/{verb}.md) | {_prose((command.help or '').strip().split(chr(10) * 2)[0])} |")
        yield f"verbs/{verb}.md", _page(verb, command, click.Context(command, context, info_name=verb))
    table = "\n".join(["| verb | what it does |", "|---|---|", *rows])
    yield (
        "command-line.md",
        f"""# The command line

Every verb and its options, as `bitwright VERB --help` prints them too.

{table}

`bitwright --version` prints the version, and `-h` or `--help` stands for help everywhere. What a command prints with
`--json` is in [JSON](../reference/json.md), what its exit code means in [exit codes](../reference/json.md#exit-codes).
""",
    )


def _page(verb: str, command: click.Command, context: click.Context) -> str:
    usage = " ".join([f"bitwright {verb}", *command.collect_usage_pieces(context)])
    lines = [f"# bitwright {verb}", f"```\n{usage}\n```", _prose(command.help or ""), _prose(command.epilog or "")]
    lines.append(f"```{{program}} bitwright {verb}\n```")
    for title, options in grouped(command, context).items():
        lines += [f"## {title}", *(_option(option, context) for option in options)]
    return "\n\n".join(lines) + "\n"


def _option(option: click.Option, context: click.Context) -> str:
    names, meaning = option.get_help_record(context) or ("", "")
    if not option.secondary_opts:
        value = "" if option.is_flag else option.make_metavar(context)
        names = ", ".join(f"{name} {value}".strip() for name in sorted(option.opts, key=len))
    return f"````{{option}} {names}\n{_prose(meaning)}\n````"


def _prose(text: str) -> str:
    """Help text as Markdown: what click prints as it stands becomes a block of code."""
    parts = (part.partition("\b\n") for part in re.split(r"\n\s*\n", inspect.cleandoc(text)))
    return "\n\n".join(f"```\n{inspect.cleandoc(rest)}\n```" if rest else _marked(head) for head, _, rest in parts)


def _marked(text: str) -> str:
    """Options, and all between backticks, as code; brackets and stars as they stand."""
    parts = re.split(r"(`[^`]+`)", " ".join(text.split()))
    parts[::2] = [re.sub(r"([\\*_\[\]<>|`])", r"\\\1", part) for part in parts[::2]]
    parts[::2] = [re.sub(r"(?<![\w`-])(--?[a-z][a-z-]*\w)(?![\w`])", r"`\1`", part) for part in parts[::2]]
    return "".join(parts)
