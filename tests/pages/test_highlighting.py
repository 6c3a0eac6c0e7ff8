"""Both highlighters of rule text, in Pygments and in the editor of the local page, know every word of the language."""

import re
from importlib.resources import files

from bitwright.pages import lexer
from bitwright.rules.layout import KEYWORDS
from bitwright.rules.text.parser import PATHS

STEPS = {step for path in PATHS for step in path}


def test_pygments_knows_every_word() -> None:
    assert {*lexer.STATEMENTS, *lexer.INSIDE, *lexer.KINDS} >= KEYWORDS
    assert set(lexer.PATHS) == STEPS


def test_the_editor_knows_every_word() -> None:
    text = (files("bitwright.web") / "assets" / "languages.js").read_text("utf-8")
    keywords, builtins = (set(words.split()) for words in re.findall(r'words\("([^"]*)"\)', text)[:2])
    assert keywords | builtins >= {*lexer.STATEMENTS, *lexer.INSIDE, *lexer.KINDS}
    assert builtins >= STEPS
