"""Runs rules from `bitwright show --text` on all inputs, or reads them as a chain of positions with a clock.

The reader of check_function.py, in plain Python.
"""

import hashlib
from fractions import Fraction
from itertools import product

from expressions import Word, holds, need, parsed, sizes_of


def kind_of(at, length):
    return at + 1 if at < 2 else {length - 1: 5, length - 2: 4}.get(at, 3)


def check_sizes(document, program, first):
    """Checks the sizes of a certificate: one number ranges from the first size on, and all others are fixed."""
    ranges, fixed = sizes_of(document, program["sizes"])
    need(
        ranges == {program["size"]: first},
        f"the certificate covers {program['sizes']}, but the first size given is {first}",
    )
    need(
        fixed == {name: b for name, (a, b) in program["numbers"].items() if not a},
        "the certificate fixes different numbers than the rules",
    )


class Rules:
    """Canonical rule text at one size, with every bit at its track and position."""

    def __init__(self, text, places):
        self.of, self.place, self.words = {}, {}, {"input": {}, "output": {}}
        for line in text.splitlines():
            self.of.setdefault(line.split(" ")[0], []).append(line.split(" ")[1:])
        singles = []
        for name, _, extent in (one.removesuffix("]").partition("[") for line in self.of["bits"] for one in line):
            tracks = [(t, *place[1:]) for t, place in enumerate(places) if place[0] == name]
            singles += [] if tracks else [f"{name}[{n + 1}]" for n in range(int(extent))] if extent else [name]
            for n in range(1, int(extent) + 1) if tracks else ():
                ((track, at),) = {(t, (n + s) // g - d) for t, g, s, d in tracks if (n + s) % g == 0}
                self.place[f"{name}[{n}]"] = track, at
        need(
            {at for _, at in self.place.values()} >= {0} and min(self.place.values())[1] >= 0,
            "the bits must be at the positions from 0 on",
            2,
        )
        need(len({*self.place.values()}) == len(self.place), "two bits are at the same position of a track", 2)
        self.singles = len(singles)
        self.length = 1 + max(at for _, at in self.place.values())
        self.kind = {bit: (kind_of(at, self.length), track) for bit, (track, at) in self.place.items()}
        self.kind |= {bit: (0, number) for number, bit in enumerate(singles)}
        self.rules = [(dict(test.split("=") for test in line[: line.index("write")]), line[line.index("write") + 1 :])
                      for line in self.of["when"]]  # fmt: skip
        for kind, words in self.words.items():
            for line in self.of.get(kind, ()):
                signed = line[0] == "signed" and line[1] != "="
                need(not line[signed].startswith("in_"), f"{line[signed]} is a name reserved by this checker", 2)
                words[line[signed]] = line[signed + 2 :][::-1], signed
        self.start = [bit for line in self.of.get("start", ()) for bit in line]
        self.steps = int(self.of["steps"][0][0]) if "steps" in self.of else None
        self.lines = [[" ".join(line) for line in self.of.get(word, ())] for word in ("ensure", "where")]
        self.halt = " ".join(self.of["halt"][0]).removeprefix("when ") if "halt" in self.of else None

    def run_all(self, lines, conditions, longest=4):
        """Checks that the rules have these lines, and runs all inputs that satisfy the conditions by the definition."""
        need(self.lines == [lines, conditions], "the rules have different ensure or where lines")
        if self.length > longest:
            return
        lines = [parsed(line, conditions) for line in lines]
        free = [bit for bits, _ in self.words["input"].values() for bit in bits]
        for chosen in product((0, 1), repeat=len(free)):
            first = state = {*self.start, *(bit for bit, on in zip(free, chosen, strict=True) if on)}
            for step in range(10**6):
                if self.halt in state or (step == self.steps and self.halt is None):
                    break
                matched = (w for tests, w in self.rules if all((b in state) == (on == "1") for b, on in tests.items()))
                after = {bit for writes in matched for bit in writes} - {"nothing"}
                if self.halt == "at fixed point" and after == state:
                    break
                need(step != self.steps, "a run does not end in time")
                state = after
            names = {}
            for kind, at, mark in (("input", first, ""), ("input", first, "in_"), ("output", state, "")):
                for name, (bits, signed) in self.words[kind].items():
                    top = signed and bits[-1] in at
                    number = sum((bit in at) << k for k, bit in enumerate(bits)) - (top << len(bits))
                    names[mark + name] = Word(number)
            need(all(holds(line, names) for line in lines), f"a line is violated by {names}")

    def chain(self):
        """Returns the contents of the classes and the weights of the words, which must be the same at every size."""
        found = {kind: [0, 0, set()] for kind in range(6)}  # start, free, rules
        for bit in self.start:
            found[self.kind[bit][0]][0] |= 1 << self.kind[bit][1]
        for bit in (bit for bits, _ in self.words["input"].values() for bit in bits):
            found[self.kind[bit][0]][1] |= 1 << self.kind[bit][1]
        seen = {}
        for tests, writes in self.rules:
            at = {self.place[bit][1] if bit in self.place else None for bit in tests}
            need(len(at) == 1, "a block has bits at two positions", 2)
            (at,) = at
            masks = [(1 << self.kind[bit][1], int(on)) for bit, on in tests.items()]
            to = [sum(mask for mask, _ in masks), sum(mask for mask, on in masks if on), 0, 0, 0, 0]
            for bit in writes:
                if bit in self.place and at is not None:
                    need(abs(self.place[bit][1] - at) <= 1, "a wire is longer than one position", 2)
                    to[3 + self.place[bit][1] - at] |= 1 << self.kind[bit][1]
                elif bit != "nothing":
                    need(bit not in self.place, "a single bit writes to a position", 2)
                    to[5] |= 1 << self.kind[bit][1]
            seen.setdefault(at, set()).add(tuple(to))
        for at in (None, *range(self.length)):
            kind = 0 if at is None else kind_of(at, self.length)
            need(
                not found[kind][2] or found[kind][2] == seen.get(at, set()),
                "two positions in the middle have different rules or bits",
            )
            found[kind][2] = seen.get(at, set())
        words = {}
        for mark, name, (bits, signed) in ((k[0], n, w) for k, ws in self.words.items() for n, w in ws.items()):
            few = len(bits) <= 4 and all(self.kind[bit][0] != 3 for bit in bits)
            weights = {}
            for k, bit in enumerate(bits):
                weight = Fraction(2) ** (k if few else k - self.place[bit][1]) * (
                    -1 if signed and k == len(bits) - 1 else 1
                )
                need(
                    weights.setdefault(self.kind[bit], weight) == weight,
                    f"the bits of {name} are not at successive positions, lowest first",
                    2,
                )
            middle = {at for bit, at in self.kind.items() if at[0] == 3 and bit not in bits}
            need(not middle & set(weights), f"{name} has only some of the middle positions", 2)
            words[mark + name] = few, weights
        halt = self.kind.get(self.halt, self.halt)
        return {k: (s, f, tuple(sorted(r))) for k, (s, f, r) in found.items()}, words, halt

    def timed(self, clock):
        """Checks that the clock counts the steps; a fixed point is only seen a step later."""
        steps, rests = clock.steps(self.length), self.halt == "at fixed point"
        need(self.steps in (steps + rests, None if self.halt else steps), "the clock does not count the steps")

    def agrees(self, data, classes, short):
        """Checks a certificate's description of the rules against these rules; `at` is their size."""
        chain, program, masks = data["chain"], data["program"], dict.fromkeys(range(1, 6), 0)
        for track, at in self.place.values():
            masks[kind_of(at, self.length)] |= 1 << track
        own = {
            "classes": {
                str(kind): {"present": masks[kind], "start": start, "free": free, "rules": list(map(list, rules))}
                for kind, (start, free, rules) in classes.items()
                if kind
            },
            "global_rules": [[mask, value, writes[3]] for mask, value, *writes in classes[0][2]],
            "start_globals": classes[0][0],
            "globals": [bit for bit, (kind, _) in self.kind.items() if kind == 0],
            "tracks": [f"{name}.{s}" if g > 1 else name for name, g, s, _ in chain["places"]],
        }
        need({**chain, **own} == chain, "the certificate's chain differs from that of the rules")
        need(
            set(chain) == {*own, "places", "unit", "extra"} and data["short"] == short,
            "the certificate has an unknown field",
        )
        lines = "".join(f"{word} {' '.join(line)}\n" for word in ("bits", "block", "when") for line in self.of[word])
        need(program["id"] == hashlib.sha256(lines.encode()).hexdigest(), "the certificate is for other rules")
        need(program["numbers"][program["size"]] == [1, 0], "the certificate has an invalid name for the size")
        laws = [len(weights) == len(chain["places"]) for law in data["laws"] for weights in law[:2]]
        fields = {*program} - {"conditions"}
        known = fields == {"size", "sizes", "numbers", "ensures", "at", "id"} and all(laws) and len(data) == 10
        need(known, "the certificate has an unknown field")


class Clock:
    """A clock that sweeps through the positions, alternately up and down, and stays `rate` steps at each."""

    def __init__(self, sweeps, delay, early, fixed):
        self.sweeps, rates = [(way == "up", rate) for way, rate in sweeps], [rate for _, rate in sweeps]
        self.delay, self.early, self.fixed = delay, early, fixed
        self.waits = [sum(rates[:k]) + k for k in range(len(rates) + 1)]  # the clock of a letter between two sweeps
        turns = all(one != other for (one, _), (other, _) in zip(self.sweeps, self.sweeps[1:], strict=False))
        usual = turns and all(type(rate) is int and rate > 0 for rate in rates) and delay >= 0 <= early
        need(
            usual and (fixed is None and early <= rates[-1] if rates else fixed is not None),
            "the certificate has no valid clock",
            2,
        )

    def steps(self, length):
        rates = sum(rate for _, rate in self.sweeps)
        return rates * length + self.delay - self.early if self.fixed is None else self.fixed

    def last(self, clock, kind):
        """Returns the sweep whose last step at a position gives this clock, and whether it ends at this class."""
        sweep = self.waits.index(clock + 1) - 1 if clock > 0 and clock + 1 in self.waits else None
        return sweep, sweep is not None and kind == (5 if self.sweeps[sweep][0] else 1)

    def begin(self, kind):
        return 0 if not self.sweeps or kind != (1 if self.sweeps[0][0] else 5) else -self.delay or 1

    def goes(self, clock, kind):
        """Returns 1 if the clock moves to the next higher position, -1 for the next lower one, and otherwise 0."""
        sweep, ends = self.last(clock, kind)
        return 0 if sweep is None or ends else 1 if self.sweeps[sweep][0] else -1

    def after(self, clock, kind, started):
        if clock < 0 or not self.sweeps:
            return clock + 1 or 1 if self.sweeps else 0
        if clock in self.waits:
            return clock + (started and clock != self.waits[-1])
        sweep, ends = self.last(clock, kind)
        return clock + 1 + (ends and sweep + 1 < len(self.sweeps))

    def ended(self, clock, kind, time):
        if self.fixed is not None:
            return time >= self.fixed
        return kind == (5 if self.sweeps[-1][0] else 1) and clock >= self.waits[-1] - self.early
