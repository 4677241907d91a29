"""The table of the nightly run is whole and true, and tests find what they share without changing paths."""

from __future__ import annotations

import re
from pathlib import Path

from nightly import AMOUNTS, ONLY, SAMPLES

HERE = Path(__file__).parent
OTHERS = {
    path: path.read_text(encoding="utf-8")
    for path in HERE.rglob("*.py")
    if path.name not in ("nightly.py", "test_nightly.py") and "node_modules" not in path.parts
}


def test_every_entry_is_used() -> None:
    sources = "".join(OTHERS.values())
    assert [name for name in (*AMOUNTS, *SAMPLES, *ONLY) if f'"{name}"' not in sources] == []


def test_a_push_takes_less_than_the_night() -> None:
    assert [name for name, each in AMOUNTS.items() if each.push >= each.nightly] == []


def test_nothing_else_asks_whether_it_is_night() -> None:
    asks = re.compile(r"(environ|getenv)[^\n]*MQ_NIGHTLY|MQ_NIGHTLY[^\n]*environ")
    assert [path.name for path, text in OTHERS.items() if asks.search(text)] == []


def test_no_test_module_is_imported_and_no_path_is_changed() -> None:
    imports = re.compile(r"^\s*(from|import) test_\w+|sys\.path\.(insert|append|extend)", re.MULTILINE)
    assert [path.name for path, text in OTHERS.items() if imports.search(text)] == []
