"""How each word of the glossary is written where its own meaning is certain: patterns for first_use.py.

A blank stands for any blank or end of line. Patterns in small letters also stand at the beginning of a sentence.
"""

from __future__ import annotations

FORMS = {
    "algorithm": r"(?<!'s )algorithms?",
    "balanced step": r"balanced steps?",
    "block": r"(?<!code )(?<!thread )blocks?(?! of (?:code|threads|python))",
    "calibrated": r"calibrated(?: rounding)?",
    "cell": r"(?<!table )(?<!notebook )(?<!empty )cells?(?! of (?:a|the|this) (?:table|notebook|board|grid))",
    "certificate": r"certificates?",
    "configuration": r"configurations?",
    "domain": r"domains?",
    "engine": r"engines?",
    "ensemble": r"ensembles?",
    "example": r"training examples?|(?<=\d )examples?",
    "execution": r"executions",
    "K": r"K(?= examples?| = )",
    "kind": r"kinds? of (?:its |the |these )?cells?",
    "limit": r"(?<=of the )limit(?! of (?!infinite)|s)|(?<=in the )limit(?! of (?!infinite))|limit of infinite width",
    "local state": r"local states?",
    "machine A, B": r"[Mm]achines? [AB]",
    "margin": r"margins?",
    "match": r"(?<=template )matches|(?<=templates )match|(?<=number of )matches|matching templates?",
    "network of whole numbers": r"networks? of whole numbers|whole-number networks?",
    "node program": r"node programs?",
    "NTK": r"NTK",
    "oracle": r"oracles?",
    "padding": r"padding",
    "pattern": r"(?<=the )pattern",
    "port": r"ports?",
    "program": r"(?<!c )(?<!python )(?<!other )(?<!sbn )(?<!subleq )programs?",
    "proved": r"proved(?= of (?:the|this))",
    "rounding": r"(?<!up to )roundings?(?! (?:error|up|down))",
    "rule": r"(?<!sign )(?<!as a )(?<!limit )(?<!calibrated )rules?(?! (?:text|file|of thumb|k|\d))",
    "run": r"(?<=a )run|(?<=the )runs?|(?<=every )run|(?<=of all )runs|(?<=all )runs(?= of)",
    "sign": r"sign (?:rule|rounding)",
    "state": r"(?<!earlier )states?(?! of the (?:art|suite))",
    "step": r"(?<!fewest )(?<!to )steps?(?! sizes?| of (?:gradient|training|descent))",
    "template": r"templates?",
    "threshold": r"thresholds?",
    "tile": r"tiles?",
    "training set": r"training sets?",
    "verdict": r"verdicts?",
    "width": r"(?<!word )width",
    "width law": r"width law",
    "wire": r"wires?|wiring",
    "writers": r"writers?",
    "zero-output start": r"zero-output start",
}
# Pages, or folders of them, on which a word means something else.
NOT_ON: dict[str, tuple[str, ...]] = {
    "block": ("reference/file-formats",),
    "cell": ("guides/infer", "generated/verbs/infer"),
    "padding": ("explanation/machine-v", "explanation/performance"),
    "port": (
        *("explanation/machine-v", "explanation/performance", "guides/serve", "guides/cluster"),
        "generated/verbs/serve",
    ),
    "program": (
        *("explanation/errata", "explanation/machine-v", "explanation/results", "guides/gallery"),
        *("reference/sbn", "reference/subleq", "generated/verbs/asm", "generated/verbs/examples"),
    ),
    "rule": ("guides/serve",),
    "step": ("explanation/networks", "guides/width"),
    "template": ("generated/verbs/figure",),
    "tile": ("explanation/networks", "explanation/performance"),
    "width": ("reference/sbn", "reference/subleq"),
}
