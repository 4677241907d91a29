"""Print the oldest version of each package that pyproject.toml allows, as constraints for pip.

python -m tools.lowest > lowest.txt; pip install -c lowest.txt -e .[dev]
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

EXTRAS = ("columns", "spark", "lake")
NAMES = frozenset(
    ("cryptography", "deltalake", "duckdb", "fsspec", "hypothesis", "lark", "numba", "numpy", "pandas", "pyarrow",
     "pyspark", "s3fs", "scapy", "typer")
)  # fmt: skip
"""Packages of which a private or changing part is used; the others are as new as they come."""


def lowest(text: str) -> list[str]:
    """Return a constraint for each package of a pyproject.toml that names a lower bound, in order."""
    project = tomllib.loads(text)["project"]
    wanted = [*project["dependencies"], *(one for name in EXTRAS for one in project["optional-dependencies"][name])]
    found = (re.match(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)", one) for one in wanted)
    return sorted({f"{one[1]}=={one[2]}" for one in found if one is not None and one[1] in NAMES})


if __name__ == "__main__":
    print("\n".join(lowest((Path(__file__).parents[1] / "pyproject.toml").read_text(encoding="utf-8"))))
