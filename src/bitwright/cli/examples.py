"""`bitwright examples`: writes the files that the documentation mentions, for users without the repository."""

from __future__ import annotations

from pathlib import Path

import click

from bitwright.cli import options as opt
from bitwright.cli.reporting import print_json
from bitwright.common.errors import counted

_TRY = """try, {here}:
  bitwright run examples/subtraction.bw a=719 b=483
  bitwright run examples/graphs/bfs.bw --graph grid:2x3 source=0.0 --engine network
  bitwright trace examples/sbn/gcd.sbn a=12 b=18 -o gcd.html
  jupyter lab examples/the-paper-in-ten-minutes.ipynb"""


@opt.verb("examples")
@click.argument("folder", type=opt.FILE, required=False)
@opt.json
def command(folder: Path | None, as_json: bool) -> None:
    """Write the examples that pages and help speak of, so that every command shown there can be typed.

    Programs and notebooks go into the folder examples, and the program that checks certificates without this package
    into sceptic/check_network.py; both below FOLDER, which is the current folder unless another is named. Files that
    are there and the same are left alone. If one differs, nothing is written.

    \b
    bitwright examples
    bitwright run examples/subtraction.bw a=719 b=483
    """
    from bitwright.verbs.examples import example_files, write_examples

    place = Path() if folder is None else folder
    written = set(write_examples(place))
    files = example_files()
    if as_json:
        entries = [{"file": one.name, "about": one.about, "written": one.name in written} for one in files]
        print_json({"folder": str(place), "entries": entries})
    else:
        where, kept = f"{place / 'examples'} and {place / 'sceptic'}", len(files) - len(written)
        there = f"; {kept:,} were there already" if kept else ""
        wrote = f"wrote {counted(len(written), 'file')} into {where}{there}"
        click.echo(wrote if written else f"all {kept:,} files are in {where} already")
        click.echo(_TRY.format(here="here" if folder is None else f"in {place}"))
