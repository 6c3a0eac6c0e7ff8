"""The languages that bitwright reads, as grammars to make texts from (docs/reference: rule-text, sbn, subleq).

`<name>` stands for one alternative of that name. Where a text has grown deep the first alternative is taken, so that
it comes to an end.
"""

import re
from collections.abc import Mapping, Sequence
from random import Random

Grammar = Mapping[str, Sequence[str]]
_SYMBOL = re.compile(r"<([a-z]+)>")
_DEEP, _LONG = 12, 20_000

_NUMBERS = ("1", "0", "2", "3", "4", "7", "8", "15", "16", "17", "20", "255", "2147483647", "2147483648", "9" * 30)

RULES: Grammar = {
    "text": ("<program>", "<program>", "<line>", "<line><text>"),
    "program": (
        "<frame><sounds><lines>",
        "<frame><sounds>",
        "bits p[3,2] c\nblock p[i,*] for i in 1..3\nblock c\nwhen p[i,*]=<bitvalue> write c p[1,1] for i in 1..3\n",
        "bits <bitlist>\nblock <bits> <rows>\nblock <bits>\n<lines>",
    ),
    "frame": (
        "let l = <small>\nbits p[l] q[l] c[l]\nblock p[i] q[i] for i in 1..l\nblock c[i] for i in 1..l\n",
        "let l = <index>\nbits p[l] q[l] c[l]\nblock p[i] q[i] for i in 1..l\nblock c[i] for i in 1..l\n",
    ),
    "sounds": ("<sound>", "<sound><sounds>", "<sound><sound><sounds>"),
    "sound": (
        "when p[i]=<bitvalue> q[i]=1 write <bit> for i in <index>..l\n",
        "when c[i]=1 write <bit> for i in 1..l if i <than> <index>\n",
        *(
            "when p[<index>]=1 q[<index>]=<bitvalue> write <bit>\n",
            "input p q\n",
            "output o = c[<index>] p\n",
            "steps 2*l\n",
        ),
        *("input signed p\n", "start c[<index>]\n", "halt at fixed point\n", "halt when c[<index>]\n"),
        *("examples <index>*9\n",),
    ),
    "bitvalue": ("0", "1", "<index> % 2", "<index> - <index>"),
    "index": ("1", "l", "l // l", "l^0", "1 + 0*(<expr>)", "2"),
    "lines": ("<line>", "<line><lines>", "<line><line><lines>"),
    "line": (
        *("when <tests> write <bits> <rows>\n", "when <tests> write <bits> <rows>\n", "block <bits> <rows>\n"),
        *("let <name> = <expr>\n", "bits <bitlist>\n", "input <port>\n", "output <port>\n", "start <bits> <rows>\n"),
        *("steps <expr>\n", "matches <expr>\n", "examples <expr>\n", "halt when <bit>\n", "halt at fixed point\n"),
        *("# <name>\n", "\n", "when <test> \\\n write <bit>\n", "use counter(p, q, l)\n", "<word> <bits>\n"),
    ),
    "word": ("port", "whole", "chain", "graph", "group", "use", "end"),
    "bitlist": ("p[l]", "p[<small>] q[<small>] c", "<name>[<expr>]", "<name>[<expr>,<expr>] <name>"),
    "bits": ("<bit>", "<bit> <bits>"),
    "bit": ("p[i]", "q[i]", "c[i]", "c", "p[<expr>]", "<name>[<part>]", "<name>[<part>,<part>]", "<name>"),
    "part": ("i", "<expr>", "<expr>..<expr>", "*"),
    "tests": ("<test>", "<test> <tests>", "<test> and <test>"),
    "test": ("<bit>=1", "<bit>=0", "<bit>!=1", "<bit>=<expr>", "<bit>=<bit>", "<bit>!=<bit>"),
    "rows": ("", "for i in 1..l", "for i in <expr>..<expr>", "for i in 1..l, j in 1..i if <expr> <than> <expr>"),
    "than": ("<", "<=", ">", ">=", "=", "!="),
    "port": ("p", "p q", "signed p", "<name> = <bits>", "<name> = <part>"),
    "small": ("2", "1", "3", "4"),
    "name": ("p", "q", "c", "i", "j", "l", "x", "when", "é", "a" * 70),
    "expr": ("1", "l", "i", "<number>", "<expr> + <expr>", "<expr>-<expr>", "(<expr>)", "-<expr>", "<times>"),
    "times": ("<expr> * <expr>", "<expr> // <expr>", "<expr> % <expr>", "<expr>^<expr>"),
    "number": _NUMBERS,
}

NODES: Grammar = {
    "text": ("<program>", "<program>", "<program><lines>", "<line><text>"),
    "program": (
        "<frame><sounds>",
        "bits x w\nport bits s t\nchain s -> w\nblock x w\nblock s t\nwhen w=1 write x next.s\n<sounds>",
    ),
    "frame": (
        "bits x w v[3]\nport bits s t e[3]\nwhole bits d k[3]\nblock x w\nblock s t\nblock d\n"
        "block v[i] for i in 1..3\nblock e[i] for i in 1..3\nblock k[i] for i in 1..3\nwhen w=1 write x far.w\n",
    ),
    "sounds": ("<sound>", "<sound><sounds>", "<sound><sound><sounds>"),
    "sound": (
        *("when x=1 w=* write <fromnode>\n", "when v[i]=1 write <fromnode> for i in 1..3\n"),
        *("when t=1 s=<value> write <fromport>\n", "when e[i]=1 write <fromport> for i in 2..3\n"),
        *("when d=1 write <fromwhole>\n", "when k[i]=<value> write nothing for i in 1..2\n"),
        *("chain s -> x\n", "chain e[1] -> w\n", "graph <kind>\n", "halt when d\n", "steps nodes + ports\n"),
        *("start s\n", "input source = w, all.s\n", "input unique id = v\n", "input place e\n", "output v if x\n"),
        *("input positive weight = e\n", "output value = not v\n", "output s\n", "bits c[3]\nuse counter(v, c, 3)\n"),
    ),
    "value": ("0", "1", "*"),
    "kind": ("simple", "connected", "directed", "degree 3", "simple, <kind>", "degree <expr>", "<name>"),
    "fromnode": ("x", "far.w", "next.s", "all.e[1]", "far.t", "far.all.s", "d", "v[i]", "<fromnode> <target>"),
    "fromport": ("x", "far.w", "next.s", "all.t", "far.e[i]", "far.all.s", "t", "d", "<fromport> <target>"),
    "fromwhole": ("d", "every.x", "every.s", "every.v[*]", "k[2]", "<fromwhole> <target>"),
    "target": ("x", "<path>.<bit>", "<path>.<path>.<bit>", "<bit>", "nothing"),
    "path": ("far", "all", "next", "every", "<name>"),
    "lines": ("<line>", "<line><lines>"),
    "line": (
        *("when <bit>=<value> write <target>\n", "<place> bits <name>[<expr>]\n", "block <bit> <bit>\n", "<sound>"),
        *("cell <bit> <bit>\n", "chain <bit> -> <bit>\n", "graph <kind>\n", "halt when <bit>\n"),
        *("let <name> = <expr>\n",),
        *(
            "input <way> <bit>\n",
            "input <name> = <way> <bit>, <target>\n",
            "output <way> <bit> if <bit>\n",
            "start <target>\n",
        ),
        *("group <name>(<name>)\n<line>end\n", "group g(y)\nwhen y=1 write <target>\nend\n", "end\n", "group g\n"),
        *("use g(<bit>)\n", "use <name>(<bit>, <expr>)\n", "use clock(k, 3, <target>)\n", "use largest(r, 2, c, f)\n"),
        *("use quiet(<name>, 2, <name>)\n", "use register(v, c, 3, <target>)\n"),
    ),
    "place": ("port", "whole", ""),
    "way": ("", "unique", "positive", "signed", "not", "place"),
    "bit": ("x", "w", "s", "t", "d", "v[1]", "e[i]", "k[*]", "v", "<name>[<expr>]", "<path>.<bit>", "<name>"),
    "name": (
        *("x", "w", "s", "v", "y", "g", "far", "all", "end", "nothing", "nodes", "not", "use", "when", "é"),
        *("a" * 70,),
    ),
    "expr": (
        *("1", "3", "nodes", "ports", "digits(<expr>)", "<number>", "<expr>+<expr>", "<expr>-<expr>"),
        *("<expr>*<expr>",),
    ),
    "number": _NUMBERS,
}

EXPRESSIONS: Grammar = {
    "text": (
        "let a = <expr>\nlet b = <expr>\n<frame>when p[1]=0*(<expr>) write p[1+0*(<expr>)]\n",
        "let a = <small>\nlet b = <small>\n<frame>when p[1]=0*(<expr>) write p[1+(<expr>) % 3]\n",
        "let a = <expr>\nlet b = <expr>\n<frame>when p[<expr>]=<expr> write p[<expr>] for i in <expr>..<expr>\n",
    ),
    "frame": ("bits p[3]\nblock p[1..3]\n",),
    "expr": ("1", "a", "b", "<small>", "<number>", "(<expr>)", "-<expr>", "<expr> <sign> <expr>", "<expr><sign><expr>"),
    "sign": (*("+", "-", "*", "//", "%", "^", "+", "-", "*", "//", "%"), "<odd>"),
    "odd": ("=", "!=", "**", "/", "&", "<", "..", "^ -"),
    "small": ("1", "2", "3", "5"),
    "number": (*_NUMBERS, "0x10", "1.5", "1e3", "²", "١"),
}

SBN: Grammar = {
    "text": ("<line>", "<line><text>", "<line><line><text>", "<macro><text>"),
    "line": (
        *("    <operation>\n", "<label>: <operation>\n", "<label>:\n", "    <operation> ; <name>\n", "; <name>\n"),
        *("\n",),
        *(".width <number>\n", ".in <names>\n", ".out <names>\n", ".word <name> <number>\n"),
        *(".const <name> <number>\n",),
        *(".alias <name> <name>\n", ".end\n", ".<name>\n", "<label>: <label>: <operation>\n"),
    ),
    "macro": (".macro m x y\n<line><line>.end\n", ".macro <names>\n<line>.end\n", ".macro m\n<text>"),
    "operation": (
        *("sbn <word> <word>", "sbn <word> <word> <target>", "sub <word> <word>", "mov <word> <word>"),
        *("add <word> <word>", "clr <word>", "inc <word>", "dec <word>", "jmp <target>", "jneg <word> <target>"),
        *("halt",),
        *("m <word> <word>", "<name> <word>", "sbn <word>", "clr"),
    ),
    "word": ("a", "<name>", "#<number>", "@<name>", "#<name>", "-<name>"),
    "target": ("loop", "halt", "<label>", "<number>"),
    "label": ("loop", "@<name>", "<name>", "halt"),
    "names": ("a", "a b", "<name> <names>"),
    "name": ("a", "b", "c", "x", "y", "loop", "m", "STEP", "halt", "é", "a" * 70),
    "number": ("1", "-1", "0x1f", "0b101", "127", "-128", "300", "64", "65", "STEP", "-STEP", "0x", "9" * 30),
}

SUBLEQ: Grammar = {
    "text": (
        "<line>",
        "<line><text>",
        "<line><line><text>",
        "<macro><text>",
        ".words 64\n.width 8\n.dialect howerj\n<text>",
    ),
    "line": (
        *("    <operation>\n", "<label>: <operation>\n", "<label>:\n", "<label>: .data <items>\n", ".space <sum>\n"),
        *(".const <name>, <sum>\n", ".words <sum>\n", ".width <sum>\n", ".dialect <dialect>\n", "; <name>\n", ".end\n"),
        *("\n", ".<name> <items>\n", "<label>: <label>: <operation>\n"),
    ),
    "macro": (".macro m x, y\n<line><line>.end\n", ".macro <name> <name>\n<line>.end\n", ".macro m\n<text>"),
    "operation": (
        *("subleq <sum>, <sum>, <sum>", "subleq <sum>, <sum>", "sub <sum>, <sum>", "add <sum>, <sum>"),
        *("mov <sum>, <sum>",),
        *("clr <sum>", "inc <sum>", "dec <sum>", "jmp <sum>", "jle <sum>, <sum>", "halt", "in <sum>", "out <sum>"),
        *("m <items>", "<name> <items>", "out #<sum>", "subleq"),
    ),
    "items": ("<sum>", "<sum>, <items>", "#<sum>", '"<string>"', '"<string>", <items>'),
    "sum": ("0", "<atom>", "<atom> + <sum>", "<atom> - <sum>", "<atom> * <atom>", "#<atom>"),
    "atom": ("0", "<number>", "'<letter>'", "<name>", "$", "-<atom>", "(<sum>)", "@<name>"),
    "letter": ("a", "\\n", "\\", "é", "'", "\\x41", "ab"),
    "string": ("", "text\\n", "<letter><string>"),
    "label": ("loop", "@<name>", "<name>"),
    "name": ("a", "b", "x", "y", "Z", "loop", "m", "N", "é", "a" * 70),
    "dialect": ("howerj", "kth", "plain", "range,strict", "<name>"),
    "number": ("1", "-1", "0x1f", "0b101", "255", "65536", "16777217", "9" * 30, "0x"),
}

IMAGE: Grammar = {
    "text": ("<line>", "<line>\n<text>", "<line>\n<line>\n<text>"),
    "line": ("<word> <word> <word>", "<word>,<word>, <word>", "<word>", "# <word>", "<word> ; <word>", ""),
    "word": ("0", "3", "-1", "+7", "65535", "18446744073709551616", "9" * 21, "0x1f", "1.5", "--1", "²", "-", "1_0"),
}


def make_text(rng: Random, grammar: Grammar) -> str:
    """A text of the grammar, at most so deep and so long."""
    length = 0

    def expand(symbol: str, depth: int) -> str:
        nonlocal length
        choices = grammar[symbol]
        chosen = choices[0] if depth > _DEEP or length > _LONG else rng.choice(choices)
        length += len(chosen)
        return _SYMBOL.sub(lambda found: expand(found[1], depth + 1), chosen)

    return expand("text", 0)


def words_of(grammar: Grammar) -> list[str]:
    """The words that occur in a grammar, to edit good texts with."""
    found = {word for choices in grammar.values() for choice in choices for word in _SYMBOL.sub(" ", choice).split()}
    return sorted(found)
