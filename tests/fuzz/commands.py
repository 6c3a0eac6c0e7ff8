"""The command line itself: every verb that is quick, with arguments and options of its own, and values of all sorts."""

import io
from contextlib import redirect_stderr, redirect_stdout
from random import Random

import click
from fuzz.mutations import NASTY
from fuzz.reader import Reader
from fuzz.texts import EXAMPLES

from bitwright.cli.main import cli, main
from bitwright.common.errors import InputError

VERBS = ("add", "multiply", "run", "check", "show", "trace", "certify", "size")
_WRITES = {"output", "checkpoint", "output_format"}  # options that write files
_FILES = (
    *("addition.bw", "gray.bw", "sbn/gcd.sbn", "subleq/hello.sq", "subleq/echo.sq", "nothing.bw"),
    *("",),
)
_WORDS = (
    *("0", "1", "2", "3", "4", "-1", "1.5", "nan", "1e-3", "0.5", "9" * 30, "0x3", "101", "a=1", "a=1", "b=2", "p=1"),
    *("addition", "permutation", "machine-v", "templates", "limit", "sampled", "calibrated", "sign"),
    *("howerj",),
    *("A", "B", "V", "all", "ray:0", "2,1", "blocks", "declared", "text", "svg", "--", "-h", "--help", "--version"),
)
_SHORT = tuple(text for text in NASTY if 0 < len(text) < 100 and "\0" not in text)


def arguments(rng: Random) -> list[str]:
    verb = rng.choice(VERBS)
    with click.Context(cli) as context:
        command = cli.get_command(context, verb)
    assert command is not None
    options = [p for p in command.params if isinstance(p, click.Option) and p.name not in _WRITES]
    found = [verb]
    for _ in range(rng.randint(0, 2)):
        found.append(_value(rng))
    for option in rng.sample(options, min(len(options), rng.randint(0, 3))):
        found.append(rng.choice(option.opts))
        if not option.is_flag:
            found.append(str(rng.choice(option.type.choices)) if _chosen(rng, option) else _value(rng))
    if verb == "trace" and "--max-steps" not in found:
        found += ["--max-steps", "200"]  # a machine without a host waits at its ports, as long as it may
    return found


def _chosen(rng: Random, option: click.Option) -> bool:
    return isinstance(option.type, click.Choice) and rng.random() < 0.8


def _value(rng: Random) -> str:
    pick = rng.random()
    if pick < 0.4:
        return str(EXAMPLES / rng.choice(_FILES))
    return rng.choice(_SHORT) if pick < 0.5 else rng.choice(_WORDS)


def call(given: list[str]) -> None:
    """Runs the command; what it says when it refuses is one line."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    with redirect_stdout(out), redirect_stderr(err):
        code = main(given)
    printed, said = (stream.buffer.getvalue().decode() for stream in (out, err))  # type: ignore[attr-defined]
    assert code in (0, 1, 2), f"exit code {code}"
    if code == 2 and not said.startswith("Usage"):
        assert (said[:11], said[-1:], printed) == ("bitwright: ", "\n", ""), f"refused with {said!r}"
        raise InputError(said[:-1])


READERS = (Reader("command lines", arguments, call),)
