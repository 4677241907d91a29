"""The table of the nightly run is whole and true, and tests find what they share without changing paths."""

from __future__ import annotations

import re
from pathlib import Path

from nightly import AMOUNTS, ONLY, SAMPLES
from spreading import SECONDS, TOGETHER, together

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


def test_modules_that_take_long_are_there_and_those_that_share_are_run_together() -> None:
    assert [name for name in SECONDS if not (HERE / name).is_file()] == []
    every = {together(f"tests/{path.relative_to(HERE).as_posix()}") for path in OTHERS if path.name.startswith("test_")}
    assert {*TOGETHER} <= every
    assert together("tests/pipeline/test_pipeline_sql.py") == "spark"
    assert together("tests/test_nightly.py") == "tests/test_nightly.py"
