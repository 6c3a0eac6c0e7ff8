"""`bitwright examples`: writes the files used in the documentation, for users without the repository."""

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
@click.argument("folder", type=opt.FILE, default=".")
def command(folder: Path, as_json: bool) -> None:
    """Write the examples used in the documentation and the help.

    Programs and notebooks go into FOLDER/examples. FOLDER/sceptic/check_network.py checks certificates without using
    this package. FOLDER defaults to the current folder. If an existing file has other contents, nothing is written.

    \b
    bitwright examples
    bitwright run examples/subtraction.bw a=719 b=483
    """
    from bitwright.verbs.examples import example_files, write_examples

    written, files = set(write_examples(folder)), example_files()
    if as_json:
        entries = [{"file": one.name, "about": one.about, "written": one.name in written} for one in files]
        print_json({"folder": str(folder), "entries": entries})
        return
    where, kept = f"{folder / 'examples'} and {folder / 'sceptic'}", len(files) - len(written)
    same = f"; {kept:,} existed already" if kept else ""
    wrote = f"wrote {counted(len(written), 'file')} into {where}{same}"
    click.echo(wrote if written else f"all {kept:,} files exist already in {where}")
    click.echo(_TRY.format(here="here" if folder == Path() else f"in {folder}"))
