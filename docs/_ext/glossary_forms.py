"""How each word of the glossary is written where its own meaning is certain: patterns for first_use.py.

A blank stands for any blank or end of line. Patterns in small letters also stand at the beginning of a sentence. An
entry of several words stands for itself and its plural.
"""

from __future__ import annotations

PLAIN = "certificate configuration domain engine ensemble margin oracle padding port template threshold tile verdict"
FORMS = {
    **{word: f"{word}s?" for word in PLAIN.split()},
    "algorithm": r"(?<!'s )algorithms?",
    "block": r"(?<!code )(?<!thread )blocks?(?! of (?:code|threads|python))",
    "calibrated": r"calibrated(?: rounding)?",
    "cell": r"(?<!table )(?<!notebook )(?<!empty )cells?(?! of (?:a|the|this) (?:table|notebook|board|grid))",
    "example": r"training examples?|(?<=\d )examples?",
    "execution": r"executions",
    "K": r"K(?= examples?| = )",
    "kind": r"kinds? of (?:its |the |these )?cells?",
    "limit": r"(?<=of the )limit(?! of (?!infinite)|s)|(?<=in the )limit(?! of (?!infinite))|limit of infinite width",
    "machine A, B": r"[Mm]achines? [AB]",
    "match": r"(?<=template )matches|(?<=templates )match|(?<=number of )matches|matching templates?",
    "integer network": r"networks? of integers|integer networks?",
    "NTK": r"NTK",
    "pattern": r"(?<=the )pattern",
    "program": r"(?<!c )(?<!python )(?<!other )(?<!sbn )(?<!subleq )programs?",
    "proved": r"proved(?= of (?:the|this))",
    "rounding": r"(?<!up to )roundings?(?! (?:error|up|down))",
    "rule": r"(?<!sign )(?<!as a )(?<!limit )(?<!calibrated )rules?(?! (?:text|file|of thumb|k|\d))",
    "run": r"(?<=a )run|(?<=the )runs?|(?<=every )run|(?<=of all )runs|(?<=all )runs(?= of)",
    "sign": r"sign (?:rule|rounding)",
    "state": r"(?<!earlier )states?(?! of the (?:art|suite))",
    "step": r"(?<!fewest )(?<!to )steps?(?! sizes?| of (?:gradient|training|descent))",
    "width": r"(?<!word )width",
    "wire": r"wires?|wiring",
    "writers": r"writers?",
}
# Pages, or folders of them, on which a word means something else.
NOT_ON = {
    "block": "reference/file-formats guides/train",
    "cell": "guides/infer guides/trace generated/verbs/infer",
    "padding": "explanation/machines explanation/performance",
    "port": "explanation/machines explanation/performance guides/cluster generated/verbs/serve",
    "program": "explanation/errata explanation/machines explanation/results explanation/reliability guides/gallery "
    "reference/sbn reference/subleq reference/pages generated/verbs/examples",
    "limit": "reference/pages",
    "rounding": "guides/elsewhere",
    "rule": "guides/trace reference/pages",
    "run": "guides/train",
    "step": "explanation/networks",
    "tile": "explanation/networks explanation/performance",
    "width": "reference/sbn reference/subleq",
    "wire": "reference/pages generated/python",
}
