"""`bitwright certify`: a proof that the limit, or a network, runs a program exactly, or a state it gets wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from bitwright.cli.options import (
    bits_option,
    json_option,
    machine_option,
    order_option,
    padding_option,
    quiet_option,
    range_option,
    workers_option,
)
from bitwright.cli.progress import working
from bitwright.cli.reporting import StepProgress, note, print_json
from bitwright.cli.sizes import in_sizes
from bitwright.cli.targets import find_algorithm
from bitwright.errors import InputError, ProofError, listing

if TYPE_CHECKING:
    from bitwright.api.open import MachineChoice
    from bitwright.checking.certificate import Certificate
    from bitwright.program import Algorithm


def network_proof_options(function: Any) -> Any:
    """What goes with --network only."""
    for option in (
        click.option("--sizes", help="Of cells: the kinds of all these sizes, such as 1..64, or l=1..64."),
        click.option("--tile", type=click.IntRange(1, 16), help="Of the limit of cells: so many neighbours as one."),
        click.option(
            "--cells",
            is_flag=True,
            help="Prove every program made of these kinds of cells; the default for their networks.",
        ),
        click.option(
            "--state",
            metavar="BITS",
            help="With --network: look at the state with these bits on, none, or of cells kind2.",
        ),
        click.option(
            "--device", help="With --network: cpu or cuda.  [default: cpu; cuda for long proofs, if it is there]"
        ),
        click.option("--resume", type=click.Path(path_type=Path), help="With --network: keep what is done here."),
        workers_option,
        click.option("--yes", is_flag=True, help="With --network: go on even if it will take longer than 10 minutes."),
        click.option(
            "--domain",
            help="With --network: states (the default), runs (of all inputs), or cells, which is the default and the "
            "only one for a network of cells.",
        ),
    ):
        function = option(function)
    return function


def check_network_options(how: dict[str, Any]) -> None:
    """Raises InputError for an option that needs --network."""
    defaults = {"workers": "1"}
    for name, value in how.items():
        if value not in (None, False, defaults.get(name)):
            raise InputError(f"--{name} goes with --network; the proof of the limit has no states to go through")


def check_limit_options(given: dict[str, Any]) -> None:
    """Raises InputError for an option that does not go with --network."""
    for name, value in given.items():
        if value == "sign" and name == "rounding":
            raise InputError(
                "--rounding sign does not go with --network: under it the limit is exactly 0 where one example "
                "matches, and chance would decide; networks are proved with calibrated rounding"
            )
        if value is not None and value != "calibrated":
            raise InputError(f"--{name} does not go with --network; the network file says how it was trained")


@click.command("certify")
@click.argument("target", metavar="FILE|NAME")
@bits_option
@order_option
@machine_option
@click.option("--rounding", help="sign (the paper's) or calibrated (ours, the default).")
@range_option
@padding_option
@click.option("--output", "-o", type=click.Path(path_type=Path), help="Write the certificate to this file.")
@click.option("--check", type=click.Path(path_type=Path), help="Check this certificate file against the program.")
@click.option("--network", type=click.Path(path_type=Path), help="Prove this network instead of the limit.")
@network_proof_options
@json_option
@quiet_option
def command(
    target: str,
    bits: int | None,
    order: str | None,
    machine: MachineChoice | None,
    rounding: str | None,
    source: str | None,
    padding: int | None,
    output: Path | None,
    check: Path | None,
    network: Path | None,
    as_json: bool,
    quiet: bool,
    **how: Any,
) -> int:
    """Prove a trained network (--network FILE), or without one the limit of ever wider networks.

    With --network FILE the proof is of that very network: every state of a domain is tried, in exact arithmetic.
    Without it the proof is of the limit, the mean of infinitely wide networks, and says nothing of any one network.

    The verdict is certified, refuted (a state that comes out wrong is shown) or not proved. Exit 1 unless it is
    certified; with --check also if the file claims anything that does not hold.
    """
    from bitwright.api.engines import EngineChoice
    from bitwright.checking.cells import certify_cells
    from bitwright.checking.certificate import certify
    from bitwright.checking.certificate_file import save_certificate
    from bitwright.checking.exhaustion.certificate_file import is_network_certificate
    from bitwright.checking.ranges import matches_range
    from bitwright.theory import check_rounding

    if output is not None and output.suffix != ".json":
        raise InputError(f"-o takes a .json file, got {output}")
    if check is not None and (rounding is not None or source is not None or padding is not None):
        raise InputError("--check takes rounding, n and padding from the file; leave these options out")
    if network is not None:
        from bitwright.cli.certify_network import NetworkProof, prove_cells, prove_network

        check_limit_options({"rounding": rounding, "n": source, "padding": padding, "tile": how.pop("tile")})
        asked = NetworkProof(target, network, output, check, **how, machine=None if machine is None else machine.letter)
        if asked.is_of_cells:
            algorithm = find_algorithm(target, bits, order, machine=machine, cells=True)
            return prove_cells(algorithm, asked, as_json, quiet)
        algorithm = find_algorithm(target, bits, order, machine=machine, files=(network,))
        return prove_network(algorithm, asked, as_json, quiet)
    if check is not None and is_network_certificate(check):
        raise InputError(f"{check} is the certificate of a network; give its file with --network")
    by_cells, sizes, tile = how.pop("cells"), how.pop("sizes"), how.pop("tile")
    check_network_options(how)
    algorithm = find_algorithm(target, bits, order, machine=machine, cells=by_cells)
    pattern = graphs = None
    if by_cells or sizes is not None or tile is not None:
        from bitwright.api.cells import as_algorithm, pattern_of

        if source is not None:
            raise InputError("--n does not go with cells: n is the cell's own, at most one match in each of its blocks")
        with working("looking for kinds of cells"):
            looked = in_sizes(algorithm, sizes)
            pattern = pattern_of([one.algorithm.program for one in looked.programs], tile or 1)
        sizes, graphs = looked.text, looked.graphs if tile in (None, 1) else None
        algorithm = as_algorithm(pattern, f"cells of {algorithm.name}")
    with StepProgress(not quiet, "checking") as progress:
        if check is not None:
            try:
                certificate = _checked(check, algorithm, progress)
            except ProofError as error:
                return refused(str(error), algorithm, as_json, quiet)
        else:
            chosen = check_rounding(rounding or "calibrated")
            examples = EngineChoice(rounding=chosen, padding=padding).examples(algorithm)
            if pattern is not None:
                certificate = certify_cells(pattern, chosen, examples, progress)
            else:
                within = matches_range(algorithm, source, progress)
                certificate = certify(algorithm.program, chosen, within, examples, progress)
    if output is not None:
        save_certificate(certificate, output)
        note(f"wrote {output}", quiet)
    if as_json:
        print_json(
            {"name": algorithm.name, "of": "limit"}
            | asdict(certificate)
            | ({} if pattern is None else {"sizes": sizes, "pattern_id": certificate.program_id})
            | ({} if graphs is None else {"graphs": graphs})
            | ({} if check is None else {"holds": True})
        )
    elif quiet:
        click.echo(certificate.sentence)
    else:
        click.echo("\n".join(_report(algorithm, certificate, sizes, graphs, checked=check is not None)))
    return 0 if certificate.certified else 1


def _checked(path: Path, algorithm: Algorithm, progress: StepProgress) -> Certificate:
    """The certificate in a file, proved again; raises ProofError where it claims too much."""
    from bitwright.checking.certificate_file import check_certificate, load_certificate

    certificate = load_certificate(path)
    check_certificate(certificate, algorithm, progress)
    return certificate


def refused(reason: str, algorithm: Algorithm, as_json: bool, quiet: bool, of: str = "limit") -> int:
    if as_json:
        print_json(
            {
                "name": algorithm.name,
                "of": of,
                "holds": False,
                "certified": False,
                "reason": reason,
                "program_id": algorithm.program.id,
            }
        )
    else:
        click.echo("does not hold" if quiet else f"DOES NOT HOLD: {reason}")
    return 1


def _headline(c: Certificate) -> str:
    """The verdict in capitals, and what it rests on."""
    upper = c.sentence.replace(c.verdict, c.verdict.upper(), 1)
    if c.assumption:
        return f"{upper.replace(' assuming ', ' ASSUMING ')} (declared, not proved)"
    return f"{upper} (n <= {c.n_max:,})" if c.n_source == "reachable" else upper


def _report(
    algorithm: Algorithm, c: Certificate, sizes: str | None, graphs: str | None, checked: bool
) -> Iterator[str]:
    from bitwright.checking.exhaustion.certificate import covered_by_cells

    name = f"{algorithm.name} ({algorithm.description})" if algorithm.description else algorithm.name
    of_cells = c.n_source == "cells"
    covers = f", {covered_by_cells(sizes, graphs)}" if of_cells else ""
    yield f"{_headline(c)}: {name}, the limit, {c.rounding} rounding{covers}"
    padding = f", {c.padding:,} of them padding" if c.padding else ", no padding"
    yield f"  examples  K = {c.examples:,}{padding}"
    yield f"  matches   n = {c.n_min:,} to {c.n_max:,}, from {c.n_source} ({c.n_scope})"
    yield f"  writers   at most {c.writers_max:,}, at {c.writers_bit}"
    where = "a set bit" if c.rounding == "calibrated" else _situation(c.worst_bit, c.worst_matches, c.worst_writers)
    yield f"  margin    {c.margin_enclosure} at n = {c.worst_n:,}, of {where}, in units of the output"
    if c.masked_bits:
        yield f"  masked    {c.masked_bits:,} bit{'s' * (c.masked_bits != 1)} that nothing writes: fixed to 0"
    if c.fails_from is not None:
        failing = _situation(c.fails_bit or "", c.fails_matches or 0, c.fails_writers or 0)
        if c.witness is None:
            yield f"  unproved  at n = {c.fails_from:,}: {failing}; whether a run meets such a state is not known"
        else:
            yield f"  fails     at n = {c.fails_from:,}: {failing}"
            yield f"  state     on: {listing(c.witness, 12) or 'no bit'}"
        yield f"  proposal  {c.proposal}"
        if algorithm.matches is not None and c.assumption is None and algorithm.matches < c.n_max:
            yield f"  declared  its author says n <= {algorithm.matches:,}; --n declared takes that on trust"
    if checked:
        yield "  checked   every number of the file was proved again"
    yield f"  {'pattern' if of_cells else 'program'}   {c.program_id}"
    yield "  says      nothing of any one network: --network FILE proves one"


def _situation(bit: str, matching: int, writers: int) -> str:
    return f"{bit} where {matching:,} of {writers:,} writer{'s' * (writers != 1)} match{'es' * (matching == 1)}"
