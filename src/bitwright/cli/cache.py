"""`bitwright cache`: the networks that runs have trained on the spot and kept, and how to be rid of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from bitwright.cli.options import json_option
from bitwright.cli.reporting import print_json
from bitwright.errors import InputError, counted

if TYPE_CHECKING:
    from pathlib import Path

    from bitwright.networks.cache import CachedNetwork


@click.command("cache")
@click.option(
    "--check", is_flag=True, help="Read every entry whole and compare it with its digest; exit 1 if one fails."
)
@click.option("--clear", is_flag=True, help="Remove all entries. Other files in the folder stay.")
@json_option
def command(check: bool, clear: bool, as_json: bool) -> int:
    """Show where networks that were trained on the spot are kept, which there are, and how large they are.

    The folder is bitwright/networks in $BITWRIGHT_CACHE if that is set, else in $XDG_CACHE_HOME, else in ~/.cache. An
    entry that is damaged is never used: it is trained again and replaced.
    """
    from bitwright.networks.cache import clear_cache, entries, networks_folder

    folder = networks_folder()
    if clear:
        if check:
            raise InputError("--clear removes all entries, sound or not; leave out --check")
        count, size = clear_cache()
        if as_json:
            print_json({"folder": str(folder), "removed": count, "bytes": size})
        else:
            click.echo(f"removed {counted(count, 'network')}, {_readable(size)}, from {folder}")
        return 0
    found = list(entries())
    problems = {entry.path: _problem(entry, check) for entry in found}
    if as_json:
        print_json(
            {
                "folder": str(folder),
                "bytes": sum(entry.bytes for entry in found),
                "checked": check,
                "entries": [_document(entry, problems[entry.path]) for entry in found],
            }
        )
    else:
        _print(folder, found, problems)
    return 1 if check and any(problems.values()) else 0


def _problem(entry: CachedNetwork, check: bool) -> str | None:
    """Why an entry will not be used, as far as is seen without reading it whole, or by reading it."""
    from bitwright.networks.store import check_network_file

    if entry.problem is not None or not check:
        return entry.problem
    try:
        check_network_file(entry.path)
    except InputError as error:
        return str(error)
    return None


def _document(entry: CachedNetwork, problem: str | None) -> dict[str, object]:
    from bitwright.api.trained import algorithm_of, length_of

    known: dict[str, object] = {}
    if entry.about is not None:
        origin, algorithm = entry.about.origin, algorithm_of(entry.about)
        known = {
            "program_id": origin.program_id,
            "algorithm": None if algorithm is None else algorithm.name,
            "bits": None if algorithm is None else length_of(algorithm),
            "examples": len(entry.about.examples) + origin.padding,
            "width": entry.about.width,
            "seed": origin.seed,
            "member": origin.member,
            "padding": origin.padding,
            "start": origin.start,
            "parametrization": origin.parametrization,
            "digest": entry.about.digest,
        }
    return {"file": entry.path.name, "bytes": entry.bytes, **known, "problem": problem}


def _print(folder: Path, found: list[CachedNetwork], problems: dict[Path, str | None]) -> None:
    from bitwright.api.trained import what_of

    click.echo(f"{folder}: {counted(len(found), 'network')}, {_readable(sum(entry.bytes for entry in found))}")
    for entry in found:
        if entry.about is None:
            what = "unreadable"
        else:
            origin = entry.about.origin
            member = f", member {origin.member}" if origin.member else ""
            padding = f", padding {origin.padding:,}" if origin.padding else ""
            what = f"{what_of(entry.about)}, width {entry.about.width:,}, seed {origin.seed}{member}{padding}"
        click.echo(f"  {_readable(entry.bytes):>9}  {what}{'; not usable' * (problems[entry.path] is not None)}")


def _readable(size: int) -> str:
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= scale:
            return f"{size / scale:.3g} {unit}"
    return f"{size} B"
