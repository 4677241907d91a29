"""Write `conformance/spec/data/cells/library.toml` from the IDL of MC-MQAC section 6.

    python -m tools.declarations [--spec DIR] [--check]

DIR (default: the environment's MQ_SPEC_DIR) holds `MC-MQAC.md`. `--check` writes nothing and ends with 1 when the file
is not what the document says. A member is one line: kind, name, place, and each argument as name, type and flags. The
types are those of the protocol: `DISPATCH` and `UNKNOWN` for pointers to interfaces, `VARIANT` for every type.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from conformance.files import write_text
from conformance.spec.compiled import data_folder
from conformance.spec.constants.interfaces import INTERFACES
from tools.constants import DocumentError, read_document, sections_of

FILE = data_folder() / "cells" / "library.toml"
_RENAMED = {"IMSMPPrivateEvent": "IMSMQPrivateEvent"}
_AS_ANOTHER = {"IMSMQMessage3": "IMSMQMessage4"}
"""Interfaces whose listing has lost lines at a page break, and the revision with the same members (3.17.4)."""
_FIRST = {"IUnknown": 3, "IDispatch": 7, "dispinterface": 7}
_TYPES = {
    "BSTR": "BSTR",
    "VARIANT": "VARIANT",
    "VARIANT_BOOL": "BOOL",
    "VARIANT_BOOl": "BOOL",
    "BOOL": "BOOL",
    "short": "I2",
    "long": "I4",
    "LONG": "I4",
    "HRESULT": "ERROR",
    "DWORD": "UI4",
    "ULONG": "UI4",
    "IUnknown": "UNKNOWN",
    "IEnumConnections": "UNKNOWN",
    "IEnumConnectionPoints": "UNKNOWN",
    "IConnectionPoint": "UNKNOWN",
    "IConnectionPointContainer": "UNKNOWN",
    "LPCONNECTIONPOINT": "UNKNOWN",
    "PCONNECTIONPOINT": "UNKNOWN",
}
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_HEAD = re.compile(r"^[ \t]*(?:interface|dispinterface|coclass)\s+(\w+)\s*(?::\s*(\w+)\s*)?(?:\{|$)", re.MULTILINE)
_METHOD = re.compile(r"((?:\[[^\]]*\]\s*)*)\b(HRESULT|void)\s+(\w+(?: v\d)?)\s*\((.*?)\)\s*;", re.DOTALL)
_ARGUMENT = re.compile(r"\[([^\]]*)\]\s*([\w ]+?)\s*(\**)\s*(\w+)\s*(?:\[\])?\s*$", re.DOTALL)
_REFERENCE = re.compile(r"(\[[^\]]*\])?\s*(?:interface|dispinterface)\s+(\w+)\s*;")


def idl(text: str) -> str:
    """Return the IDL of section 6, without page breaks and comments."""
    blocks, inside = [], False
    for line in (line for _, _, lines in sections_of(text, "6") for line in lines):
        if line.startswith("```"):
            inside = not inside
        elif inside:
            blocks.append(line)
    text = _COMMENT.sub("", "\n".join(blocks))
    return re.sub(r"\n\s*\}\s*(?=\n)", "\n", text)


def bodies(source: str) -> Iterator[tuple[str, str, str]]:
    """Yield name, base and body of each interface and class: it ends where the next begins, braces are unreliable."""
    heads = list(_HEAD.finditer(source))
    for at, head in enumerate(heads):
        end = heads[at + 1].start() if at + 1 < len(heads) else len(source)
        yield _RENAMED.get(head.group(1), head.group(1)), head.group(2) or "", source[head.end() : end]


def members(name: str, body: str, first: int) -> Iterator[str]:
    """Yield the lines of an interface's members. first: the place of the first one."""
    for at, (attributes, result, member, arguments) in enumerate(_METHOD.findall(body)):
        listed = list(_arguments(name, arguments))
        kind = _kind(listed) if "prop" in attributes else "method"
        identifier = re.search(r"\bid\((\d+)\)", attributes)
        told = f" dispid={identifier.group(1)}" if identifier and result == "void" else ""
        yield f"{kind} {member.replace(' ', '_')} {first + at}{told}" + "".join(f" {one}" for one in listed)


def _kind(arguments: Sequence[str]) -> str:
    """Return the form of a property by its argument: the text prints `propput` for some that are read."""
    *_, last = arguments
    if last.endswith("retval"):
        return "get"
    return "putref" if ":DISPATCH:" in last else "put"


def _arguments(interface: str, text: str) -> Iterator[str]:
    for part in re.split(r",(?![^\[]*\])", text):
        if not part.strip() or part.strip() == "void":
            continue
        found = _ARGUMENT.search(part.strip())
        if found is None:
            raise DocumentError(f"an argument of {interface} cannot be read: {part.strip()!r}")
        flags, declared, stars, name = found.groups()
        word = declared.split()[-1]
        vt = _TYPES.get(word) or ("DISPATCH" if word.startswith("IMS") or word == "IDispatch" else f"{word}{stars}")
        kept = [flag for flag in ("in", "out", "optional", "retval") if re.search(rf"\b{flag}\b", flags)]
        yield f"{name}:{vt}:{'+'.join(kept)}"


def rendered(text: str) -> str:
    """Return the file. Raises DocumentError for a document that does not look as expected."""
    found = {name: (base, body) for name, base, body in bodies(idl(text))}
    missing = sorted(set(INTERFACES) - set(found))
    if missing:
        raise DocumentError(f"section 6 has no {', '.join(missing)}")
    lines = [
        "# The type library of MC-MQAC section 6. Generated by `python -m tools.declarations`; not edited by hand."
    ]
    counts: dict[str, int] = {}
    for name, listed in INTERFACES.items():
        body = found[_AS_ANOTHER.get(name, name)][1]
        first = counts.get(listed.base) or _FIRST[listed.base]
        rows = list(members(name, body, first))
        counts[name] = first + len(rows)
        lines += ["", f"[interfaces.{name}]", f'iid = "{listed.uuid}"', f'base = "{listed.base}"', "members = ["]
        lines += [f'    "{row}",' for row in rows]
        lines.append("]")
    lines += ["", "[classes]", "# Class to its interfaces, the default one first."]
    for name, (base, body) in found.items():
        if not base and name.startswith("MSMQ"):
            listed_ones = [(flags or "", _RENAMED.get(one, one)) for flags, one in _REFERENCE.findall(body)]
            listed_ones.sort(key=lambda one: "default" not in one[0] or "source" in one[0])
            lines.append(f"{name} = [{', '.join(json_text(one) for _, one in listed_ones)}]")
    return "\n".join(lines) + "\n"


def json_text(word: str) -> str:
    """Return a text of TOML."""
    return f'"{word}"'


def main(argv: Sequence[str] | None = None) -> int:
    """Write or compare the file. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tools.declarations")
    parser.add_argument("--spec", type=Path, default=os.environ.get("MQ_SPEC_DIR"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args(argv)
    if options.spec is None:
        parser.error("name the folder of the documents with --spec or MQ_SPEC_DIR")
    try:
        text = rendered(read_document(Path(options.spec), "MC-MQAC"))
    except DocumentError as wrong:
        print(f"declarations: {wrong}", file=sys.stderr)
        return 2
    if options.check:
        return int(not FILE.is_file() or FILE.read_text(encoding="utf-8") != text)
    write_text(FILE, text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
