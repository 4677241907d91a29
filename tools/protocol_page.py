"""`python -m tools.protocol_page [FILE]` writes `docs/adapter-protocol.md` from the schemas.

Without a file it also writes the table of HRESULTs at the end of `docs/write-a-driver.md`, and the tables of names at
the end of `docs/directory-ldap.md`.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.adapter import ldap_names, protocol
from conformance.files import write_text
from conformance.spec.constants.hresults import HRESULTS
from conformance.verdict import Json

PAGE = Path(__file__).resolve().parents[1] / "docs" / "adapter-protocol.md"

TUTORIAL = PAGE.with_name("write-a-driver.md")
CODES = "## HRESULTs by name\n"
OVER_LDAP = PAGE.with_name("directory-ldap.md")
NAMES = "## Names by class\n"

_INTRO = "protocol_intro.md"  # what the schemas can't say, in a file of its own beside this one


def page() -> str:
    """The whole page."""
    intro = Path(__file__).with_name(_INTRO).read_text(encoding="utf-8")
    intro = intro.replace("VERSIONS", ", ".join(protocol.VERSIONS)).replace("QUESTIONS", "\n".join(_questions()))
    intro = intro.rstrip("\n")
    return "\n".join([intro, *_methods(), *_side(), *_lines(), *_values()]) + "\n"


def tutorial() -> str:
    """The page on drivers with its table of HRESULTs, the last of its sections."""
    before = TUTORIAL.read_text(encoding="utf-8").partition(CODES)[0]
    rows = [f"| `{name}` | 0x{code:08X} | {code} |" for name, code in HRESULTS.items()]
    lines = ["`mqconform requirements list --codes --json` prints this table too.", "", "| name | HRESULT | `status` |"]
    return "\n".join([before + CODES.rstrip("\n"), *lines, "|---|---|---|", *rows]) + "\n"


def over_ldap() -> str:
    """The page on the directory over LDAP with its tables of names, the last of its sections."""
    lines = [OVER_LDAP.read_text(encoding="utf-8").partition(NAMES)[0] + NAMES.rstrip("\n")]
    for kind, row in ldap_names.table().items():
        place = row["path"].replace("{}", "<name>").replace(ldap_names.ROOT, "<root>")
        lines += ["", f"### {kind}", f"Class `{row['class']}` ({row['source']}), at `{place}`.", ""]
        lines += ["| attribute | LDAP name | syntax | values | source |", "|---|---|---|---|---|"]
        for each in ldap_names.names_of(kind).values():
            values = "several" if each.several else "one"
            lines.append(f"| `{each.attribute}` | `{each.ldap}` | {each.syntax} | {values} | {each.source} |")
    return "\n".join(lines) + "\n"


def notes() -> dict[str, tuple[str, str]]:
    """Return the schemas' notes on questions the documents leave open: note to the method it stands at, and the text.

    A text is a question and its answer, in that order.
    """
    found = {}
    for facet in protocol.FACETS:
        for name, raw in protocol.document(facet)["methods"].items():
            for note, text in raw.get("notes", {}).items():
                found[note] = (_full(facet, name), text)
    return found


def _questions() -> Iterator[str]:
    for note, (method, text) in notes().items():
        yield f"- [{text.partition('? ')[0]}?](#{note}) (`{method}`)"


def _full(facet: str, name: str) -> str:
    return name if facet == "manager" else f"{facet}.{name}"


def _methods() -> Iterator[str]:
    yield ""
    yield "| facet | methods |"
    yield "|---|---|"
    for facet in protocol.FACETS:
        members = [method for method in protocol.methods().values() if method.facet == facet]
        links = ", ".join(f"[{method.name}](#{_anchor(method.full_name)})" for method in members)
        yield f"| {facet} | {links} |"
    for facet in protocol.FACETS:
        document = protocol.document(facet)
        yield ""
        yield f"### Facet {facet}: {document['title']}"
        for name, raw in document["methods"].items():
            yield from _method(_full(facet, name), raw)


def _side() -> Iterator[str]:
    """What a manager asks of the directory that it is told of."""
    document = protocol.document("directory_side")
    yield ""
    yield f"## {document['title']}"
    yield ""
    yield (
        "The manager is the client here: it connects to the address of `directory.use` and sends one request a line "
        "(JSON-RPC 2.0)."
    )
    yield "The answer has no `status`; `result` tells what became of the request."
    for name, raw in document["methods"].items():
        yield from _method(name, raw, f"{name}, asked of the directory")


def _method(name: str, raw: Mapping[str, Json], heading: str | None = None) -> Iterator[str]:
    yield ""
    yield f"#### {heading or name}"
    yield (
        raw["summary"]
        + (f" ({raw['source']})" if "source" in raw else "")
        + (" May wait." if raw.get("may_block") else "")
        + (f" Since {raw['since']}." if "since" in raw else "")
    )
    yield ""
    rows = [*_rows("parameter", raw["params"], skip=("deadline_ms",))]
    shape = raw["result"].get("anyOf", [raw["result"]])[0]
    rows += _rows("result", shape, required=raw["result"].get("required_on_success", ()), skip=("status",))
    if rows:
        yield "| | name | value | |"
        yield "|---|---|---|---|"
        yield from rows
        yield ""
    for note, text in raw.get("notes", {}).items():
        question, _, answer = text.partition("? ")
        yield f'- <a id="{note}"></a>*{question}?* {answer}'
    if "notes" in raw:
        yield ""
    yield "```"
    for example in raw["examples"]:
        yield f"{name} {_json(example['params'])}"
        yield f"  {_json(example['result'])}"
    yield "```"


def _rows(
    what: str,
    schema: Mapping[str, Json],
    *,
    required: tuple[str, ...] = (),
    skip: tuple[str, ...] = (),
    within: str = "",
) -> Iterator[str]:
    """A row for each member, and below it for each of its own."""
    demanded = {*schema.get("required", ()), *required}
    for name, value in schema.get("properties", {}).items():
        if name in skip:
            continue
        need = "" if name in demanded else "optional. "
        need += f"Since {value['since']}. " if "since" in value else ""
        note = value.get("description", "")
        note += f" Default {_json(value['default'])}." if "default" in value else ""
        yield f"| {what} | `{within}{name}` | {_kind(value)} | {(need + note).replace('|', chr(92) + '|').strip()} |"
        parts = [(part, ".") for part in (value, *value.get("anyOf", ()))]
        for own, mark in (*parts, (value.get("items", {}), "[].")):
            if _structure(own) is None:
                yield from _rows(what, own, within=f"{within}{name}{mark}")


def _kind(schema: Mapping[str, Json]) -> str:
    """A schema in a few words; shared values link to their own section."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{_anchor('value ' + name)})"
    for key in ("allOf", "anyOf"):
        if key in schema:
            return " or ".join(_kind(part) for part in schema[key])
    if (structure := _structure(schema)) is not None:
        return f"[{structure}](#{_anchor('structure ' + structure)})"
    if "enum" in schema:
        return ", ".join(f"`{value if isinstance(value, str) else _json(value)}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{_json(schema['const'])}`"
    kind = schema.get("type", "any value")
    if isinstance(kind, list):
        return " or ".join(_kind({**schema, "type": each}) for each in kind)
    if kind == "array":
        return f"array of {_kind(schema.get('items', {}))}"
    if kind == "object" and "properties" not in schema and isinstance(schema.get("additionalProperties"), dict):
        return f"object: any name to {_kind(schema['additionalProperties'])}"
    if kind not in ("integer", "number"):
        return str(kind)
    low, high = schema.get("minimum"), schema.get("maximum")
    if low is not None or high is not None:
        return f"{kind}, {'' if low is None else low}..{'' if high is None else high}"
    return str(kind)


def _structure(schema: Mapping[str, Json]) -> str | None:
    """The structure whose members this schema repeats, or None."""
    if "properties" not in schema:
        return None
    shapes = protocol.document("structures")["$defs"].items()
    return next((name for name, shape in shapes if shape.get("properties") == schema["properties"]), None)


def _lines() -> Iterator[str]:
    """The members of the lines, and those that the parameters and results of all methods have."""
    common = protocol.document("queues")["methods"]["delete"]
    success, failure = common["result"]["anyOf"]
    yield ""
    yield "## Members of every line"
    yield ""
    yield "| line | name | value | |"
    yield "|---|---|---|---|"
    for name, schema in protocol.document("envelope")["$defs"].items():
        for shape in schema.get("anyOf", [schema]):
            yield from _rows(name if "error" not in shape["properties"] else "error", shape)
    deadline = {"deadline_ms": common["params"]["properties"]["deadline_ms"]}
    yield from _rows("request", {"properties": deadline}, within="params.")
    yield from _rows("response: success", success, within="result.")
    yield from _rows("response: failure", failure, within="result.")


def _values() -> Iterator[str]:
    yield from _definitions("## Shared values", "Value", protocol.document("common"))
    yield from _definitions("## Structures", "Structure", protocol.document("structures"))


def _definitions(title: str, word: str, document: Mapping[str, Json]) -> Iterator[str]:
    yield ""
    yield title
    for name, schema in document["$defs"].items():
        yield ""
        yield f"### {word} {name}"
        yield schema.get("description", "")
        if "properties" in schema:
            yield ""
            yield "| name | value | |"
            yield "|---|---|---|"
            for row in _rows("", schema):
                yield row.removeprefix("|  ")
        else:
            yield f"({_kind(schema)})"


def _anchor(heading: str) -> str:
    """How GitHub names the heading."""
    return "".join(
        character for character in heading.lower().replace(" ", "-") if character.isalnum() or character in "-_"
    )


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else PAGE
    target.parent.mkdir(parents=True, exist_ok=True)
    write_text(target, page())
    if target == PAGE:
        write_text(TUTORIAL, tutorial())
        write_text(OVER_LDAP, over_ldap())
