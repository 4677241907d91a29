"""Write `conformance/report/titles.toml` from the headings of the documents.

    python -m tools.section_titles [FOLDER]

FOLDER (default: the environment's MQ_SPEC_DIR) holds the documents.
"""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from conformance.files import write_text
from conformance.report import table
from conformance.spec.catalogue import DOCUMENTS

FILE = Path(table.__file__).with_name("titles.toml")
_HEADING = re.compile(r"^#+ \**(?P<number>\d(?:\.\d+)*)\s+(?P<title>\S.*)$")
# What the documents' conversion left in headings: anchors, emphasis and escapes.
_MARKUP = re.compile(r"<[^>]*>|[*`\\]|\[(?=[^\]]*\]\()|\]\([^)]*\)")


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
    out = ["# Generated from the documents' headings by `python -m tools.section_titles`; not edited by hand.\n"]
    for document in DOCUMENTS.values():
        paths = [folder / f"{document}.md", folder / "siblings" / f"{document}.md"]
        path = next((path for path in paths if path.exists()), paths[0])
        out.append(f"\n[{document}]\n")
        for number, title in headings(path.read_text(encoding="utf-8")).items():
            escaped = title.replace('"', '\\"')
            out.append(f'"{number}" = "{escaped}"\n')
    return "".join(out)


if __name__ == "__main__":
    write_text(FILE, generate(Path(sys.argv[1] if len(sys.argv) > 1 else os.environ["MQ_SPEC_DIR"])))
