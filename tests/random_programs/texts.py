"""Random rule texts with open sizes: edges, single bits, signed words, sweeps, conditions on a second size."""

from random import Random


class RandomText:
    """One text without `ensure` lines; `claims` are lines about it, of which few are true."""

    def __init__(self, seed: int) -> None:
        self.random = random = Random(seed)
        self.two, self.top = random.random() < 0.5, random.choice(["l"] * 6 + ["l+1", "l+3", "l-1", "2*l"])
        self.k = random.choice([0, 1, 1, 2, 3]) if self.two else None
        self.arrays = ["x", "y", "z"][: random.choice([2, 2, 3])]
        self.singles = ["g", "h"][: random.choice([0, 0, 1, 2])]
        self.inputs, self.groups = self.arrays[: random.choice([1, 1, 2])], self._groups()
        self.outputs = self._outputs()
        lines = ["let l = 4", *([f"let k = {self.k}"] * self.two)]
        lines.append("bits " + " ".join([*(f"{one}[{self.top}]" for one in self.arrays), *self.singles]))
        lines += [f"block {' '.join(f'{one}[i]' for one in group)} for i in 1..{self.top}" for group in self.groups]
        lines += [f"block {' '.join(self.singles)}"] * bool(self.singles)
        lines += self._usual() if random.random() < 0.75 else []
        lines += [self._rule() for _ in range(random.choice([0, 1, 1, 2, 3, 4]))]
        if self.singles and random.random() < 0.7:
            on = " ".join(
                f"{one}={value}" for one, value in zip(self.singles, ["1", random.choice("01")], strict=False)
            )
            lines.append(f"also when {on} write {random.choice(self.singles)}")
        lines.append(f"input {random.choice(['', 'signed '])}{' '.join(self.inputs)}")
        lines += [f"output {random.choice(['', '', 'signed '])}{name} = {bits}" for name, bits in self.outputs]
        free = [f"{one}[{random.choice(['1', self.top])}]" for one in self.arrays if one not in self.inputs]
        if (free or self.singles) and random.random() < 0.5:
            lines.append(f"start {random.choice([*self.singles, *free])}")
        self.text = "\n".join([*lines, *self._end()]) + "\n"

    def _groups(self) -> list[list[str]]:
        """The arrays whose bits share blocks."""
        rest, found = self.arrays[:], []
        while rest:
            size = self.random.choice([1, 1, 2, 3])
            found.append(rest[:size])
            rest = rest[size:]
        return found

    def _usual(self) -> list[str]:
        """Rules that keep or move every bit."""
        found, random = [], self.random
        for group in self.groups:
            for array in group:
                for rest in "01" if len(group) == 2 else "0":
                    tests = " ".join(f"{one}[i]={'1' if one == array else rest}" for one in group)
                    moves = [("", []), ("", []), ("+1", [f"i < {self.top}"]), ("-1", ["i > 1"])]
                    shift, where = random.choice(moves)
                    target = random.choice([array, array, *self.arrays])
                    found.append(self._line(tests, [f"{target}[i{shift}]"], [*where, *self._condition(0.35)]))
        return found

    def _rule(self) -> str:
        random, group = self.random, self.random.choice(self.groups)
        values = [random.choice("01") for _ in group[1:]]
        values.append("1" if "1" not in values else random.choice("01"))
        tests = " ".join(f"{one}[i]={value}" for one, value in zip(group, values, strict=True))
        targets, where = [], self._condition(0.4)
        for _ in range(random.choice([1, 1, 2])):
            way, array = random.random(), random.choice(self.arrays)
            if way < 0.25 and self.singles:
                targets.append(random.choice(self.singles))
            elif way < 0.45:
                place = random.choice(["1", self.top])
                where.append(f"i = {place}")
                targets.append(f"{array}[{place}]")
            else:
                shift, more = random.choice([("", []), ("", []), ("+1", [f"i < {self.top}"]), ("-1", ["i > 1"])])
                where += more
                targets.append(f"{array}[i{shift}]")
        return self._line(tests, ["nothing"] if random.random() < 0.15 else targets, where)

    def _line(self, tests: str, targets: list[str], where: list[str]) -> str:
        conditions = " if " * bool(where) + " and ".join(dict.fromkeys(where))
        return f"also when {tests} write {' '.join(dict.fromkeys(targets))} for i in 1..{self.top}{conditions}"

    def _condition(self, chance: float) -> list[str]:
        if self.random.random() > chance:
            return []
        sign, c = self.random.choice(["=", "!=", "<", ">", "<=", ">="]), self.random.choice([0, 1, 2, 3])
        ways = [f"i {sign} {c + 1}", f"i {sign} {self.top}-{c}", f"l {sign} {c}", f"l {sign} {-c}"]
        of_two = [f"i {sign} k", f"i {sign} k", f"k {sign} {c}", f"i {sign} {self.top}-k", f"l {sign} k"]
        return [self.random.choice(ways + of_two * self.two)]

    def _outputs(self) -> list[tuple[str, str]]:
        found, top = [], self.top
        for number in range(self.random.choice([1, 1, 2])):
            array = self.random.choice(self.arrays)
            ways = [array] * 3 + [f"{array}[{part}]" for part in ("1", "1", top, f"1..{top}-1", f"2..{top}", "1..2")]
            ways += [*self.singles, *(f"{one} {array}" for one in self.singles)]
            found.append((f"d{number}", self.random.choice(ways)))
        return found

    def _end(self) -> list[str]:
        random, c, rate = self.random, self.random.choice([0, 1, 1, 2, 3]), self.random.choice([1, 1, 2])
        ways = [f"{c}", f"{c + 1}", f"{rate}*l", f"{rate}*l+{c}", f"l-{c}", f"{rate}*({self.top})", *["k"] * self.two]
        steps, way = f"steps {random.choice(ways)}", random.random()
        if way < 0.15:
            return ["halt at fixed point", *([steps] if random.random() < 0.4 else [])]
        if way < 0.3 and self.singles:
            return [f"halt when {self.singles[0]}", *([steps] if random.random() < 0.6 else [])]
        return [steps]

    def claims(self) -> list[str]:
        """Lines about inputs and outputs, the likeliest and the least likely mixed."""
        random, n = self.random, self.top
        outputs, found = [name for name, _ in self.outputs], []
        words = [*outputs, *self.inputs, *(f"in.{one}" for one in self.inputs)]
        for d in outputs:
            found += [f"{d} == {other}" for other in (*words, "0", "1", f"2^({n})-1")]
            for x in self.inputs:
                found += [f"{d} == (2*{x}) mod 2^({n})", f"{d} == ({x}+1) mod 2^({n})", f"{d} == {x} // 2"]
                found += [f"{d} <= {x}", f"{d} >= {x}", f"{d} != {x}", f"{d} == {x} mod 2", f"{d} == {x} mod 3"]
                found += [f"{d}[i] == {x}[i] for i in {a}..{n}-{b}" for a, b in ((1, 0), (2, 0), (1, 1))]
                found += [f"{d}[i+1] == {x}[i] for i in 1..{n}-1", *[f"{d} == {x} + k", f"{d} <= k"] * self.two]
        bits = [f"{word}[{place}]" for word in words for place in ("1", n)]
        for _ in range(12):
            one, two, number = random.choice(bits), random.choice([*bits, "0", "1"]), random.choice(words)
            other = random.choice([*words, "0", "1", "2", "-1", f"2^({n}-1)"])
            compared = f"({number} {random.choice(['==', '<', '>=', '!='])} {other})"
            ways = [f"{number} == {compared}", f"{one} == {compared}", f"{one} => {compared}", f"{one} or {two}"]
            ways += [f"not {number} => {compared}", f"{number} and {other} or {one}", f"{one} == {two}"]
            ways += [f"{number} == -{other}", f"{number} + {other} == {random.choice(words)}", f"{number} => {one}"]
            found.append(random.choice([*ways, f"{number} != {compared}", f"({one} == {two}) == {compared}"]))
        random.shuffle(found)
        return found
