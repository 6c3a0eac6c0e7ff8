"""Every page is made of the same library; in a page that is one file it is part of its script."""

import json
import re
import shutil
import subprocess
from base64 import b64encode
from hashlib import sha256
from pathlib import Path

import pytest
from cases import for_each
from graph_runs import searched

from bitwright import addition, run
from bitwright.pages import graph_page, library, trace_page
from bitwright.pages.library import MODULES, library_script, plain_script, single_page

LIBRARY = Path(library.__file__).parent


def test_modules_use_only_those_before_them() -> None:
    for at, name in enumerate(MODULES):
        used = re.findall(r'from "\./(\w+)\.mjs"', (LIBRARY / f"{name}.mjs").read_text("utf-8"))
        assert set(used) <= set(MODULES[:at]), name


def test_imports_and_exports_are_left_out_and_nothing_else() -> None:
    module = 'import { a } from "./a.mjs";\n\nexport const b = a;\nconst text = "export import";\n'
    assert plain_script([module]) == '\nconst b = a;\nconst text = "export import";\n'


@for_each("page", [trace_page(run(addition(2), p=1, q=2, record=True)), graph_page(searched())])
def test_pages_hold_the_library_and_allow_nothing_else(page: str) -> None:
    assert library_script() in page
    for tag, kind in (("script", "script-src"), ("style", "style-src")):
        texts = re.findall(rf'<{tag}(?: id="dark"[^>]*)?>(.*?)</{tag}>', page, re.DOTALL)
        allowed = re.search(rf"{kind} ([^;]*)", page)[1].split()
        assert allowed == [f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'" for text in texts]


def test_what_facts_say_stays_text() -> None:
    attack = "</script><script>alert(1)</script>{{script}}"
    page = single_page("<main></main>", "", "", {"title": attack})
    assert page.count("<script") == 3
    assert json.loads(re.search(r'id="facts">(.*?)</script>', page)[1]) == {"title": attack}


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
def test_numbers_and_names(tmp_path: Path) -> None:
    for name in MODULES:
        shutil.copy(LIBRARY / f"{name}.mjs", tmp_path)
    (tmp_path / "ask.mjs").write_text(
        'import { grouped, plural, short } from "./dom.mjs";\n'
        'import { bitIn, bitName, numberOf } from "./bits.mjs";\n'
        "const fields = [{ name: 'p', extents: [3], offset: 0, size: 3 }, "
        "{ name: 'M', extents: [2, 2], offset: 3, size: 4 }, { name: 'done', extents: [], offset: 7, size: 1 }];\n"
        "console.log(JSON.stringify([[0, 1234567, -1234, 2 ** 60, 1e400].map(grouped), "
        "[0, 1, 1000].map((n) => plural(n, 'bit')), "
        "[0.5, 0.01234, 1e-5, -2.5, Infinity, 12345].map(short), [0, 2, 3, 6, 7].map((bit) => bitName(fields, bit)), "
        "Array.from({ length: 8 }, (_, bit) => bitIn([0, 0b10110001], bit, 1)), "
        "[false, true].map((signed) => String(numberOf([0, 1, 2], (bit) => [1, 0, 1][bit], signed)))]));\n"
    )
    done = subprocess.run(["node", tmp_path / "ask.mjs"], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == [
        ["0", "1,234,567", "-1,234", "about 10^18", "more than 10^308"],
        ["0 bits", "1 bit", "1,000 bits"],
        ["0.500", "0.0123", "1.0e−5", "−2.500", "∞", "12,345"],
        ["p[1]", "p[3]", "M[1,1]", "M[2,2]", "done"],
        [1, 0, 1, 1, 0, 0, 0, 1],
        ["5", "-3"],
    ]
