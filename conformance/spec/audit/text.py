"""Text of the documents made comparable: damage repaired, markup taken off, sentences cut, demands found.

A copy of a document converted with other tools differs in blanks, dashes and emphasis but not in what it demands, so
everything here aims at one text for all copies.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

# A no-break space and an en dash that were decoded once with the wrong code page, and their undamaged selves.
_REPAIRS = (
    ("\u00c2\u00a0", " "),
    ("\u00e2\u20ac\u201c", "-"),
    ("\u00e2\u20ac\u201d", "-"),
    ("\u00e2\u20ac\u2122", "'"),
    ("\u00a0", " "),
    ("\u2013", "-"),
    ("\u2014", "-"),
    ("\u2018", "'"),
    ("\u2019", "'"),
    ("\u201c", '"'),
    ("\u201d", '"'),
)
_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[(?:[^\[\]]|\[[^\[\]]*\])*\])*)\]\((#|\.\./|https?:|mailto:|media/)[^)]*\)")
_NOTE = re.compile(r"\s?<(\d{1,3})>")
_BOLD = re.compile(r"\*\*(?=\S)(.+?)\*\*")
_ITALIC = re.compile(r"(?<![\w*])\*(?=[A-Za-z<\"(])([^*]+?)\*(?!\w)")
_HTML = re.compile(r"</?(?:b|u|sup|a|br|i|sub)(?:\s[^>]*)?/?>")
_KEYWORD = re.compile(r"\b(MUST NOT|MUST not|MUST|SHOULD NOT|SHOULD not|SHOULD|MAY)\b")
_ABBREVIATIONS = ("e.g.", "i.e.", "etc.", "vs.", "cf.", "No.", "U.S.", "approx.")
_END = re.compile(r"[.!?:](?:[)\"'])?\s+(?=[A-Z\"(\[<*])")
_SENDER = re.compile(r"\b(when sent|when sending|on sending|senders?|clients?)\b", re.IGNORECASE)
_RECEIVER = re.compile(r"\b(on receipt|when received|on receiving|receivers?|recipients?|servers?)\b", re.IGNORECASE)
_SET = re.compile(r"\bMAY be set to\b")
_LEVELS = {"MUST": "must", "SHOULD": "should", "MAY": "may"}
_STRENGTH = ("must", "should", "may")


@dataclass(frozen=True, slots=True)
class Demand:
    """What a sentence asks, and of whom. `role`: `sender`, `receiver` or `any`; `level`: `must`, `should` or `may`."""

    role: str
    level: str


def repaired(text: str) -> str:
    """`text` with wrongly decoded characters, typographic quotes, dashes and no-break spaces made plain ASCII."""
    for damaged, plain in _REPAIRS:
        text = text.replace(damaged, plain)
    return text


def collapsed(text: str) -> str:
    """`text` with every run of white space as one blank, and none at the ends."""
    return " ".join(text.split())


def plain(raw: str) -> tuple[str, tuple[int, ...]]:
    """`raw` without markup, and the numbers of the product notes it refers to."""
    text = _HTML.sub("", raw.replace("&lt;", "<").replace("&gt;", ">").replace("\\_", "_"))
    text = text.replace("\\[", "[").replace("\\]", "]").replace("\\*", "*")
    # Twice: a link can stand inside the text of another one.
    text = _LINK.sub(_link_text, _LINK.sub(_link_text, text))
    notes = tuple(int(number) for number in _NOTE.findall(text))
    text = _NOTE.sub("", text).replace("[]", "")
    text = _ITALIC.sub(r"\1", _BOLD.sub(r"\1", text)).replace("**", "").replace("`", "")
    return collapsed(text), notes


def _link_text(match: re.Match[str]) -> str:
    if match[1]:
        return ""
    inner = match[2]
    # A citation keeps its brackets whether or not this occurrence of it is a link.
    return f"[{inner}]" if re.fullmatch(r"M[SC]-[A-Z]+", inner) else inner


def digest(*parts: str) -> str:
    """16 hexadecimal digits that stand for `parts`. White space does not count: copies differ in it."""
    joined = "\x1f".join(packed(part) for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


def packed(text: str) -> str:
    """`text` without any white space."""
    return "".join(text.split())


def sentences(text: str) -> list[str]:
    """`text` cut at full stops, question marks and colons that a capital follows; abbreviations do not end one."""
    cut: list[str] = []
    start = 0
    for match in _END.finditer(text):
        head = text[start : match.end()].rstrip()
        if head.endswith(_ABBREVIATIONS):
            continue
        cut.append(head)
        start = match.end()
    tail = text[start:].strip()
    if tail:
        cut.append(tail)
    return cut


def keywords(text: str) -> list[str]:
    """The levels named in `text`, in order: `must`, `should` or `may` for each keyword."""
    return [_LEVELS[word.split()[0]] for word in _KEYWORD.findall(text)]


def strongest(levels: list[str]) -> str | None:
    """The strongest of `levels`, or None when there is none."""
    return min(levels, key=_STRENGTH.index, default=None)


def demands(sentence: str) -> tuple[Demand, ...]:
    """The demands of one sentence: two when it asks one thing of who sends and another of who receives, else one.

    A sentence without a keyword has none.
    """
    levels = keywords(sentence)
    if not levels:
        return ()
    halves = _halves(sentence)
    if halves:
        return halves
    senders, receivers = _SENDER.search(sentence), _RECEIVER.search(sentence)
    role = "any" if bool(senders) == bool(receivers) else ("sender" if senders else "receiver")
    return (Demand(role, strongest(levels) or "must"),)


def _halves(sentence: str) -> tuple[Demand, ...]:
    """A sender's and a receiver's half, when the clauses around the keywords are about one each."""
    found: dict[str, list[str]] = {}
    for clause in re.split(r"\b(?:and|but|otherwise|or)\b|;|, ", sentence):
        levels = keywords(clause)
        sent = _SENDER.search(clause) or _SET.search(clause)
        who = "sender" if sent else "receiver" if _RECEIVER.search(clause) else None
        if who and levels:
            found.setdefault(who, []).extend(levels)
    if set(found) != {"sender", "receiver"}:
        return ()
    return tuple(Demand(role, strongest(found[role]) or "must") for role in ("sender", "receiver"))
