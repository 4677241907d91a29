"""A requirement that got another id: what holds the old one comes to what it came to, under the new one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from expecting import differences, expected
from observing import OLD as THINGS
from observing import SECTIONS, copied, said

from conformance.harness.recorder import Recorder, RunOptions
from conformance.pipeline import spark as sparks
from conformance.pipeline import tables
from conformance.pipeline.lake import Lake
from conformance.report.standing import read_baseline
from conformance.spec import catalogue as catalogue_module
from conformance.spec import compiled
from conformance.spec.catalogue import CatalogueError, catalogue

NEW = "MQMQ-2.2.19.1.higher-priority-nearer-front"
OLD = "MQMQ-2.2.19.1.urgent-ones-first"
HOLD_IDS = ("run", "before", "baseline.toml")


@pytest.fixture
def older(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The old things with an id in them that the catalogue does not have; nothing yet says whose it was."""
    folder = copied(tmp_path)
    monkeypatch.chdir(folder)
    holding = [path for name in HOLD_IDS for path in (folder / name, *(folder / name).rglob("*")) if path.is_file()]
    changed = 0
    for path in holding:
        text = path.read_text(encoding="utf-8")
        changed += NEW in text
        path.write_text(text.replace(NEW, OLD), encoding="utf-8")
    assert changed > 5
    return folder


def rename(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the catalogue's requirement has the old id for an alias."""
    for module in (catalogue_module, sparks, tables):
        monkeypatch.setattr(module, "aliases", lambda: {OLD: NEW})


@pytest.mark.parametrize("name", ["read run", "reports of run", "gate", "diff", "matrix", "judge run", "repro"])
def test_an_old_id_is_taken_for_the_new_one(name: str, older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename(monkeypatch)
    found = SECTIONS[name](older)
    assert not differences(expected(name), found)
    assert OLD not in "".join([*found, *found.values()])


def test_every_id_of_0_1_is_taken() -> None:
    old = (THINGS / "requirements.txt").read_text(encoding="utf-8").splitlines()
    assert len(old) > 9_000
    known = {name for entry in catalogue() for name in (entry.id, *entry.aliases)}
    assert not set(old) - known


def test_a_baseline_is_brought_to_the_new_id(older: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rename(monkeypatch)
    found = SECTIONS["baseline"](older)
    assert f'-requirement = "{OLD}"\n+requirement = "{NEW}"' in found["diff"] and found["added"] == "[]"
    known = read_baseline(older / "baseline.toml")
    assert [entry.requirement for entry in known] == [NEW]
    assert SECTIONS["gate"](older) == expected("gate")


def test_a_lake_that_holds_an_old_id_tells_the_new_one(
    older: Path, monkeypatch: pytest.MonkeyPatch, spark: Any
) -> None:
    said("pipeline", "runs", "run", "before", "--out", "older", "--json", code=1)
    told = said("pipeline", "report", "older", "--json", code=0)
    assert OLD in str(told) and NEW not in str(told)
    rename(monkeypatch)
    told = said("pipeline", "report", "older", "--html", "page.html", "--json", code=0)
    page = (older / "page.html").read_text(encoding="utf-8")
    assert NEW in str(told) and OLD not in str(told) + page
    query = f"select distinct requirement from results where requirement in ('{OLD}', '{NEW}')"
    assert said("pipeline", "sql", "older", query, "--engine", "spark", "--json", code=0)["rows"] == [[NEW]]
    with tables.opened(Lake.open("older")) as connection:
        assert connection.sql(query).fetchall() == [(NEW,)]


def test_commands_that_take_an_id_take_an_old_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rename(monkeypatch)
    assert said("requirements", "show", OLD, "--json", code=0)["id"] == NEW
    assert NEW in said("requirements", "show", OLD, code=0)


def test_a_test_of_an_implementers_own_may_name_an_old_id(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CatalogueError):
        _holds()
    rename(monkeypatch)
    assert _holds() == [NEW]


def _holds() -> list[str]:
    said: list[str] = []
    options = RunOptions("msmq-4.0", "must", {}, "windows", seed=0, max_examples=1, stateful_steps=1)
    judge = Recorder(options, lambda verdict, count: said.append(verdict.requirement))
    judge.holds(OLD, True)
    judge.flush()
    return said


DEMAND = """[[requirement]]
id = "MQMQ-2.2.19.1.{word}"
level = "must"
role = "sender"
checked = "packet"
says = "Something."
aliases = [{aliases}]
"""


def catalogue_of(folder: Path, **aliases: str) -> list[str]:
    """The ids of a catalogue of these requirements."""
    file = folder / "some.toml"
    text = "".join(DEMAND.format(word=word, aliases=f'"MQMQ-2.2.19.1.{old}"') for word, old in aliases.items())
    file.write_text(text, encoding="utf-8")
    return list(compiled.build([file])["requirement"])


def test_an_old_id_belongs_to_one_requirement(tmp_path: Path) -> None:
    assert len(catalogue_of(tmp_path, one="first", other="second")) == 2
    with pytest.raises(CatalogueError, match="have the same alias"):
        catalogue_of(tmp_path, one="first", other="first")
    with pytest.raises(CatalogueError, match="which is a requirement itself"):
        catalogue_of(tmp_path, one="other", other="second")
