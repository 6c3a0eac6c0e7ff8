"""Texts in which a ¦ marks the line and column of the problem that must be reported."""


def marked(text: str) -> tuple[str, int, int]:
    """The text without its mark, and the line and column of it."""
    before, _, after = text.partition("¦")
    return before + after, before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1
