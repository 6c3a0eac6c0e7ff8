"""Check without bitwright that a loop computes what its `ensure` lines say, at every size.

    python check_loop.py CERTIFICATE.json RULES.bw RULES.bw ...

The RULES.bw are what `bitwright show NAME --bits N --text` prints for each N from the first. In a cut state one bit is
on, some arrays are words of any bits, and all else is off. The certificate says how a round goes from any cut state to
the next: in each state every array is off, on, its first or last bit, or a word, perhaps moved up or down. Where a bit
walks through an array (a phase), busy arrays work on their own; check_function.py checks what they compute. Checked at
all sizes given: the start, every step, every phase, that all cases have a path, that a round keeps the invariant (by
polynomials), that a word is 0 before the run is over, that the outputs then stay, and that the lines follow. Taken for
granted is that larger sizes go on as these do. Exit 0: it holds; 1: it does not; 2: something cannot be read.
"""

import json
import sys
import tempfile
from itertools import pairwise, product
from pathlib import Path

import check_function
import symbolic
from chains import need
from expressions import sizes_of
from lines import with_numbers
from polynomials import added, equation, substituted, sufficient
from shapes import AtSize


def walked(at, path, start, data, size):
    """Takes a path step by step; gives the number of its steps, and words as polynomials of others."""
    states = [{array: state.get(array, ["off"]) for array in at.arrays} for state in path["states"]]
    need(
        states[0] == start and all(set(state) <= set(at.arrays) for state in path["states"]), "a path starts elsewhere"
    )
    steps, given, exponents = 0, {}, []
    for number, (before, after) in enumerate(pairwise(states)):
        if str(number) in path["phases"]:
            phase = path["phases"][str(number)]
            proof = data["phases"][phase["proof"]]
            program = proof["program"]
            at.phase(
                phase, before, after, [with_numbers(line, program["numbers"], size) for line in program["ensures"]]
            )
            steps += len(at.arrays[phase["timer"]])
            for array, factors in phase["sums"].items():
                if factors:
                    given[after[array][1]] = {(before[name][1],): factor for name, factor in factors.items()}
                    exponents.append(len(at.arrays[array]))
        else:
            made, steps = at.step(before), steps + 1
            need(all(made[a] == at.bits(a, after[a]) for a in at.arrays), f"a step of the path {path['fixed']} differs")
    return states, steps, given, exponents


def round_of(states, words, fixed, given, exponents, lengths):
    """What a round makes of the words: polynomials to put in for new words, and for those that moved down."""
    exact = {}
    for word in words:
        what, *of = states[-1][word]
        need(what in ("off", "word", "up", "down"), "a round ends in another shape")
        if what == "down":
            need(of[0] in words and of[0] not in exact, "two words move down from one")
            rest = {(): fixed[of[0]]} if of[0] in fixed else {(f"{of[0]}[1]",): 1}
            exact[of[0]] = added({(f"{word}'",): 2}, rest)
        else:
            given[f"{word}'"] = {} if what == "off" else {(of[0],): 1 + (what == "up")}
            exponents += [lengths[word]] * (what == "up")
    return exact


def check(data, texts, size):
    """Everything at one size."""
    cut, words, measure = data["cut"], data["words"], data["measure"]
    at = AtSize(texts[size], {})
    rules, lengths = at.rules, {array: len(bits) for array, bits in at.arrays.items()}
    need(rules.halt is None and rules.steps is not None and rules.start == [rules.bit[cut]], "the start or end", 2)
    need(cut not in words and lengths[cut] == 1 and measure in words, "the cut bit or the measure", 2)
    need(not any(signed for port in rules.words.values() for _, signed in port.values()), "a signed word", 2)
    ends = {array: tuple(bits) for array, bits in at.arrays.items()}
    entered = {
        n: next((a for a in words if ends[a][: len(b)] == tuple(b)), None) for n, (b, _) in rules.words["input"].items()
    }
    need(
        None not in entered.values() and len({*entered.values()}) == len(entered), "an input is no lower end of a word"
    )
    shown = {n: next((a for a in words if ends[a] == tuple(b)), None) for n, (b, _) in rules.words["output"].items()}
    need(None not in shown.values(), "an output is no word")
    begin = {word: {} for word in words} | {array: {(f"in__{name}",): 1} for name, array in entered.items()}
    named = {name: {(f"in__{name}",): 1} for name in rules.words["input"]}
    sides = [equation(symbolic.parsed(line.removeprefix(f"at {cut}: "))) for kind, line in rules.lines
             if kind == "invariant" and line.startswith(f"at {cut}: ")]  # fmt: skip
    need(all(e is f is None for (_, e), (_, f) in sides), "an invariant with a modulus", 2)
    differences = [
        substituted(added(a, b, -1), {n: p for n, p in named.items() if n not in words}) for (a, _), (b, _) in sides
    ]
    start = {array: ["word", array] if array in words else ["on"] if array == cut else ["off"] for array in at.arrays}
    need(not any(substituted(one, begin) for one in differences), "the invariant does not hold at the start")
    exponent = []
    for name, first in (("paths", start), ("rest", {**start, measure: ["off"]})):
        asked = sorted({word for path in data[name] for word in path["fixed"]})
        for bits in product((0, 1), repeat=len(asked)):
            case = dict(zip(asked, bits, strict=True)).items()
            need(any(path["fixed"].items() <= case for path in data[name]), "a case has no path")
        for path in data[name]:
            at = AtSize(texts[size], path["fixed"])
            for word in words:
                at.word(word, word)
            states, steps, given, exponents = walked(at, path, first, data, size)
            last = {array: shape for array, shape in states[-1].items() if array not in words}
            need(last == {array: start[array] for array in last}, "a round does not end in a cut state")
            if name == "rest":
                still = all(state[array] == ["word", array] for state in states for array in shown.values())
                need(still and not path["phases"] and states[-1][measure] == ["off"], "an output may change at the end")
                continue
            need(states[-1][measure] in (["down", measure], ["off"]), "the measure does not fall")
            need(steps * lengths[measure] <= rules.steps, "the rounds may take more steps than the run has")
            exact = round_of(states, words, path["fixed"], given, exponents, lengths)
            for one in differences:
                change = added(substituted(one, {word: {(f"{word}'",): 1} for word in words}), one, -1)
                for _ in range(4):
                    change = substituted(substituted(change, given), exact)
                need(not change, "a round does not keep the invariant")
            exponent += exponents
    bounds = {name: (0, (1 << len(bits)) - 1) for port in rules.words.values() for name, (bits, _) in port.items()}
    bounds |= {f"in__{name}": (0, (1 << len(bits)) - 1) for name, (bits, _) in rules.words["input"].items()}
    for line in (line for kind, line in rules.lines if kind == "ensure"):
        wanted, enough = sufficient(symbolic.parsed(line), bounds)
        wanted = substituted(
            wanted, {n: p for n, p in named.items() if n not in shown} | {n: {(a,): 1} for n, a in shown.items()}
        )
        zero = [substituted(one, {measure: {}}) for one in differences]
        follows = any(not added(wanted, one, sign) for one in zero for sign in (1, -1))
        need(follows and enough <= min(exponent), f"{line} does not follow")
    return [line for kind, line in rules.lines if kind == "ensure"]


def main(certificate, *files):
    document = json.loads(Path(certificate).read_text())  # `bitwright certify -o` writes it as a link of its chain
    data = document["links"]["function"]["proof"] if "links" in document else document
    need(data.get("format") == "bitwright function by rounds 1" and len(files) >= 8, "no certificate, or few rules", 2)
    (first,) = sizes_of(document, data["sizes"])[0].values()
    texts = {size: Path(file).read_text() for size, file in enumerate(files, start=first)}
    lines = [check(data, texts, size) for size in texts]
    need(lines[0] and all(one == lines[0] for one in lines), "the lines are not the same at all sizes")
    for path in data["paths"]:
        for phase in path["phases"].values():
            proof = data["phases"][phase["proof"]]
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "proof").write_text(json.dumps(proof))
                for size, text in texts.items():
                    shown = [
                        with_numbers(line, proof["program"]["numbers"], size) for line in proof["program"]["ensures"]
                    ]
                    (Path(folder) / str(size)).write_text(AtSize(text, {}).part(phase, shown))
                check_function.main(f"{folder}/proof", *(f"{folder}/{size}" for size in texts))
    print(f"HOLDS: {' and '.join(map('({})'.format, lines[0]))}, for {data['sizes']} (given {len(texts)} sizes)")


if __name__ == "__main__":
    need(len(sys.argv) > 2, __doc__.split("\n\n")[1].strip(), 2)
    try:
        main(*sys.argv[1:])
    except (ArithmeticError, AttributeError, LookupError, OSError, SyntaxError, TypeError, ValueError) as error:
        need(False, f"{type(error).__name__}: {error}", 2)
