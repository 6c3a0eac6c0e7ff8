"""`bitwright show`: a program's names, blocks, rules and sizes; or what a network file is."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from bitwright.cli import options as opt
from bitwright.cli.progress import note, working
from bitwright.cli.reporting import print_json
from bitwright.cli.run_graph import node_program
from bitwright.cli.streams import print_lines
from bitwright.cli.targets import Target
from bitwright.common.errors import InputError

_DESCENTS = {"balanced": "balanced steps", "momentum": "momentum", "plain": "plain gradient descent"}


@opt.verb("show", "FILE|NAME|NETWORK")
def command(target: Target, output: Path | None, text: bool, tile: Any, as_json: bool) -> None:
    """Show what a program consists of, or what a .safetensors file of a network or a decoder is.

    The id of a program is the sha256 of its canonical text. --tile N shows the kinds of its cells, and the pattern that
    has one of each.
    """
    from bitwright.verbs.show import cell_kinds, node_report, program_report, save_diagram, tiled

    if Path(target.name).suffix.lower() == ".safetensors":
        opt.allow_only(f"the file of a network, {target.name}", "as_json")
        _show_network(Path(target.name), as_json)
        return
    if output is not None and text:
        raise InputError("-o draws and --text prints; leave out one of them")
    if tile is None and (program := node_program(target)) is not None:
        opt.allow_only("a node program", "text", "as_json", "tile", "output", "let")
        if output is None:
            if as_json and not text:
                print_json(program.to_dict())
            else:
                print_lines(program.text_lines() if text else node_report(program))
            return
        tile = 1  # that is what there is to draw of it
    algorithm = target.algorithm(cells=tile is not None)
    if output is not None:
        with working("drawing"):
            save_diagram(algorithm, output, tile)
        note(f"wrote {output}")
    elif text:
        print_lines((algorithm if tile is None else tiled(algorithm, tile)).text_lines())
    elif tile is not None:
        found = cell_kinds(algorithm, tile)
        if as_json:
            print_json(found.to_dict())
            return
        click.echo(f"{found}\n\n# the pattern: one cell of each kind; ports are bits that nothing reads")
        print_lines(found.pattern.program.text_lines())
    elif as_json:
        print_json(algorithm.to_dict())
    else:
        print_lines(program_report(algorithm))


def _show_network(path: Path, as_json: bool) -> None:
    """Prints what a network file contains; reads all of it, so that a damaged one is refused."""
    from bitwright.verbs.network import Network, file_format, is_decoder_file

    if is_decoder_file(path):
        from bitwright.verbs.decoders import describe_file

        _show_decoder(describe_file(path), as_json)
        return
    with working("trying its states"):
        network = Network.load(path)
        found = network.to_dict()
    proof = f"bitwright certify {network.name or 'PROGRAM'} --network {shlex.quote(str(path))}"
    found = {"file": str(path), "format": file_format(path), **found, "proof": proof}
    if as_json:
        print_json(found)
    else:
        click.echo("\n".join(_lines(found)))


def _show_decoder(found: dict[str, Any], as_json: bool) -> None:
    """Prints what is in the file of a decoder."""
    proof = f"bitwright certify TASK --network {shlex.quote(found['file'])}"
    if as_json:
        print_json(found | {"proof": proof})
        return
    positions = "any number of positions" if found["positions"] is None else f"{found['positions']:,} positions"
    norm = "" if found["final_norm"] is None else f", {found['final_norm']} norm before the head"
    layers = [f"  {f'layer {number}':<10} {layer}" for number, layer in enumerate(found["layers"], 1)]
    print_lines(
        [
            f"{found['file']}: a decoder with {found['weights']:,} weights of {' and '.join(found['precision'])}",
            f"  tokens     {found['tokens']:,}, {positions}; width {found['width']:,}{norm}",
            *layers,
            f"  file       sha256 {found['sha256']}; {found['bytes']:,} bytes",
            f"  decoder    sha256 {found['digest']}",
            f"  claim      none is in the file; {proof} proves it on every input of a task, or refutes it",
        ]
    )


def _lines(found: dict[str, Any]) -> list[str]:
    several = f"{found['members']:,} networks, " if found["members"] > 1 else ""
    kind = f"{found['weight_bits']}-bit integers" if found["integer"] else f"weights of {found['precision']}"
    padding = f", {found['padding']:,} of them padding" if found["padding"] else ", no padding"
    facts = {
        "width": f"{found['width']:,}; {found['bytes']:,} bytes",
        "examples": f"K = {found['examples']:,}{padding}; {found['bits']:,} bits",
        "training": f"{several}seed {found['seed']}, member {found['member']}, start {found['start']}, "
        f"{found['parametrization']} parametrization, {_DESCENTS[found['descent']]}, {found['steps']:,} steps by "
        f"{found['trainer']}",
        "kernel": found["kernel"],
        "executions": _learnt_from(found.get("executions")),
        "error": f"{found['error']:.2g} at most on its examples" + ", before quantizing" * found["integer"],
        **{name: f"sha256 {value}" for name, value in found["tensors"].items()},
        "network": f"sha256 {found['digest']}",
        "pattern" if "kinds" in found else "program": found["program_id"],
        "format": found["format"],
        "claim": f"{found['claim']}; {found['proof']} "
        + ("writes a certificate of it with -o" if found["proved"] else "proves it or finds where it is wrong"),
    }
    head = f"{found['file']}: a network of {kind}, trained for {found['trained_for']}"
    return [head, *(f"  {name:<10} {value}" for name, value in facts.items() if value)]


def _learnt_from(learnt: dict[str, Any] | None) -> str:
    """The executions that it was trained on, if any."""
    if learnt is None:
        return ""
    source, runs, seed = learnt["source"], learnt["runs"], learnt["sample_seed"]
    of = f"{runs:,} runs" if runs else {"states": "random states", "file": "a file"}.get(source, source)
    drawn = "" if seed is None else f", sample seed {seed}"
    return (
        f"{learnt['examples']:,} different examples in {learnt['states']:,} states of {of}{drawn}, {learnt['labels']} "
        f"labels; sha256 {learnt['sha256']}"
    )
