"""`python -m conformance.pipeline.docs`: the tables in docs/pipeline.md as the schemas have them."""

from __future__ import annotations

from pathlib import Path

from conformance.pipeline.schemas import columns_page

BEGIN, END = "<!-- columns: made by `python -m conformance.pipeline.docs` -->\n", "<!-- end of columns -->\n"


def page(text: str) -> str:
    """The page with the tables of now."""
    before, rest = text.split(BEGIN)
    return f"{before}{BEGIN}{columns_page()}{END}{rest.split(END)[1]}"


if __name__ == "__main__":
    place = Path(__file__).parents[2] / "docs" / "pipeline.md"
    place.write_text(page(place.read_text(encoding="utf-8")), encoding="utf-8")
