"""The `bitwright` command: finds the verb, and turns every error into one line and an exit code.

The exit code is 0 for success, 1 for a negative result, such as a run that does not halt, and 2 for invalid input.
"""

from __future__ import annotations

import atexit
import gc
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

import click

from bitwright.cli.options import spell_option
from bitwright.common.errors import BitwrightError, TrainCellsError, spelling, suggestion
from bitwright.verbs.open import NAMES
from bitwright.version import __version__

VERBS = (
    *("add", "multiply", "run", "check", "show", "trace", "serve"),
    *("train", "certify", "validate", "size", "export", "infer"),
    "examples",
)
_LONGEST = 1_000  # characters kept at each end of a long message
atexit.register(gc.freeze)  # spares a search for garbage at exit, a tenth of the time of a short command


class _Verbs(click.Group):
    """Loads the module of a verb when the verb is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in VERBS:
            return None
        place = {"add": "run:add", "multiply": "run:multiply"}.get(cmd_name, f"{cmd_name}:command")
        module, _, name = place.partition(":")
        command: click.Command = getattr(import_module(f"bitwright.cli.{module}"), name)
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
    gc.set_threshold(50_000)  # few objects of a command become garbage before it ends
    try:
        with spelling(spell_option):
            code = command.main(arguments, prog_name=name, standalone_mode=False)
        return code if isinstance(code, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.ctx.get_help() if error.ctx else "", err=True)
        return 2
    except click.NoSuchOption as error:
        negative = [one for one in arguments if re.fullmatch(r"-[0-9][0-9_]*", one)]
        return _refuse(f"numbers must be 0 or more, got {negative[0]}" if negative else error.format_message())
    except click.ClickException as error:
        return _refuse(error.format_message())
    except TrainCellsError as error:
        return _refuse(f"{error}; train one with bitwright train PROGRAM --sizes SIZES -o FILE")
    except BitwrightError as error:
        return _refuse(str(error))
    except (click.Abort, KeyboardInterrupt) as error:
        kept = (error.__cause__ or error).args  # click raises Abort from KeyboardInterrupt
        click.echo("; ".join(["bitwright: stopped", *map(str, kept)]), err=True)
        return 130
    except MemoryError:
        return _refuse("not enough memory for a program of this size")
    except OSError as error:
        what = "write the output" if error.filename is None else f"use {error.filename}"
        if error.filename is None:  # drops what the buffer still holds
            with suppress(OSError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return _refuse(f"cannot {what}: {error.strerror or error}")


def _refuse(message: str) -> int:
    line = " ".join(message.split())
    if len(line) > _LONGEST:  # the message quotes arguments of any length
        line = f"{line[:_LONGEST]} ... {line[-_LONGEST:]}"
    with suppress(OSError):
        click.echo(f"bitwright: {line}", err=True)
    return 2
