"""Random rule texts whose cells depend on sizes in many ways: shifts, strides, residues, wraps, boxes, free indices."""

import random


class RandomText:
    """One text; `lines` has it line by line, and `sizes` its sizes. Small ones have one size and one index a line."""

    def __init__(self, seed: int, small: bool = False) -> None:
        self.rng, self.small = (rng := random.Random(seed)), small
        self.sizes = ["l", "w"] if rng.random() < 0.3 and not small else ["l"]
        self.extents: dict[str, list[str]] = {"flag": []}
        self.blocks: list[tuple[list[str], str]] = [(["flag"], "")]  # members, clauses
        for group in range(rng.randint(1, 3)):
            self.group(group)
        lines = [f"let {size} = 7" for size in self.sizes]
        for name, extents in self.extents.items():
            lines.append(f"bits {name}" + (f"[{','.join(extents)}]" if extents else ""))
        lines += [f"block {' '.join(members)} {clauses}" for members, clauses in self.blocks]
        if rng.random() < 0.6:
            lines += self.cells()
        lines += [self.rule() for _ in range(rng.randint(3, 8))]
        self.lines = [" ".join(line.split()) for line in lines]

    @property
    def text(self) -> str:
        """The text as one string."""
        return "\n".join(self.lines) + "\n"

    def size(self) -> str:
        """One of the sizes."""
        return self.rng.choice(self.sizes)

    def extent(self) -> str:
        """An extent that depends on a size."""
        size = self.size()
        return self.rng.choice([size, size, f"2*{size}", f"{size}+1", f"3*{size}", f"{size}//2+1"])

    def group(self, number: int) -> None:
        """Arrays that share blocks."""
        rng, one, two = self.rng, f"a{number}", f"b{number}"
        way = rng.randrange(6 if self.small else 7)
        extent = self.extent()
        if way == 0:
            self.extents |= {one: [extent]}
            self.blocks.append(([f"{one}[i]"], f"for i in 1..{extent}"))
        elif way == 1:
            self.extents |= {one: [extent], two: [extent]}
            self.blocks.append(([f"{one}[i]", f"{two}[i]"], f"for i in 1..{extent}"))
        elif way == 2:
            self.extents |= {one: [extent], two: [extent]}
            self.blocks.append(([f"{one}[i]", f"{two}[{extent}+1-i]"], f"for i in 1..{extent}"))
        elif way == 3:
            size = self.size()
            self.extents |= {one: [f"2*{size}"]}
            self.blocks.append(([f"{one}[2*i]", f"{one}[2*i-1]"], f"for i in 1..{size}"))
        elif way == 4:
            self.extents |= {one: [extent], two: [extent]}
            self.blocks.append(([f"{one}[1]", f"{two}[1]"], ""))
            self.blocks.append(([f"{one}[i]", f"{two}[i]"], f"for i in 2..{extent}"))
        elif way == 5:
            self.extents |= {one: [extent, "2"]}
            self.blocks.append(([f"{one}[i,*]"], f"for i in 1..{extent}"))
        else:
            other = self.extent()
            self.extents |= {one: [extent, other]}
            self.blocks.append(([f"{one}[i,j]"], f"for i in 1..{extent}, j in 1..{other}"))

    def cells(self) -> list[str]:
        """Every block in a cell; those with the same clauses together, at times."""
        groups: dict[str, list[list[str]]] = {}
        for members, clauses in self.blocks:
            key = clauses if self.rng.random() < 0.7 else clauses + " " * len(groups)
            groups.setdefault(key, []).append(members)
        lines = []
        for clauses, several in groups.items():
            self.rng.shuffle(several)
            named = [self.rng.choice([members[:1], members[::-1]]) for members in several]
            lines.append(f"cell {' '.join(bit for bits in named for bit in bits)} {clauses}")
        return lines

    def index(self) -> str:
        """An index of a target, by the index i of the rule."""
        size, k = self.size(), self.rng.randint(1, 3)
        ways = f"i i i i+{k} i-{k} 2*i-{k} {size}+{k}-i i//2+{k} {k} {size} {size}-{k} i%{k + 1}+1 (i-1)*{k}+1 i+{size}"
        return self.rng.choice(ways.split())

    def guard(self) -> str:
        """A condition on i and the sizes."""
        size, k = self.size(), self.rng.randint(1, 5)
        ways = f"i>={k} i!={k} i%{k + 1}={k // 2} {size}%{k}=0 3*i<=2*{size}+{k} i!={size}-{k} {size}>{k}"
        return self.rng.choice([*ways.split(), *f"i+{k}<{size} i={size} 2*i={size}+{k} (i+{size})%2=0".split()])

    def rule(self) -> str:
        """A rule of some block; guards keep its targets within their arrays."""
        rng = self.rng
        members, clauses = rng.choice(self.blocks)
        tests = []
        for at, member in enumerate(members):
            if at and rng.random() < 0.4:
                continue
            tests.append(f"{member}={rng.choice('011')}")
        guards = [self.guard() for _ in range(rng.choice([0, 0, 1, 1, 2]))] if "i in" in clauses else []
        if "i in" in clauses and rng.random() < 0.3:  # a fixed place instead of all
            place = rng.choice(["1", "2", self.size()])
            guards.append(f"i={place}")
        targets = []
        for _ in range(rng.randint(1, 3)):
            array = rng.choice(list(self.extents))
            parts = []
            for extent in self.extents[array]:
                way = rng.random()
                if way < 0.2:
                    parts.append("*")
                elif way < 0.3 and "i in" in clauses:
                    parts.append(f"i..{extent}")
                    guards.append(f"i<={extent}")
                elif way < 0.4 and " f in" not in clauses and extent != "2":
                    clauses += (", " if clauses else "for ") + f"f in 1..{extent}"
                    guards += rng.choice([[], ["f>2"], ["f!=2"], ["f>=i"] if "i in" in clauses else []])
                    parts.append("f")
                else:
                    index = self.index() if "i in" in clauses else rng.choice(["1", "2", self.size()])
                    guards += [f"{index}>=1", f"{index}<={extent}"]
                    parts.append(index)
            targets.append(array + (f"[{','.join(parts)}]" if parts else ""))
        conditions = f"if {' and '.join(guards)}" if guards else ""
        return f"also when {' '.join(tests)} write {' '.join(targets)} {clauses} {conditions}"
