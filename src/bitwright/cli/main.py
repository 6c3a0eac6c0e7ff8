"""The `bitwright` command: finds the verb, and turns every error into one line and an exit code.

Exit code 0: success. 1: a negative result, such as a run that does not halt or a file with problems. 2: invalid input.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import click

from bitwright.cli.changes import INSTEAD
from bitwright.cli.streams import patient_streams
from bitwright.cli.targets import asked_program, spell_option, training_command
from bitwright.common.errors import BitwrightError, InputError, TrainCellsError, spelling, suggestion
from bitwright.verbs.open import NAMES
from bitwright.version import __version__

VERBS = (
    *("add", "multiply", "run", "check", "show", "trace", "serve"),
    *("train", "certify", "validate", "size", "export", "infer"),
    *("examples", "cache"),
)


_LONGEST = 1_000  # characters kept at each end of a long message


class _Verbs(click.Group):
    """Loads the module of a verb when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        command: click.Command = import_module(f"bitwright.cli.{cmd_name}").command
        notes = []
        if any("FILE|NAME" in (one.metavar or "") for one in command.params):
            notes.append(f"FILE: rule text (.bw), SBN (.sbn), SUBLEQ (.sq, .dec). NAME: {', '.join(NAMES)}.")
        if "examples/" in (command.help or "") and cmd_name != "examples":
            notes.append("`bitwright examples` writes the files below examples/.")
        command.epilog = " ".join(notes) or None
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Lists every verb with the first sentence of its help."""
        commands = {verb: self.get_command(ctx, verb) for verb in VERBS}
        with formatter.section("Commands"):
            formatter.write_dl([(verb, one.get_short_help_str(10_000)) for verb, one in commands.items() if one])

    def invoke(self, ctx: click.Context) -> object:
        """Adds to an error the command that trains the missing network of cells."""
        try:
            return super().invoke(ctx)
        except TrainCellsError as error:
            if (asked := asked_program()) is None:
                raise
            raise InputError(f"{error}: {training_command(*asked)}") from None

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and not args[0].startswith("-") and args[0] not in VERBS:
            hint = suggestion(args[0], VERBS) or f"; the commands are {', '.join(VERBS)}"
            raise click.UsageError(f"there is no command '{args[0][:40]}'{hint}")
        return super().resolve_command(ctx, args)


@click.group(cls=_Verbs, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="bitwright", message="%(prog)s %(version)s")
def cli() -> None:
    """Write an algorithm as bit rules and run it exactly.

    \b
    bitwright add 719 483
    bitwright multiply 719 483
    bitwright run permutation p=0b10110 --order 3,1,2,5,4
    bitwright examples
    bitwright run examples/subtraction.bw a=719 b=483
    bitwright certify examples/transformers/adder.task --network examples/transformers/adder.safetensors
    """


def main(arguments: Sequence[str] | None = None, command: click.Command = cli, name: str = "bitwright") -> int:
    """Runs the command line, or another command in the same way, and returns its exit code."""
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    try:
        with patient_streams(), spelling(spell_option):
            return _answer(arguments, command, name)
    except OSError as error:
        what = "write the output" if error.filename is None else f"use {error.filename}"
        return _refuse(f"cannot {what}: {error.strerror or error}")


def _answer(arguments: list[str], command: click.Command, name: str) -> int:
    try:
        code = command.main(arguments, prog_name=name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return 2
    except click.NoSuchOption as error:
        return _refuse(_negative(arguments) or _changed(error.option_name) or error.format_message())
    except click.ClickException as error:
        return _refuse(error.format_message())
    except BitwrightError as error:
        return _refuse(str(error))
    except (click.Abort, KeyboardInterrupt):
        click.echo("bitwright: stopped", err=True)
        return 130
    except MemoryError:
        return _refuse("not enough memory for a program of this size")
    return code if isinstance(code, int) else 0


def _refuse(message: str) -> int:
    line = " ".join(message.split())
    if len(line) > _LONGEST:  # the message quotes arguments of any length
        line = f"{line[:_LONGEST]} ... {line[-_LONGEST:]}"
    with suppress(OSError):
        click.echo(f"bitwright: {line}", err=True)
    return 2


def _changed(name: str) -> str | None:
    """The error for an option of an earlier version; None for any other."""
    return f"{name} was removed: {INSTEAD[name]}" if name in INSTEAD else None


def _negative(arguments: Sequence[str]) -> str | None:
    """The error for a negative number, which the parser reads as an option; None without one."""
    for argument in arguments:
        if re.fullmatch(r"-[0-9][0-9_]*", argument):
            return f"numbers must be 0 or more, got {argument}"
    return None
