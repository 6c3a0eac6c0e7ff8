"""The scripts of exported pages without a page, under node; and networks of cells that tests of pages share."""

import json
import subprocess
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from bitwright import addition, multiplication
from bitwright.exports import Exported, claim_of
from bitwright.exports.pages import engine_text, network_facts
from bitwright.machines.programs import open_program
from bitwright.networks import IntegerNetwork, Recipe
from bitwright.pages.library import library_script
from bitwright.rules import NodeProgram, parse_node_program
from bitwright.rules.pattern import Pattern, pattern_of
from bitwright.verbs.cells import train_on_pattern

ROOT = Path(__file__).parents[1]


def evaluate(found: Exported, facts: Mapping[str, Any], code: str, folder: Path) -> Any:
    """The result of a piece of JavaScript that runs after the scripts of a page."""
    (folder / "facts.json").write_text(
        json.dumps({"network": network_facts(found, claim_of(found.network, found.pattern)), **facts})
    )
    start = 'import { readFileSync } from "node:fs";\nconst facts = JSON.parse(readFileSync(process.argv[2]));\n'
    answer = (
        f"\nconsole.log(JSON.stringify((() => {{ {code} }})(), (_, v) => typeof v === 'bigint' ? String(v) : v));\n"
    )
    (folder / "page.mjs").write_text(start + library_script() + engine_text(found) + answer)
    command = ["node", folder / "page.mjs", folder / "facts.json"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@cache
def network_for(name: str, width: int = 256) -> tuple[IntegerNetwork, Pattern]:
    """A network of the cells of a program in many sizes, of an SBN program, or of a node program."""
    programs: dict[str, Any] = {"addition": addition, "multiplication": multiplication}
    if name in programs:
        own = [programs[name](size).program for size in (1, 2, 3, 4, 5, 6)]
    elif name.endswith(".sbn"):
        own = [open_program(str(ROOT / "examples/sbn" / name)).program]
    else:
        own = [one.program for one in node_program(name).schemas()]
    pattern = pattern_of(own)
    return train_on_pattern(pattern, Recipe(width)).weights, pattern


@cache
def node_program(name: str) -> NodeProgram:
    return parse_node_program((ROOT / "examples/graphs" / f"{name}.bw").read_text(), name)
