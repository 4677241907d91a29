"""Write the modules of `conformance/spec/constants` from the text of the documents.

    python -m tools.constants [--spec DIR] [--check]

DIR (default: the environment's MQ_SPEC_DIR) holds `MS-MQMQ.md`, `MC-MQAC.md`, `MS-MQMP-2.2.3.2.txt` and the documents
that the few codes outside MS-MQMQ 2.4 come from. `--check` writes nothing and ends with 1 when a module is not what the
documents say.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from conformance.files import write_text
from conformance.spec import constants
from tools.audit import AuditError
from tools.constants_tables import MARK, enumerations_module, interfaces_module, properties_module

FOLDER = Path(constants.__file__).parent
"""The package whose modules are written."""
ERROR_CODES = ("MS-MQMQ", "2.4")
QUEUE_PROPERTIES = ("MS-MQMQ", "2.3.1")

# MS-MQMQ 2.4 lacks these, and calls answer with them all the same. The value is read from the section named here.
ELSEWHERE = (
    ("MQ_OK", "MS-MQDMPR", "3.1.4.3"),
    ("STATUS_NOT_FOUND", "MS-MQDMPR", "3.1.7.1.17"),
)

_HEADING = re.compile(r"^#{1,6} (\d+(?:\.\d+)*) (\S.*)$")
_CODE_ROW = re.compile(r"^\| 0x([0-9A-Fa-f]{8}) (MQ[A-Z0-9_]+) \|")
_VALUE = re.compile(r"^Value: (\d+)\.?$")
_VARIANT = re.compile(r"^Variant type: \[(VT_[A-Z0-9]+)\]")


class DocumentError(ValueError):
    """A document is missing or does not look as this generator expects."""


@dataclass(frozen=True, slots=True)
class Code:
    """A status code. `source` is document and section, such as `MS-MQMQ 2.4`."""

    name: str
    value: int
    source: str


@dataclass(frozen=True, slots=True)
class Property:
    """A property identifier. `variant_type` is the document's name for the type of its value."""

    name: str
    value: int
    variant_type: str
    section: str


def read_document(directory: Path, document: str) -> str:
    """The text of a document, in `directory` or its folder `siblings`. Raises DocumentError when there is none."""
    for folder in (directory, directory / "siblings"):
        path = folder / f"{document}.md"
        if path.is_file():
            return path.read_text(encoding="utf-8")
    raise DocumentError(f"{document}.md is not in {directory}; name the folder of the documents with --spec")


def sections_of(text: str, number: str) -> list[tuple[str, str, list[str]]]:
    """Section `number` and all below it: (number, title, lines without blank ones)."""
    found: list[tuple[str, str, list[str]]] = []
    inside = False
    for line in text.splitlines():
        heading = _HEADING.match(line)
        if heading:
            inside = heading[1] == number or heading[1].startswith(number + ".")
            if inside:
                found.append((heading[1], heading[2].strip(), []))
        elif inside and line.strip():
            found[-1][2].append(line.strip())
    if not found:
        raise DocumentError(f"the document has no section {number}")
    return found


def read_codes(directory: Path) -> list[Code]:
    """MQ_OK and the codes of MS-MQMQ 2.4 in the order of the document, then the others of `ELSEWHERE`."""
    document, number = ERROR_CODES
    lines = sections_of(read_document(directory, document), number)[0][2]
    rows = [match for line in lines if (match := _CODE_ROW.match(line))]
    # Header and separator are the only other lines of the table: a row that is not understood must not be dropped.
    unread = sum(line.startswith("|") for line in lines) - 2 - len(rows)
    if unread or not rows:
        raise DocumentError(f"{document} {number}: {unread} of its table's rows are not of the form code, name")
    table = [Code(match[2], int(match[1], 16), f"{document} {number}") for match in rows]
    others = [_elsewhere(directory, *entry) for entry in ELSEWHERE]
    codes = [others[0], *table, *others[1:]]
    for what in ({code.name for code in codes}, {code.value for code in codes}):
        if len(what) != len(codes):
            raise DocumentError(f"{document} {number} gives a name or a value twice")
    return codes


def _elsewhere(directory: Path, name: str, document: str, number: str) -> Code:
    lines = sections_of(read_document(directory, document), number)[0][2]
    values = {int(match, 16) for match in re.findall(rf"\b{name} \(0x([0-9A-Fa-f]{{8}})\)", "\n".join(lines))}
    if len(values) != 1:
        raise DocumentError(f"{document} {number} gives {name} {len(values)} values")
    return Code(name, values.pop(), f"{document} {number}")


def read_properties(directory: Path) -> list[Property]:
    """The queue properties of MS-MQMQ 2.3.1 in the order of the document."""
    document, number = QUEUE_PROPERTIES
    properties = []
    for section, title, lines in sections_of(read_document(directory, document), number)[1:]:
        value, variant = _only(_VALUE, lines), _only(_VARIANT, lines)
        if not title.startswith("PROPID_") or value is None or variant is None:
            raise DocumentError(f"{document} {section} has no value and variant type")
        properties.append(Property(title, int(value), variant, section))
    return properties


def _only(pattern: re.Pattern[str], lines: Sequence[str]) -> str | None:
    found = [match[1] for line in lines if (match := pattern.match(line))]
    return found[0] if len(found) == 1 else None


def hresults_module(directory: Path) -> str:
    """The source of `hresults.py`."""
    codes = read_codes(directory)
    default = " ".join(ERROR_CODES)
    out = [
        '"""Status codes: MS-MQMQ 2.4, and the few that other sections add.',
        "",
        MARK,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Final",
        "",
        *(f"{code.name}: Final = 0x{code.value:08X}" for code in codes),
        "",
        "HRESULTS: Final[dict[str, int]] = {",
        *(f'    "{code.name}": {code.name},' for code in codes),
        "}",
        "",
        f"# Where a code is defined, if not in {default}.",
        "_SOURCES: Final[dict[str, str]] = {",
        *(f'    "{code.name}": "{code.source}",' for code in codes if code.source != default),
        "}",
        "_NAMES: Final[dict[int, str]] = {value: name for name, value in HRESULTS.items()}",
        "",
        "",
        "def name_of(code: int) -> str | None:",
        '    """The name of a status code (unsigned 32 bit), or None for one the documents do not list."""',
        "    return _NAMES.get(code)",
        "",
        "",
        "def source_of(name: str) -> str:",
        '    """Document and section that define a name. Raises KeyError for a name the documents do not list."""',
        "    HRESULTS[name]",
        f'    return _SOURCES.get(name, "{default}")',
        "",
    ]
    return "\n".join(out)


def property_ids_module(directory: Path) -> str:
    """The source of `property_ids.py`."""
    properties = read_properties(directory)
    out = [
        '"""Queue property identifiers: MS-MQMQ 2.3.1.',
        "",
        MARK,
        '"""',
        "",
        "from __future__ import annotations",
        "",
        "from typing import Final, NamedTuple",
        "",
        "",
        "class PropertyId(NamedTuple):",
        '    """A property: its number, the variant type of its value as the document names it, and its section."""',
        "",
        "    value: int",
        "    variant_type: str",
        "    section: str",
        "",
        "",
        *(f"{entry.name}: Final = {entry.value}" for entry in properties),
        "",
        "QUEUE_PROPERTIES: Final[dict[str, PropertyId]] = {",
        *(
            f'    "{entry.name}": PropertyId({entry.name}, "{entry.variant_type}", "{entry.section}"),'
            for entry in properties
        ),
        "}",
        "",
    ]
    return "\n".join(out)


MODULES: Mapping[str, Callable[[Path], str]] = {
    "hresults.py": hresults_module,
    "property_ids.py": property_ids_module,
    "properties.py": properties_module,
    "enumerations.py": enumerations_module,
    "interfaces.py": interfaces_module,
}


def stale(directory: Path) -> list[str]:
    """The names of the modules that are not what the documents in `directory` say."""
    return [
        name
        for name, source in MODULES.items()
        if not (FOLDER / name).is_file() or (FOLDER / name).read_text(encoding="utf-8") != source(directory)
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    """0: written or up to date; 1: `--check` found a stale module; 2: no or unreadable documents."""
    parser = argparse.ArgumentParser(prog="constants", description="Write the constant modules from the documents.")
    parser.add_argument("--spec", default=os.environ.get("MQ_SPEC_DIR"), help="folder of the documents (MS-MQMQ.md)")
    parser.add_argument("--check", action="store_true", help="only tell whether the modules are up to date")
    chosen = parser.parse_args(arguments)
    if not chosen.spec:
        print("Name the folder of the documents with --spec or in MQ_SPEC_DIR.", file=sys.stderr)
        return 2
    directory = Path(chosen.spec)
    try:
        outdated = stale(directory)
        if not chosen.check:
            for name in outdated:
                write_text(FOLDER / name, MODULES[name](directory))
    except (DocumentError, AuditError, OSError) as problem:
        print(f"{problem}", file=sys.stderr)
        return 2
    for name in outdated:
        print(f"{name} is not what the documents say." if chosen.check else f"{name} written.")
    return 1 if chosen.check and outdated else 0


if __name__ == "__main__":
    sys.exit(main())
