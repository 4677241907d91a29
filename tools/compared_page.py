"""`python -m tools.compared_page` writes the tables of docs/what-is-checked.md: what compares each member of an answer.

The members come from the schemas, what compares them from `tools/compared.toml`.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

from conformance.adapter import protocol
from conformance.files import write_text
from conformance.verdict import Json

PAGE = Path(__file__).resolve().parents[1] / "docs" / "what-is-checked.md"
BEGIN, END = "<!-- compared -->\n", "<!-- /compared -->\n"
EVERY = ("status", "failure")
"""Members of every answer."""


def members() -> dict[str, tuple[str, ...]]:
    """Return the members of each answer by the method, of every answer by `answer`, and of messages by `message`."""
    found = {"answer": EVERY, "message": tuple(protocol.document("common")["$defs"]["message"]["properties"])}
    for name, method in protocol.methods().items():
        ways = method.result.get("anyOf", [method.result])
        own = [member for way in ways for member in way.get("properties", {}) if member not in EVERY]
        if own:
            found[name] = tuple(dict.fromkeys(own))
    return found


def table() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    """Return what compares each member: `by`, and `why` not everything does, or with what."""
    raw: Mapping[str, Json] = tomllib.loads(Path(__file__).with_name("compared.toml").read_text(encoding="utf-8"))
    return raw


def page() -> str:
    """Return the page with its tables."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text.partition(BEGIN)[0], text.partition(END)[2]
    return before + BEGIN + "\n".join(_tables()) + "\n" + END + after


def _tables() -> Iterator[str]:
    rows = table()
    yield from ("| member of a message that is read | compared by | |", "|---|---|---|")
    for member, row in rows["message"].items():
        yield f"| `{member}` | {row['by']} | {row.get('why', '')} |"
    yield from ("", "| answer | member | compared by | |", "|---|---|---|---|")
    for answer, own in rows.items():
        for member, row in own.items() if answer != "message" else ():
            name = "every answer" if answer == "answer" else f"`{answer}`"
            yield f"| {name} | `{member}` | {row['by']} | {row.get('why', '')} |"


if __name__ == "__main__":
    write_text(PAGE, page())
