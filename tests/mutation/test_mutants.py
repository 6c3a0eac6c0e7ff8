"""The mutants of a source are those that one would write down by hand."""

from __future__ import annotations

import ast

from mutation.mutants import mutants

SOURCE = '''"""Text with 1 < 2 in it."""
LIMIT: int = 3

class Box:
    def fits(self, x: int) -> bool:
        """Not 4 either."""
        if x < LIMIT and not self.full:
            raise ValueError(f"{x + 1}")
        self.é = -x * 2
        return x == 0
'''


def test_the_mutants_of_a_source() -> None:
    found = [(mutant.line, mutant.function, mutant.change) for mutant in mutants("box.py", SOURCE)]
    method = "Box.fits"
    assert found == [
        (2, "", "3 -> (4)"),
        (7, method, "x < LIMIT and not self.full -> not (x < LIMIT and not self.full)"),
        (7, method, "and -> or"),
        (7, method, "< -> <="),
        (7, method, "not -> "),
        (8, method, 'raise ValueError(f"{x + 1}") -> pass'),
        (9, method, "self.é = -x * 2 -> pass"),
        (9, method, "* -> +"),
        (9, method, "- -> "),
        (9, method, "2 -> (3)"),
        (10, method, "x == 0 -> None"),
        (10, method, "== -> !="),
        (10, method, "0 -> (1)"),
    ]


def test_each_is_another_program_and_has_a_name_of_its_own() -> None:
    every = mutants("box.py", SOURCE)
    trees = {ast.dump(ast.parse(mutant.apply(SOURCE))) for mutant in every}
    assert len({*trees, ast.dump(ast.parse(SOURCE))}) == len(every) + 1
    assert len({mutant.id for mutant in every}) == len(every)


def test_names_of_functions_are_those_that_python_gives() -> None:
    source = "def f():\n    if True:\n        def g():\n            return h + 1\n    return g\n"
    names = {mutant.function for mutant in mutants("f.py", source)}
    assert names == {"f", "f.<locals>.g"}
    scope: dict[str, object] = {"h": 1}
    exec(source, scope)
    assert scope["f"]().__qualname__ in names  # type: ignore[operator]
