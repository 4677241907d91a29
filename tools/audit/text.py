"""Normalises text of the documents: repairs damage, removes markup, splits sentences, finds demands.

A copy of a document that was converted with other tools differs in blanks, dashes and emphasis but not in its demands.
The normalised text is the same for all copies.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

# Characters decoded with the wrong code page, such as no-break spaces and en dashes, and their undamaged forms.
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
    """The role that a sentence binds (`sender`, `receiver` or `any`) and its level (`must`, `should` or `may`)."""

    role: str
    level: str


def repaired(text: str) -> str:
    """Replace wrongly decoded characters, typographic quotes, dashes and no-break spaces by plain ASCII."""
    for damaged, plain in _REPAIRS:
        text = text.replace(damaged, plain)
    return text


def collapsed(text: str) -> str:
    """Replace every run of white space by one blank, and strip the ends."""
    return " ".join(text.split())


def plain(raw: str) -> tuple[str, tuple[int, ...]]:
    """Return `raw` without markup, and the numbers of the product notes that it refers to."""
    text = _HTML.sub("", raw.replace("&lt;", "<").replace("&gt;", ">").replace("\\_", "_"))
    text = text.replace("\\[", "[").replace("\\]", "]").replace("\\*", "*")
    # Twice: the text of a link can contain another link.
    text = _LINK.sub(_link_text, _LINK.sub(_link_text, text))
    notes = tuple(int(number) for number in _NOTE.findall(text))
    text = _NOTE.sub("", text).replace("[]", "")
    text = _ITALIC.sub(r"\1", _BOLD.sub(r"\1", text)).replace("**", "").replace("`", "")
    return collapsed(text), notes


def _link_text(match: re.Match[str]) -> str:
    if match[1]:
        return ""
    inner = match[2]
    # A citation keeps its brackets, linked or not.
    return f"[{inner}]" if re.fullmatch(r"M[SC]-[A-Z]+", inner) else inner


def digest(*parts: str) -> str:
    """Return a digest of `parts` in 16 hexadecimal digits. White space is ignored, because copies differ in it."""
    joined = "\x1f".join(packed(part) for part in parts)
    return hashlib.sha256(joined.encode()).hexdigest()[:16]


def packed(text: str) -> str:
    """Return `text` without white space."""
    return "".join(text.split())


def sentences(text: str) -> list[str]:
    """Split `text` at full stops, question marks and colons before a capital, but not at abbreviations."""
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
    """Return the level of each keyword in `text`, in order: `must`, `should` or `may`."""
    return [_LEVELS[word.split()[0]] for word in _KEYWORD.findall(text)]


def strongest(levels: list[str]) -> str | None:
    """Return the strongest of `levels`, None when there is none."""
    return min(levels, key=_STRENGTH.index, default=None)


def demands(sentence: str) -> tuple[Demand, ...]:
    """Return the demands of one sentence: two if it binds sender and receiver separately, else one.

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
    """Return a demand on the sender and one on the receiver if each keyword's clause is about one of them."""
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
