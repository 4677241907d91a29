"""Names of the documents' sections, for readers who do not know the numbers by heart.

`titles.toml` is generated from the headings of the documents:
`python -m conformance.report.titles FOLDER` writes it again from the documents in FOLDER.
"""

from __future__ import annotations

import re
import sys
import tomllib
from functools import cache
from importlib import resources
from pathlib import Path

from conformance.spec.catalogue import DOCUMENTS

_HEADING = re.compile(r"^#+ (?P<number>\d(?:\.\d+)*) (?P<title>\S.*)$")
# What the documents' conversion left in headings: anchors, emphasis and escapes.
_MARKUP = re.compile(r"<[^>]*>|[*`\\]|\[(?=[^\]]*\]\()|\]\([^)]*\)")


def section_title(document: str, number: str) -> str:
    """The heading of this section (`MS-MQDMPR`, `3.2.7.3`), or an empty string when it has none."""
    return _titles().get(document, {}).get(number, "")


@cache
def _titles() -> dict[str, dict[str, str]]:
    text = resources.files("conformance.report").joinpath("titles.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def headings(text: str) -> dict[str, str]:
    """Section number to heading, for the text of one document."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        match = _HEADING.match(line)
        if match:
            title = " ".join(_MARKUP.sub("", match["title"]).split())
            found.setdefault(match["number"], title)
    return found


def generate(folder: Path) -> str:
    """The content of `titles.toml` from the documents in this folder. Raises OSError when one is missing."""
    out = ["# Generated from the documents' headings by `python -m conformance.report.titles`; not edited by hand.\n"]
    for document in DOCUMENTS.values():
        paths = [folder / f"{document}.md", folder / "siblings" / f"{document}.md"]
        path = next((path for path in paths if path.exists()), paths[0])
        out.append(f"\n[{document}]\n")
        for number, title in headings(path.read_text(encoding="utf-8")).items():
            escaped = title.replace('"', '\\"')
            out.append(f'"{number}" = "{escaped}"\n')
    return "".join(out)


if __name__ == "__main__":
    Path(__file__).with_name("titles.toml").write_text(generate(Path(sys.argv[1])), encoding="utf-8")
