"""Write the tables of columns in `docs/pipeline.md` from the schemas of the pipeline.

python -m tools.pipeline_page
"""

from __future__ import annotations

from pathlib import Path

from conformance.aside import write_text
from conformance.pipeline.schemas import DDL, TABLES

BEGIN, END = "<!-- columns: made by `python -m tools.pipeline_page` -->\n", "<!-- end of columns -->\n"


def page(text: str) -> str:
    """The page with the tables of now."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{columns_page()}{END}{rest.split(END)[1]}"


def columns_page() -> str:
    """The tables as Markdown: the part of docs/pipeline.md between its marks."""
    out: list[str] = []
    for table in TABLES.values():
        out += [f"### `{table.name}`", "", table.says, "", "| column | type | what |", "|---|---|---|"]
        out += [
            f"| `{column.name}` | {DDL[column.type].lower()}{', or null' if column.null else ''} | {column.says} |"
            for column in table.columns
        ]
        out.append("")
    return "\n".join(out)


if __name__ == "__main__":
    place = Path(__file__).parents[1] / "docs" / "pipeline.md"
    write_text(place, page(place.read_text(encoding="utf-8")))
