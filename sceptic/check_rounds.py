"""Check without bitwright a proof by cut points that rules compute what they ensure, at one size.

    python check_rounds.py RULES.bw CERTIFICATE.json

A cut state has the cut bit on and the bits of `off` off. The program checks that a run comes to a cut state; that from
every cut state another one follows, on every path; that the invariant holds at the first and stays true; that a word
loses its highest bit in every round, and is 0 before the run is over; that from then on every step keeps the outputs;
and that the `ensure` lines follow. Relations between words are compared literal by literal, or follow from a law.
"""

import hashlib
import json
import pathlib
import sys

import symbolic
from check_at_size import added, equation, sufficient, times


def substituted(a, given):
    total = {}
    for names, x in a.items():
        term = {(): x}
        for name in names:
            term = times(term, given.get(name, {(name,): 1}))
        total = added(total, term)
    return total


def vanishes(a, exponent):
    return all(x % (1 << exponent) == 0 for x in a.values())


class Proof:
    """One certificate, and the rules that it is about."""

    def __init__(self, rules, certificate):
        self.rules, self.certificate = rules, certificate
        self.cut = rules.bit[certificate["cut"]]
        self.off = {rules.bit[name] for name in certificate["off"]}
        names = list(rules.bit)
        self.words = {}  # by name: all bits of an array, or a single one
        for name in names:
            self.words.setdefault(name.partition("[")[0], []).append(rules.bit[name])
        self.name = dict(enumerate(names))
        at = f"at {certificate['cut']}: "
        found = [line.removeprefix(at) for word, line in rules.lines if word == "invariant" and line.startswith(at)]
        self.invariants = []  # as they are here: a polynomial that is 0 modulo 2^exponent in every cut state
        for line, exponent in zip(found, certificate["exponents"], strict=True):
            (left, _), (right, _) = equation(symbolic.statement(line)[0])
            self.invariants.append((self.with_inputs(added(left, right, -1), self.words), exponent))

    def with_inputs(self, a, taken):
        """A polynomial in which every input has its name with `in__`."""
        return substituted(a, {name: {(f"in__{name}",): 1} for name in self.rules.words["input"] if name not in taken})

    def entry(self):
        """The states from the start of a run to the first cut state."""
        graph = symbolic.Graph()
        states = [self.rules.first(graph)]
        while states[-1][self.cut] != 1 and len(states) <= self.rules.steps:
            states.append(self.rules.step(graph, states[-1]))
        if states[-1][self.cut] != 1 or any(states[-1][bit] for bit in self.off):
            raise ValueError("no cut state at the entry")
        return states

    def paths(self, fixed):
        """All paths from cut states with some bits fixed: the bits fixed on the path, and its states."""
        graph = symbolic.Graph()
        states = [[fixed[bit] if bit in fixed else graph.input() for bit in range(len(self.name))]]
        while len(states) <= self.rules.steps:
            states.append(self.rules.step(graph, states[-1]))
            reached = states[-1][self.cut]
            if reached == 1:
                if any(states[-1][bit] for bit in self.off):
                    raise ValueError("a bit that should be off in cut states comes back on")
                return [(fixed, states)]
            if reached:
                ahead = [reached >> 1]
                while graph.parts[ahead[-1]]:  # down to an input
                    ahead.append(graph.parts[ahead[-1]][0] >> 1)
                bit = states[0].index(2 * ahead[-1])
                return self.paths({**fixed, bit: 1}) + self.paths({**fixed, bit: 0})
        raise ValueError("a round does not end")

    def related(self, label, bits, states, target, before, exponent):
        """The relation of this label, if there is one and it holds: target bits as a linear sum of words before."""
        given = self.certificate["relations"].get(label)
        if given is None:
            return None
        parts = [(x, f << at) for name, f in given.items() if name for at, x in enumerate(before[inner(name)])]
        form = symbolic.sum_of([*parts, (1, given.get("", 0))], exponent)
        found = symbolic.sum_of([(x, 1 << place) for place, x in enumerate(target)], exponent)
        law = self.certificate["laws"].get(label)
        if found != form and law is not None:
            wanted = {bit: 1 << place for place, bit in enumerate(bits)}
            found = symbolic.law_gives(self.rules, states, law, wanted, exponent)
        if found != form:
            raise ValueError(f"the relation of {label} does not hold, or needs a solver")
        return {(inner(name),) if name else (): factor for name, factor in given.items()}

    def established(self, states, difference, exponent):
        before = {f"in__{n}": [states[0][b] for b in bits] for n, (bits, _) in self.rules.words["input"].items()}
        given = {}
        for name, bits in self.words.items():
            target = [states[-1][bit] for bit in bits]
            found = self.related(f"entry {name}", bits, states, target, before, exponent)
            given |= {} if found is None else {name: found}
        return vanishes(substituted(difference, given), exponent)

    def kept(self, fixed, states, difference, exponent):
        common = {*self.off, self.cut}
        key = ",".join(f"{self.name[bit]}={x}" for bit, x in sorted(fixed.items()) if bit not in common) or "always"
        before = {name: [states[0][bit] for bit in bits] for name, bits in self.words.items()}
        after = {f"{name}'": [states[-1][bit] for bit in bits] for name, bits in self.words.items()}
        given = {}
        for name, bits in self.words.items():
            found = self.related(f"{key} {name}", bits, states, after[f"{name}'"], before, exponent)
            given |= {} if found is None else {f"{name}'": found}
            if all(x < 2 for x in before[name]):
                given[name] = {(): sum(x << place for place, x in enumerate(before[name]))}
            elif found is None:
                found = self.related(f"{key} {name} before", bits, states, before[name], after, exponent)
                given |= {} if found is None else {name: found}
        new = substituted(difference, {name: {(f"{name}'",): 1} for name in self.words})
        change = added(new, difference, -1)
        for _ in range(3):
            change = substituted(change, given)
        return vanishes(change, exponent)

    def check(self):
        """Why the proof does not hold; None if it does."""
        rules, measure = self.rules, self.certificate["measure"]["word"]
        if rules.halt is not None or rules.steps is None or any(s for w in rules.words.values() for _, s in w.values()):
            return "cut points need a number of steps and unsigned words"
        first, cut_state = self.entry(), {**dict.fromkeys(self.off, 0), self.cut: 1}
        ways = self.paths(cut_state)
        for difference, exponent in self.invariants:
            if not self.established(first, difference, exponent):
                return "the invariant does not hold at the entry"
            if not all(self.kept(fixed, states, difference, exponent) for fixed, states in ways):
                return "a round does not keep the invariant"
        word = self.words[measure] if self.certificate["measure"]["down"] else self.words[measure][::-1]
        for _, states in ways:
            for place, bit in enumerate(word):
                later = {0, *(states[0][b] for b in word[place + 1 :])}
                if states[-1][bit] not in later and 1 not in later:
                    return f"{measure} may keep its highest bit"
        if len(first) - 1 + len(word) * max(len(states) - 1 for _, states in ways) > rules.steps:
            return "the rounds may take more steps than the run has"
        outputs = {b for bits, _ in rules.words["output"].values() for b in bits}
        for _, states in self.paths({**cut_state, **dict.fromkeys(word, 0)}):
            if any(state[bit] != states[0][bit] for state in states for bit in outputs):
                return f"an output may change after {measure} is 0"
        lines = [line for word, line in rules.lines if word == "ensure"]
        return (
            None if lines and all(self.follows(line, measure) for line in lines) else "an ensure line does not follow"
        )

    def follows(self, line, measure):
        """Whether a line follows from an invariant with the measure 0, by algebra; outputs must be whole words."""
        tree, rows = symbolic.statement(line)
        words = {f"in__{name}": word for name, word in self.rules.words["input"].items()}
        words |= {**self.rules.words["input"], **self.rules.words["output"]}
        difference, exponent = sufficient(tree, {name: (0, (1 << len(bits)) - 1) for name, (bits, _) in words.items()})
        difference = self.with_inputs(difference, self.rules.words["output"])
        whole = {tuple(bits): name for name, bits in self.words.items()}
        outputs = {n: {(whole.get(tuple(b), f"out__{n}"),): 1} for n, (b, _) in self.rules.words["output"].items()}
        difference = substituted(difference, outputs)
        zero = [(substituted(left, {measure: {}}), e) for left, e in self.invariants]
        signs = [(left, e, sign) for left, e in zero for sign in (1, -1)]
        return rows == [{}] and any(e >= exponent and vanishes(added(difference, a, s), exponent) for a, e, s in signs)


def inner(name):
    return name.replace("in.", "in__")


def main(rules_file, certificate_file):
    text, certificate = pathlib.Path(rules_file).read_text(), json.loads(pathlib.Path(certificate_file).read_text())
    if certificate["format"] != "bitwright function at a size 1" or certificate["verdict"] != "proved":
        return "it is not a certificate of a proof at a size"
    if certificate["rules"] != hashlib.sha256(text.encode()).hexdigest():
        return "it is for other rules"
    rules = symbolic.Rules(text)
    problem = Proof(rules, certificate).check()
    if problem is None:
        print("HOLDS:", "; ".join(line for word, line in rules.lines if word == "ensure"))
    return problem


if __name__ == "__main__":
    try:
        problem = main(*sys.argv[1:3])
    except (OSError, ValueError, KeyError, TypeError, SyntaxError, IndexError) as error:
        sys.exit(f"cannot check this: {error}")
    sys.exit(problem and f"DOES NOT HOLD: {problem}")
