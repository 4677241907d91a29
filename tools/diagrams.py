"""Draw the model's transition tables into `docs/images`.

python -m tools.diagrams [FOLDER]
"""

from __future__ import annotations

import sys
from pathlib import Path

from conformance.files import write_text
from conformance.report.transition_pictures import diagrams

FOLDER = Path(__file__).parents[1] / "docs" / "images"


def main(arguments: list[str]) -> int:
    """Exit status: 2 for a folder that is not there."""
    folder = Path(arguments[0]) if arguments else FOLDER
    if not folder.is_dir():
        print(f"{folder} is no folder: name the one to draw into", file=sys.stderr)
        return 2
    for diagram in diagrams().values():
        write_text(folder / diagram.file, diagram.svg())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
