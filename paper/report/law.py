"""The width law term by term, as expressions that a test evaluates and that the report prints.

Each definition is a name and a Python expression of earlier names. What is printed is this very text, turned into TeX
by its syntax tree; `paper/tests/test_report.py` evaluates it and compares it with `paper.width_integrals`.
"""

from __future__ import annotations

import ast
from fractions import Fraction

CONSTANTS = {"o": "1/(2*pi)", "nu": "sqrt(o)", "s": "sqrt(1 - z**2)", "theta": "asin(z)"}

# Of one hidden unit: h_j = relu(g_j), D_j = [g_j > 0], and H, D the same of g.x; j, l, i are different examples of S.
INTEGRALS = {
    "P2": "1/4 + o*theta",
    "Q": "1/8 + o*theta",
    "t2": "P2 + o*z*s",
    "J11": "o*(s + z*(pi/2 + theta))",
    "L1": "o*(s + z)/2 + z*Q",
    "N1": "o*(1 + 2*z*s)/2",
    "D1": "nu*(1 + z)/2",
    "r": "-(z**2/s**2)",
    "D2": "nu*(z*(1/4 + o*asin(r)) + 1/4 + o*asin(z/s))",
    "J21": "nu*(1 + z)**2/2",
    "J22": "t2 + 2*z*J11",
    "J13": "2*J11 + z*t2",
    "J211": "N1 + 2*z*L1",
    "J121": "L1 + z*N1",
    "T2": "Q + o*z*(1 - 2*z**2)/(2*s)",
    "J111": "nu*s**2*o*(sqrt(1 - r**2) + r*(pi/2 + asin(r))) + 2*z*D2",
    "rho": "-(z**2/(1 - 2*z**2))",
    "p1": "1/4 + o*asin(rho)",
    "p2": "1/4 + o*asin(z/sqrt(1 - 2*z**2))",
    "U": "o*(z*(2 - 3*z**2)*p1/s + p2)",
    "F": "o*s**3*((1 - r**2)*o*(sqrt(1 - rho**2) + rho*(pi/2 + asin(rho))) + 2*r*(1 + 2*r)*p1) + 3*z*U",
}
MEANINGS = {
    "P2": "DD_j", "Q": "DD_jD_l", "t2": "Dh_j^2", "J11": "Hh_j", "L1": "Hh_jD_l", "N1": "Dh_jh_l", "D1": "Dh_j",
    "D2": "Dh_jD_l", "J21": "Hh_j^2", "J22": "H^2h_j^2", "J13": "Hh_j^3", "J211": "H^2h_jh_l", "J121": "Hh_j^2h_l",
    "T2": "Dh_j^2D_l", "J111": "Hh_jh_l", "U": "Dh_jh_lD_i", "F": "Hh_jh_lh_i",
}  # fmt: skip

# Of P = sum h_j, p = sum b_j h_j, d = sum b_j D_j over M examples, with e1 = sum b_j, e2 = sum b_j^2, A = e1^2 - e2.
MOMENTS = {
    "P": "M*nu",
    "p": "e1*nu",
    "d": "e1/2",
    "PP": "M/2 + M*(M - 1)*o",
    "pp": "e2/2 + A*o",
    "Pp": "e1*(1/2 + (M - 1)*o)",
    "pd": "nu*(e2 + A/2)",
    "Pd": "e1*nu*(M + 1)/2",
    "PPp": "e1*nu*(2 + 3/2*(M - 1) + (M - 1)*(M - 2)*o)",
    "Ppp": "nu*(e2*(2 + (M - 1)/2) + A*(1 + (M - 2)*o))",
    "Ppd": "e2/2 + A*(1/4 + o) + (M - 1)*e2*o + A*(M - 2)*o/2",
    "PPpp": "e2*(3/2 + (M - 1)*(4*o + 1/4) + (M - 1)*(M - 2)*o/2)"
    " + A*(4*o + 1/2 + 5/2*(M - 2)*o + (M - 2)*(M - 3)*o**2)",
}

# With q = H - w1 P_S and y = sum over S of b_j D_j (z D - w1); e1, e2, A, M = n are those of S.
MIXED = {
    "q": "nu - w1*S_P",
    "qp": "e1*J11 - w1*S_Pp",
    "qq": "1/2 - 2*w1*n*J11 + w1**2*S_PP",
    "qpp": "e2*J21 + A*J111 - w1*S_Ppp",
    "qqp": "e1*(J21 - 2*w1*(J21 + (n - 1)*J111)) + w1**2*S_PPp",
    "qqpp": "e2*J22 + A*J211 - 2*w1*(e2*J13 + (2*A + (n - 1)*e2)*J121 + A*(n - 2)*F) + w1**2*S_PPpp",
    "y": "e1*(z*P2 - w1/2)",
    "py": "e2*(z*D1 - w1*nu) + A*(z*D2 - w1*nu/2)",
    "qy": "(z - w1)*e1*D1 - w1*z*e1*(D1 + (n - 1)*D2) + w1**2*S_Pd",
    "qpy": "(z - w1)*(e2*J11 + A*L1) - w1*z*(e2*t2 + A*(T2 + N1) + (n - 1)*e2*N1 + A*(n - 2)*U) + w1**2*S_Ppd",
}

PARTS = {
    "X": "qqpp + 2*qqp*T_p + qq*T_pp - 2*w0*(qpp*T_P + 2*qp*T_Pp + q*T_Ppp) + w0**2*(S_pp*T_PP + 2*S_p*T_PPp + T_PPpp)",
    "Y": "qpy - w0*(qp*T_d + q*T_pd + T_P*py + T_Pp*y) + qy*T_p + w0**2*(T_Pd*S_p + T_Ppd)",
    "G": "tS*((z**2 - 2*z*w1)*P2 + w1**2/2) + (uSS - tS)*((z**2 - 2*z*w1)*Q + w1**2/4)"
    " - 2*uST*w0*(z*P2/2 - w1/4) + w0**2*(tT + uTT)/4",
}

_SYMBOLS = {"pi": r"\pi", "nu": r"\nu", "theta": r"\theta", "rho": r"\varrho", "z": "z", "w0": "w_0", "w1": "w_1"}
_SYMBOLS |= {"tS": "t_S", "tT": "t_T", "uSS": "u_{SS}", "uST": "u_{ST}", "uTT": "u_{TT}", "e1": "e_1", "e2": "e_2"}


def printed(definitions: dict[str, str], average: bool = False) -> str:
    r"""The definitions as formulas in a row; of averages the names stand in angle brackets.

    >>> print(printed({"L1": "o*(s + z)/2 - z*(1 + z)**2", "T2": "Q/(2*s)"}))
    $L_{1}=\langle Hh_jD_l\rangle=\frac12\,o\,(s+z)-z\,(1+z)^2$;\ $T_{2}=\langle Dh_j^2D_l\rangle=Q/(2\,s)$
    """
    formulas = []
    for name, expression in definitions.items():
        left = rf"\langle {name}\rangle" if average else _name(name)
        if not average and name in MEANINGS:
            left += rf"=\langle {MEANINGS[name]}\rangle"
        formulas.append(f"${left}={_tex(ast.parse(expression, mode='eval').body)}$")
    return ";\\ ".join(formulas)


def terms() -> dict[str, str]:
    """The rows of the appendix, by name."""
    return {
        "law constants": printed(CONSTANTS),
        "law integrals": printed(INTEGRALS),
        "law moments": printed(MOMENTS, average=True),
        "law mixed": printed(MIXED, average=True),
        "law parts": printed(PARTS),
    }


def _name(name: str) -> str:
    if name in _SYMBOLS:
        return _SYMBOLS[name]
    if name[:2] in ("S_", "T_"):
        return rf"\langle {name[2:]}\rangle_{name[0]}"
    if name in MIXED:
        return rf"\langle {name}\rangle"
    return f"{name[0]}_{{{name[1:]}}}" if name[1:].isdigit() else name


def _tex(node: ast.expr, inside: int = 0) -> str:
    """An expression; `inside` is how closely what is around it binds: 1 a product, 2 a power."""
    match node:
        case ast.Constant(value):
            return str(value)
        case ast.Name(name):
            return _name(name)
        case ast.Call(ast.Name("sqrt"), [inner]):
            return rf"\sqrt{{{_tex(inner)}}}"
        case ast.Call(ast.Name("asin"), [inner]):
            return rf"\arcsin({_tex(inner)})"
        case ast.UnaryOp(ast.USub(), inner):
            return _bracketed(f"-{_tex(inner, 1)}", inside > 0)
        case ast.BinOp(left, ast.Add(), right):
            return _bracketed(f"{_tex(left)}+{_tex(right)}", inside > 0)
        case ast.BinOp(left, ast.Sub(), right):
            return _bracketed(f"{_tex(left)}-{_tex(right, 1)}", inside > 0)
        case ast.BinOp(left, ast.Mult(), right):
            return _bracketed(rf"{_tex(left, 1)}\,{_tex(right, 1)}", inside > 1)
        case ast.BinOp(left, ast.Div(), right):
            return _quotient(left, right, inside)
        case ast.BinOp(left, ast.Pow(), right):
            return f"{_tex(left, 2)}^{_tex(right)}"
    raise LookupError(f"no TeX for {ast.unparse(node)}")


def _quotient(above: ast.expr, below: ast.expr, inside: int) -> str:
    """A fraction of two numbers, or what is divided with a factor before it, or a slash."""
    match above, below:
        case ast.Constant(over), ast.Constant(under):
            return rf"\frac{{{Fraction(over, under).numerator}}}{{{Fraction(over, under).denominator}}}"
        case _, ast.Constant(under):
            return _bracketed(rf"\frac1{under}\,{_tex(above, 1)}", inside > 1)
    return _bracketed(f"{_tex(above, 1)}/{_tex(below, 2)}", inside > 1)


def _bracketed(text: str, needed: bool) -> str:
    return f"({text})" if needed else text
