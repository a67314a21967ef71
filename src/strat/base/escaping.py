"""Labels made safe for each place that they are written to: what a file says is data, never markup, formula or code.

Each function takes any text and returns it as its sink can have it; the terminal's own is `strat.base.errors.visible`.
"""

from __future__ import annotations

import re
import unicodedata

from strat.base.errors import visible

_TEX = {
    "\\": r"\textbackslash{}",
    "&": r"\&",
    "%": r"\%",
    "$": r"\$",
    "#": r"\#",
    "_": r"\_",
    "{": r"\{",
    "}": r"\}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "–": "--",
    "−": "$-$",
    "∞": r"$\infty$",
}
_BLOCK = re.compile(r"^(?:(\d+)(?=[.)](?:\s|$))|(?=[-+=](?:[-+=\s]|$)))")  # the start of a list or of a rule
_LINK = re.compile(r"(?<=:)(?=//)|(?<=www)(?=\.)|(?=@)", re.IGNORECASE)  # where an address of the web or of mail breaks


def one_line(text: str) -> str:
    """`text` with one blank for all blanks and line ends, and what a terminal would act on spelled out."""
    return visible(" ".join(text.split()))


def escape_markdown(text: str) -> str:
    r"""`text` with the signs that Markdown and HTML would act on made harmless, on one line.

    >>> escape_markdown("a|b <script>")
    'a\\|b &lt;script&gt;'
    >>> escape_markdown("- see http://x.org")
    '\\- see http:\\//x.org'
    """
    text = one_line(text).replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    text = re.sub(r"([\\`*_\[\]|#~])", r"\\\1", text)
    return _BLOCK.sub(r"\1\\", _LINK.sub(r"\\", text))


def escape_latex(text: str) -> str:
    r"""`text` with TeX's special signs spelled out; a leading `[` or `*`, which `\\` would take for its own, in braces.

    >>> escape_latex("50 % of a_b")
    '50 \\% of a\\_b'
    >>> escape_latex("[1cm]")
    '{[}1cm]'
    """
    escaped = "".join(_TEX.get(sign, sign) for sign in one_line(text))
    return f"{{{escaped[0]}}}{escaped[1:]}" if escaped[:1] in ("[", "*") else escaped


def escape_csv(text: str) -> str:
    r"""`text` as a CSV field that no spreadsheet runs as a formula, with what a terminal would act on spelled out.

    >>> escape_csv("=1+1")
    "'=1+1"
    >>> escape_csv("a\x1b[31m, b")
    '"a\\x1b[31m, b"'
    """
    text = visible(disarmed(text))
    if "," in text or '"' in text:
        return '"' + text.replace('"', '""') + '"'
    return text


def disarmed(text: str) -> str:
    """`text` with an apostrophe before what a spreadsheet would run as a formula."""
    return f"'{text}" if _acts(text) else text


def armed(text: str) -> str:
    """What `disarmed` was given."""
    return text[1:] if text[:1] == "'" and _acts(text[1:]) else text


def _acts(text: str) -> bool:
    """Whether a spreadsheet may run the text: behind blanks and a byte-order mark, and in full-width signs too."""
    if text[:1] in ("\t", "\r"):
        return True
    start = text.lstrip("' \t\r\n\v\f\u00a0\u3000\ufeff")[:1]
    return unicodedata.normalize("NFKC", start) in ("=", "+", "-", "@", "−") and not _is_number(text)


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def escape_json(text: str) -> str:
    r"""JSON text in which nothing is left that a terminal would act on: the same values, spelled by their codes.

    >>> print(escape_json('{"a": "x\u202ey"}'))
    {"a": "x\u202ey"}
    """
    if text.replace("\n", "").isprintable():
        return text
    return "".join(sign if sign.isprintable() or sign == "\n" else _code_units(sign) for sign in text)


def _code_units(sign: str) -> str:
    units = sign.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[i]:02x}{units[i + 1]:02x}" for i in range(0, len(units), 2))
