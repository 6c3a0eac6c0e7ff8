"""Many cheap cases in one test."""

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Runs a test with each case, as `pytest.mark.parametrize` does, but as one test that names the case that failed.

    For cases of milliseconds: what pytest does around a test takes longer. Every case has a `tmp_path` of its own, and
    `monkeypatch` is undone after it; other fixtures are shared.
    """
    wanted = (names,) if isinstance(names, str) else names
    rows = [dict(zip(wanted, (case,) if isinstance(names, str) else case, strict=True)) for case in cases]
    assert rows, "there are no cases"

    def decorate(test: Test) -> Test:
        @wraps(test)
        def every(**fixtures: Any) -> None:
            for number, case in enumerate(rows):
                try:
                    test(**_of_its_own(fixtures, number), **case)
                except BaseException as error:
                    error.add_note(f"case {number}: {repr(case)[:1000]}")
                    raise
                finally:
                    if "monkeypatch" in fixtures:
                        fixtures["monkeypatch"].undo()

        signature = inspect.signature(test)
        left = [parameter for name, parameter in signature.parameters.items() if name not in wanted]
        every.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return every

    return decorate


def _of_its_own(fixtures: dict[str, Any], number: int) -> dict[str, Any]:
    if "tmp_path" not in fixtures:
        return fixtures
    folder = Path(fixtures["tmp_path"]) / f"case-{number}"
    folder.mkdir()
    return fixtures | {"tmp_path": folder}
