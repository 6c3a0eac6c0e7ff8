"""Checks without bitwright that a loop satisfies its `ensure` lines, at every size.

    python check_loop.py CERTIFICATE.json RULES.bw RULES.bw ...

The RULES.bw are the output of `bitwright show NAME --bits N --text` for each N from the first. In a cut state one bit
is on, some arrays are words of any bits, and all else is off. The certificate describes the rounds from any cut state
to the next: in each state every array is off, on, its first or last bit, or a word, perhaps shifted up or down. While a
bit moves through an array (a phase), busy arrays work independently; check_function.py checks what they compute.
Checked at all sizes given: the start, every step, every phase, that all cases have a path, that a round keeps the
invariants (by polynomials and linear arithmetic) on every path that is ever taken, that a word is 0 before the run is
over, that the outputs then stay, and that the lines follow, for inputs that satisfy the `where` lines. Trusted: larger
sizes continue this pattern. Exit 0: it holds; 1: it does not; 2: a file cannot be read.
"""

import json
import re
import sys
import tempfile
from itertools import pairwise, product
from pathlib import Path

import check_function
import symbolic
from algebra import Followed, below, contradictory, facts_of, put, true
from chains import need
from expressions import sizes_of
from lines import with_numbers
from polynomials import added, interval
from shapes import AtSize


def shown_parts(phase, data, size):
    """Returns the groups of arrays that are busy together in a phase, each with the lines of its proof."""
    found = []
    for part in phase["parts"]:
        program = data["phases"][part["proof"]]["program"]
        found.append((part["busy"], [with_numbers(line, program["numbers"], size) for line in program["ensures"]]))
    return found


def walked(at, path, start, data, size):
    """Follows a path step by step; returns its states and its number of steps."""
    states = [{array: state.get(array, ["off"]) for array in at.arrays} for state in path["states"]]
    need(
        states[0] == start and all(set(state) <= set(at.arrays) for state in path["states"]), "a path starts elsewhere"
    )
    steps, phases = 0, 0
    for number, (before, after) in enumerate(pairwise(states)):
        if str(number) in path["phases"]:
            phase, phases = path["phases"][str(number)], phases + 1
            at.phase(phase, before, after, phases, shown_parts(phase, data, size))
            steps += len(at.arrays[phase["timer"]])
        else:
            made, steps = at.step(before), steps + 1
            need(
                all(made[a] == at.bits(a, after[a]) for a in at.arrays),
                f"a step of the path {path['fixed']} differs from the certificate",
            )
    need(phases == len(path["phases"]), "a phase never begins")
    return states, steps


def inputs_among(facts):
    """Returns the words that always equal inputs, according to these facts."""
    found = {}
    for sign, value, _ in facts:
        entered = [m for m in value if len(m) == 1 and m[0].startswith("in__")]
        words = [m for m in value if len(m) == 1 and m not in entered]
        if sign == "==" and len(entered) == len(words) == 1 and sorted(value.values()) == [-1, 1]:
            found.setdefault(words[0][0], {entered[0]: 1})
    return found


def check(data, texts, size):
    """Performs all checks at one size."""
    cut, words, measure = data["cut"], data["words"], data["measure"]
    at = AtSize(texts[size], {})
    rules, lengths = at.rules, {array: len(bits) for array, bits in at.arrays.items()}
    need(rules.halt is None and rules.steps is not None, "the rules need a steps line and must not have a halt line", 2)
    need(
        cut not in words and lengths[cut] == 1 and measure in words,
        "the certificate has an invalid cut bit or measure",
        2,
    )
    need(
        not any(signed for port in rules.words.values() for _, signed in port.values()),
        "signed words are not supported for loops",
        2,
    )
    ends = {array: tuple(bits) for array, bits in at.arrays.items()}
    entered = {
        n: next((a for a in words if ends[a][: len(b)] == tuple(b)), None) for n, (b, _) in rules.words["input"].items()
    }
    need(
        None not in entered.values() and len({*entered.values()}) == len(entered),
        "an input is not the lower end of a word",
    )
    shown = {n: next((a for a in words if ends[a] == tuple(b)), None) for n, (b, _) in rules.words["output"].items()}
    need(None not in shown.values(), "an output is not a word")
    begin = {word: {} for word in words} | {array: {(f"in__{name}",): 1} for name, array in entered.items()}
    started, unary = {*rules.start} - {rules.bit[cut]}, {word for word in words if {*ends[word]} <= {*rules.start}}
    ones = {word for word in words if ends[word][0] in started}
    need(
        started == {ends[word][0] for word in ones}.union(*(ends[word] for word in unary)),
        "other bits than those of the certificate are on at the start",
    )
    begin |= {word: {(): (1 << len(ends[word])) - 1 if word in unary else 1} for word in ones}
    named = {name: {(f"in__{name}",): 1} for name in rules.words["input"]}

    def stated(word, taken):
        """Returns the facts that the lines of one kind state."""
        marked = f"at {cut}: " if word == "invariant" else ""
        lines = [line.removeprefix(marked) for kind, line in rules.lines if kind == word and line.startswith(marked)]
        trees = [symbolic.parsed(line) for line in lines if word != "where" or not {"%", "//"} & {*line.split()}]
        others = {n: p for n, p in named.items() if n not in taken}
        return [put(put(fact, others), taken) for tree in trees for fact in facts_of(tree)]

    sizes = [(word, lengths[word]) for word in words] + [
        (f"in__{name}", len(bits)) for name, (bits, _) in rules.words["input"].items()
    ]
    given = [*stated("where", {}), *((">=", below({(name,): 1}, 1 << length), "") for name, length in sizes)]
    invariants = stated("invariant", {word: {(word,): 1} for word in words})
    need(all(true(given, put(fact, begin)) for fact in invariants), "an invariant does not hold at the start")
    start = {array: ["word", array] if array in words else ["on"] if array == cut else ["off"] for array in at.arrays}
    taken = {}
    for name, first in (("paths", start), ("rest", {**start, measure: ["off"]})):
        names = sorted({word for path in data[name] for word in path["fixed"]})
        for bits in product((0, 1), repeat=len(names)):
            case = dict(zip(names, bits, strict=True)).items()
            need(
                any(path["fixed"].items() <= case for path in data[name]), "no path of the certificate covers some case"
            )
        taken[name] = []
        for path in data[name]:
            at = AtSize(texts[size], path["fixed"])
            for word in words:
                at.word(word, word)
            states, steps = walked(at, path, first, data, size)
            last = {array: shape for array, shape in states[-1].items() if array not in words}
            need(last == {array: start[array] for array in last}, "a round does not end in a cut state")
            taken[name].append((path, states, steps))
            unary = {word for word in unary if states[-1][word] in (["down", word], ["word", word], ["off"])}
    exact = invariants
    while True:  # a value kept only modulo a power of two is not a fact
        known, same, modular, exponents = [*given, *exact], inputs_among(exact), [], []
        for path, states, steps in taken["paths"]:
            round_ = Followed(path, states, words, same, known, lengths, unary)
            if contradictory(round_.facts):
                continue
            need(states[-1][measure] in (["down", measure], ["off"]), "the measure does not decrease")
            need(steps * lengths[measure] <= rules.steps, "the rounds may take more steps than the run")
            loose = [round_.kept(fact) for fact in invariants]
            need(None not in loose, "a round does not keep the invariant")
            modular += [fact for fact, powers in zip(invariants, loose, strict=True) if powers]
            exponents += [power for powers in loose for power in powers]
        if not any(fact in exact for fact in modular):
            break
        exact = [fact for fact in exact if fact not in modular]
    for path, states, _ in taken["rest"]:
        if not contradictory(Followed(path, states, words, same, known, lengths, unary).facts):
            busy = {array for phase in path["phases"].values() for part in phase["parts"] for array in part["busy"]}
            still = all(state[array] == ["word", array] for state in states for array in shown.values())
            still = still and not busy & {*shown.values()} and states[-1][measure] == ["off"]
            need(still, "an output may change at the end")
    last, bounds = {**same, measure: {}}, {name: (1 << length) - 1 for name, length in sizes}
    facts, power = [put(fact, last) for fact in known], 1 << min(exponents, default=0)
    for fact in stated("ensure", {name: {(array,): 1} for name, array in shown.items()}):
        sign, value, word = put(fact, last)
        alike = [one for s, one, w in facts if (s == "==" and sign != ">=") or (s == sign == "%" and w == word)]
        follows = true(facts, (sign, value, word)) or any(
            true(facts, (sign, added(value, one, factor), word)) for one in alike for factor in (1, -1)
        )
        if not follows and sign == "==":  # an invariant modulo a power of two, too small for another multiple
            left, zero = ([put(one, {measure: {}})[1] for one in some] for some in ([fact], invariants))
            same = any(not added(left[0], one, factor) for one in zero for factor in (1, -1))
            follows = same and max(map(abs, interval(left[0], bounds))) < power
        need(follows, f"{fact} does not follow from the invariants")
        facts.append((sign, value, word))
    return [line for kind, line in rules.lines if kind == "ensure"]


def main(certificate, *files):
    document = json.loads(Path(certificate).read_text())  # `bitwright certify -o` stores it as a link of its chain
    data = document["links"]["function"]["proof"] if "links" in document else document
    need(
        data.get("format") == "bitwright function by rounds 2" and len(files) >= 8,
        "give a certificate for a loop, and the rules at eight or more sizes",
        2,
    )
    (first,) = sizes_of(document, data["sizes"])[0].values()
    texts = {size: Path(file).read_text() for size, file in enumerate(files, start=first)}
    lines = [check(data, texts, size) for size in texts]
    need(lines[0] and all(one == lines[0] for one in lines), "the lines are not the same at all sizes")
    phases = [phase for name in ("paths", "rest") for path in data[name] for phase in path["phases"].values()]
    seen = set()
    for phase, number in ((one, number) for one in phases for number in range(len(one["parts"]))):
        proof = data["phases"][phase["parts"][number]["proof"]]  # which may also cover smaller sizes
        about = {**proof["program"], "sizes": re.sub(r">=-?\d+", f">={first}", proof["program"]["sizes"])}
        proof = json.dumps({**proof, "program": about, "short": [n for n in proof["short"] if n >= first]})
        own = {size: shown_parts(phase, data, size)[number] for size in texts}
        rules = [AtSize(text, {}).part(phase["timer"], phase["inputs"], *own[size]) for size, text in texts.items()]
        if (proof, *rules) in seen:
            continue
        seen.add((proof, *rules))
        with tempfile.TemporaryDirectory() as folder:
            for name, text in (("proof", proof), *enumerate(rules)):
                (Path(folder) / str(name)).write_text(text)
            check_function.main(f"{folder}/proof", *(f"{folder}/{name}" for name in range(len(rules))))
    conditions = [line for line in texts[first].splitlines() if line.startswith("where ")]
    holds = " ".join([" and ".join(map("({})".format, lines[0])), *conditions])
    print(f"HOLDS: {holds}, for {data['sizes']} (given {len(texts)} sizes)")


if __name__ == "__main__":
    need(len(sys.argv) > 2, __doc__.split("\n\n")[1].strip(), 2)
    try:
        main(*sys.argv[1:])
    except (ArithmeticError, AttributeError, LookupError, OSError, SyntaxError, TypeError, ValueError) as error:
        need(False, f"{type(error).__name__}: {error}", 2)
