"""What every inference gives: rules that executions show, or the reason why there are none."""

from __future__ import annotations

from os import PathLike

from bitwright.common.errors import Report
from bitwright.common.files.storage import as_path, write_atomically


class InferredRules(Report):
    """Rules with a report of how sure they are; true if there are some."""

    @property
    def inferred(self) -> bool:
        """Whether there are rules."""
        raise NotImplementedError

    def __bool__(self) -> bool:
        return self.inferred

    def text(self) -> str:
        """The text of the rule file; raises InputError if there are none."""
        raise NotImplementedError

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the rules to a .bw file; raises InputError if there are none."""
        write_atomically(as_path(path, "a rule file"), self.text().encode())
