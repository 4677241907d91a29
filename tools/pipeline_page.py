"""Write `docs/lake-columns.md` from the schemas of the pipeline.

python -m tools.pipeline_page
"""

from __future__ import annotations

from pathlib import Path

from conformance.files import write_text
from conformance.pipeline.schemas import BATCHES, DDL, TABLES

PLACE = Path(__file__).parents[1] / "docs" / "lake-columns.md"


def page() -> str:
    """The page: a table of columns for each table of a lake."""
    out = ["# Which columns has a lake?", "", "Made by `python -m tools.pipeline_page`.", ""]
    for table in (*TABLES.values(), BATCHES):
        out += [f"## `{table.name}`", "", table.says, "", "| column | type | what |", "|---|---|---|"]
        out += [
            f"| `{column.name}` | {DDL[column.type].lower()}{', or null' if column.null else ''} | {column.says} |"
            for column in table.columns
        ]
        out.append("")
    return "\n".join(out)


if __name__ == "__main__":
    write_text(PLACE, page())
