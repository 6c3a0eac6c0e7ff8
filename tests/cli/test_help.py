"""`--help` explains every option, and what can stand for FILE|NAME."""

from __future__ import annotations

import click
import pytest
from cases import for_each

from bitwright.api.open import NAMES
from bitwright.cli.main import VERBS, cli
from bitwright.engines.make import ENGINES
from bitwright.theory import ROUNDINGS


def verb(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


def said(name: str) -> str:
    """The help of a verb, without line breaks."""
    return " ".join(verb(name).get_help(click.Context(verb(name))).split())


@for_each("name", VERBS)
def test_every_option_says_what_it_is(name: str) -> None:
    options = [one for one in verb(name).params if isinstance(one, click.Option)]
    assert [one.opts for one in options if not one.help] == []


@for_each("name", VERBS)
def test_what_stands_for_file_and_name(name: str) -> None:
    usage = " ".join(verb(name).collect_usage_pieces(click.Context(verb(name))))
    explained = all(word in said(name) for word in (*NAMES, ".bw", ".sbn", ".sq", ".dec"))
    assert explained or "FILE|NAME" not in usage


@pytest.mark.parametrize("name", ["add", "run", "trace", "validate"])
def test_engines_and_roundings_are_explained_where_they_are_chosen(name: str) -> None:
    text = {one.opts[0]: one.help or "" for one in verb(name).params if isinstance(one, click.Option)}
    assert all(f"{engine} (" in text["--engine"] for engine in ENGINES)
    assert all(f"{rounding} (" in text["--rounding"] for rounding in ROUNDINGS)
