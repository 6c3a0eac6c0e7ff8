"""A program at one size, with phases and the shapes of its arrays: off, on, one bit, or a word."""

import symbolic
from chains import need


class AtSize:
    """The rules at one size; the bits of words are inputs of a graph."""

    def __init__(self, text, fixed):
        self.text, self.rules, self.graph, self.fixed = text, symbolic.Rules(text), symbolic.Graph(), fixed
        self.arrays, self.words = {}, {}
        for name, bit in self.rules.bit.items():
            self.arrays.setdefault(name.partition("[")[0], []).append(bit)

    def word(self, name, like):
        """Adds a word with the length of an array, whose bits are free except for the fixed ones."""
        need(name not in self.words, "two words have the same name")
        self.words[name] = [self.graph.input() for _ in self.arrays[like]]
        for place, bit in ((0, name), (-1, f"{name} top")):
            if bit in self.fixed:
                self.words[name][place] = self.fixed[bit]

    def bits(self, array, shape):
        what, length = shape[0], len(self.arrays[array])
        if what in ("off", "on"):
            return [int(what == "on")] * length
        if what in ("first", "last"):
            return [int(place == (0 if what == "first" else length - 1)) for place in range(length)]
        word = self.words[shape[1]]
        need(len(word) == length, f"{array} and {shape[1]} have different lengths")
        return {"word": word, "up": [0, *word[:-1]], "up1": [1, *word[:-1]], "down": [*word[1:], 0]}[what]

    def step(self, state, given=()):
        bits = [0] * len(self.rules.bit)
        for array, places in self.arrays.items():
            for place, literal in zip(places, dict(given).get(array) or self.bits(array, state[array]), strict=True):
                bits[place] = literal
        after = self.rules.step(self.graph, bits)
        return {array: [after[place] for place in places] for array, places in self.arrays.items()}

    def part(self, timer, inputs, busy, ensured):
        """Returns the rules restricted to busy arrays, with all other bits off and a run as long as the phase."""
        lines = []
        for word, *names in map(str.split, self.text.splitlines()):
            own = [name for name in names if name.partition("=")[0].partition("[")[0] in busy]
            if word in ("bits", "block") and own:
                lines.append(f"{word} {' '.join(own)}")
            if word == "when":
                tests, writes = names[: names.index("write")], names[names.index("write") :]
                if (kept := [test for test in tests if test in own]) and all(
                    test in own or test[-2:] == "=0" for test in tests
                ):
                    lines.append(f"when {' '.join(kept + writes)}")
        bits = {array: " ".join(f"{array}[{n}]" for n in range(len(self.arrays[array]), 0, -1)) for array in busy}
        lines += [f"input {array} = {bits[array]}" for array in inputs if array in busy]
        lines += [f"output {array} = {bits[array]}" for array in busy]
        lines += [f"steps {len(self.arrays[timer])}", *(f"ensure {line}" for line in ensured)]
        return "\n".join(lines) + "\n"

    def phase(self, phase, before, after, number, parts):
        """Checks that all other arrays stay while the timer runs, busy ones act independently, and `after` follows."""
        timer, busy = phase["timer"], [array for busy, _ in parts for array in busy]
        need(timer not in busy and before[timer] == ["first"], "a phase starts without its timer")
        begins = (
            before[array][0] in (("word", "up", "up1") if array in phase["inputs"] else ("off",)) for array in busy
        )
        need(all(begins) and {*phase["inputs"]} <= {*busy}, "the busy arrays of a phase have a different initial state")
        given = {array: [self.graph.input() for _ in self.arrays[array]] for array in (*busy, timer)}
        given[timer][-1] = 0
        early, late = self.step(before, given), self.step(before, {**given, timer: self.bits(timer, ["last"])})
        for array in self.arrays.keys() - {*busy}:
            stays = [0, *given[timer][:-1]] if array == timer else self.bits(array, before[array])
            need(early[array] == stays, f"{array} changes during a phase")
            need(late[array] == self.bits(array, after[array]), f"{array} has a different value after a phase")
        for own, lines in parts:
            alone = symbolic.Rules(self.part(timer, phase["inputs"], own, lines))
            bits = [0] * len(alone.bit)
            for name, bit in alone.bit.items():
                array, _, place = name.partition("[")
                bits[bit] = given[array][int(place.strip("]")) - 1]
            made = alone.step(self.graph, bits)
            for array, line in zip(own, lines, strict=True):
                theirs = [made[alone.bit[f"{array}[{n + 1}]"]] for n in range(len(self.arrays[array]))]
                need(early[array] == late[array] == theirs, f"{array} does not follow the rules of its phase")
                self.ends(phase, array, after[array], number, line, own)

    def ends(self, phase, array, after, number, line, own):
        """Checks the end of a busy array: off, or a new word according to its line."""
        factors = phase["sums"][array]
        total = " + ".join(f"{factor} * in.{name}" for name, factor in factors.items())
        head, _, power = line.partition(" % 2^(")
        right = line == f"{array} == 0" if not factors else head == f"{array} == ({total})"
        need(right, f"the lines of a phase do not define {array}")
        if factors:
            need(after == ["word", f"{array} of phase {number}"], "a new word has an invalid name")
            exponent = symbolic.value(symbolic.parsed(power.removesuffix(")")), {})
            need(exponent == len(self.arrays[array]), "the modulus of a sum does not match its array")
            need(set(factors) <= {*phase["inputs"]} & {*own}, "a sum contains arrays that are not inputs of the phase")
            self.word(after[1], array)
        need(factors or after == ["off"], "a busy array is not off at the end of its phase")
