"""Reads the full interface definition of MC-MQAC: interfaces, classes and enumerations in text with page breaks.

Braces and fences are unreliable there, so the text is split where a block begins: at `interface X : Y`,
`dispinterface X`, `coclass X` and `typedef`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from tools.audit.document import Block
from tools.audit.items import Draft
from tools.audit.text import collapsed
from tools.audit.words import spelled

# A structure with a tag is declared inside an interface and does not end it; nor do names for pointers.
_TYPE = r"(typedef (?:struct|enum)(?:\s+(?!tag)\w+)?\s*\{?\s*$|enum\s+\w+\s*\{?\s*$)"
_START = re.compile(r"^\s*(?:(dispinterface|interface|coclass)\s+(\w+)\s*(?::\s*(\w+))?\s*\{?\s*$|" + _TYPE + ")")
_UUID = re.compile(r"uuid\(\s*([0-9A-Za-z-]+)\s*\)")
_METHOD = re.compile(r"\bHRESULT\s+\w+(?: v1)?\s*\(|\bvoid\s+\w+\s*\(")
_NAME = re.compile(r"}\s*(\w+)\s*;")


def appendix(blocks: Sequence[Block]) -> Iterator[Draft]:
    """Yield an item for each interface (with its methods), class, enumeration and structure of the appendix."""
    code = [block for block in blocks if block.shape in ("fence", "row") or re.match(r"^[\[\]{}();]", block.text)]
    begins = [(at, match) for at, block in enumerate(code) if (match := _START.match(block.raw))]
    for which, (at, match) in enumerate(begins):
        end = begins[which + 1][0] if which + 1 < len(begins) else len(code)
        body = code[at:end]
        # The attributes before the next block belong to that block.
        last = next((n for n in range(len(body) - 1, 0, -1) if re.match(r"^\s*\[", body[n].raw)), len(body))
        if any(_UUID.search(block.raw) for block in body[last:]):
            body = body[:last]
        text = collapsed(" ".join(block.raw for block in body))
        yield _typedef(code[at], text) if match[4] else _block(code, at, match, text)


def _block(code: Sequence[Block], at: int, match: re.Match[str], text: str) -> Draft:
    before = " ".join(block.raw for block in code[max(0, at - 8) : at])
    uuids = [found.lower().replace("l", "1") for found in _UUID.findall(before)]  # the document confuses l and 1
    kind = "declaration" if match[1] == "coclass" else "interface"
    uuid = (("uuid", uuids[-1]),) if uuids else ()
    base = match[3] or match[1]
    return Draft(
        section=code[at].section,
        kind=kind,
        line=code[at].line,
        text=collapsed(f"{uuids[-1] if uuids else ''} {text}"),
        identifier=match[2],
        prefix=(*spelled(match[2].strip("_")), "coclass" if kind == "declaration" else "interface"),
        detail=(*uuid, ("base", base), ("methods", str(len(_METHOD.findall(text))))),
    )


def _typedef(block: Block, text: str) -> Draft:
    enumerates = bool(re.match(r"(?:typedef\s+)?enum\b", text))
    name = _NAME.search(text)
    first = re.search(r"enum\s+(\w+)", text)
    named = first[1] if first else name[1] if name else block.text
    return Draft(
        section=block.section,
        kind="enumeration" if enumerates else "declaration",
        line=block.line,
        text=text,
        identifier=named,
        prefix=(*spelled(named), "declaration"),
        detail=(("members", str(len(re.findall(r"\w+\s*=", text)))),) if enumerates else (),
    )
