"""How the site is built: `make docs`. Pages made from the code are written by _ext before Sphinx reads them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent / "src")]

from bitwright.version import __version__  # noqa: E402

project = "bitwright"
author = "The bitwright authors"
copyright = "the bitwright authors"
version = release = __version__

extensions = [
    "myst_parser",
    "generated",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "python_api",
    "repository",
    "first_use",
    "mathml",
    "sessions_in_colour",
    "pictures",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_templates", "figures", "**.safetensors"]
templates_path = ["_templates"]
nitpicky = True
# Types in signatures: those of numpy and of the standard library have no page here, and most of ours need none.
nitpick_ignore_regex = [(r"py:.*", r".*")]
default_role = "code"

myst_enable_extensions = ["deflist", "attrs_block", "attrs_inline", "colon_fence", "dollarmath"]
myst_dmath_double_inline = True
myst_dmath_allow_space = myst_dmath_allow_digits = False  # a prompt and a price are no formula
myst_heading_anchors = 4  # the same anchors as on a page of a repository
smartquotes = False  # what is quoted is typed as it stands

html_math_renderer = "mathml"
html_theme = "furo"
html_title = f"bitwright {version}"
html_static_path = ["_static"]
GALLERY = Path(os.environ.get("BITWRIGHT_GALLERY") or HERE.parent / "gallery")  # what `make gallery` writes
html_extra_path = [str(GALLERY)] if GALLERY.is_dir() else []
html_css_files = ["site.css"]
html_js_files = ["frames.js"]
# Of a session the button copies the commands, of Python the statements, without their prompts and without the output.
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
html_copy_source = False
html_show_sourcelink = False
html_permalinks_icon = "#"
highlight_language = "bw-session"  # a block without a language is a session or rule text
pygments_style = "default"
pygments_dark_style = "github-dark"
python_maximum_signature_line_length = 88
autodoc_default_options = {"members": True}
autodoc_type_aliases = {name: name for name in ("BoolArray", "Float", "FloatArray", "Int8", "IntArray", "Ints")}
autosummary_generate = ["reference/python.md"]
autosummary_filename_map = {  # some file systems take run and Run for the same
    **{f"bitwright.{name}": f"bitwright.{name.lower()}-class" for name in ("Executions", "Program", "Run")},
}
