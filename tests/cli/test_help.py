"""`--help` explains every option, and what can stand for FILE|NAME."""

import click
import pytest
from cases import for_each

from bitwright.cli.main import VERBS, cli
from bitwright.cli.options import grouped
from bitwright.theory.rounding import ROUNDINGS
from bitwright.verbs.engines import ENGINES
from bitwright.verbs.open import NAMES


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


@for_each("name", VERBS)
def test_help_has_every_option_once_below_what_it_is_about(name: str) -> None:
    context = click.Context(verb(name))
    lines, found = verb(name).get_help(context).splitlines(), grouped(verb(name), context)
    options = [one for several in found.values() for one in several]
    own = [one for one in verb(name).get_params(context) if isinstance(one, click.Option)]
    assert sorted(one.opts for one in options) == sorted(one.opts for one in own)
    places = [lines.index(f"{title}:") for title in found]
    assert places == sorted(places)
    for (title, several), first, last in zip(found.items(), places, [*places[1:], len(lines)], strict=True):
        for one in several:
            assert any(f" {one.opts[-1]}" in f" {line}" for line in lines[first + 1 : last]), (title, one)


# What means the same in every verb has one text: another would be another meaning.
SAME = ("order", "let", "width", "rounding", "padding", "tile")


@pytest.mark.parametrize("name", SAME)
def test_an_option_means_the_same_in_every_verb(name: str) -> None:
    options = [one for each in VERBS for one in verb(each).params if f"--{name}" in one.opts]
    assert len(options) > 1
    assert len({one.help for one in options if isinstance(one, click.Option)}) == 1
