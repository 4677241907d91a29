"""What programs do with the objects of MC-MQAC works on the embedded implementation and on the stranger in Node."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from idioms import NODE, Idiom, NoClass, Player, idioms, need_node, repro

from conformance.adapter.client import Client
from conformance.adapter.connectors import connect

ADAPTERS = ("embedded", NODE)
IDIOMS = idioms()


@pytest.fixture(scope="module", params=ADAPTERS, ids=("embedded", "node"))
def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    if request.param == NODE:
        need_node()
    with connect(request.param, state_dir=tmp_path_factory.mktemp("state")) as opened:
        yield opened


def played(client: Client, idiom: Idiom) -> list[str]:
    client.call("reset")
    return Player(client, f"idiom-{client.unique()}").play(idiom)


@pytest.mark.parametrize("idiom", IDIOMS, ids=[each.name for each in IDIOMS])
def test_an_idiom_works(client: Client, idiom: Idiom) -> None:
    try:
        assert played(client, idiom) == []
    except NoClass as absent:
        pytest.skip(f"{client.hello.name} has no class {absent}")


def test_the_stranger_has_every_class(tmp_path: Path) -> None:
    need_node()
    made = {step["new"] for idiom in IDIOMS for step in idiom.steps if "new" in step}
    with connect(NODE, state_dir=tmp_path) as client:
        assert [name for name in sorted(made) if not client.call("objects.create", **{"class": name}).ok] == []


@pytest.mark.parametrize(
    ("fault", "name"),
    [
        ("receive-keeps-message", "poll-until-nothing"),
        ("target-journal-missing", "read-the-journal"),
        ("uncommitted-send-visible", "internal-transaction"),
        ("commit-loses-last-send", "single-message-transaction"),
        ("peek-never-waits", "listen-once"),
        ("rejects-uppercase-private", "timeout-as-text"),
    ],
)
def test_an_idiom_finds_a_fault(fault: str, name: str, tmp_path: Path) -> None:
    idiom = next(each for each in IDIOMS if each.name == name)
    with connect(f"embedded+{fault}", state_dir=tmp_path, in_process=True) as client:
        assert played(client, idiom) != []


def test_every_idiom_has_a_source_of_its_own() -> None:
    assert len(IDIOMS) >= 25
    assert all(each.source.startswith("https://") and each.says.endswith(".") for each in IDIOMS)
    assert len({each.name for each in IDIOMS}) == len({each.source for each in IDIOMS}) == len(IDIOMS)


@pytest.mark.parametrize("adapter", ADAPTERS, ids=("embedded", "node"))
def test_the_judge_allows_the_idioms(adapter: str, tmp_path: Path) -> None:
    """`mqconform repro` plays the calls that it can be told and judges each: none deviates."""
    if adapter == NODE:
        need_node()
    told = {each.name: repro(each) for each in IDIOMS}
    files = [name for name, file in told.items() if file is not None]
    assert len(files) >= 12
    for name in files:
        (tmp_path / f"{name}.json").write_text(json.dumps(told[name]))
    run = subprocess.run(
        [sys.executable, "-m", "conformance", "repro", str(tmp_path), "--adapter", adapter, "--json"],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    answers = json.loads(run.stdout)["answers"]
    assert [each["text"] for each in answers if each["answer"] == "FAILED"] == []
    judged = [each for each in answers if each["answer"] == "not reproduced"]
    assert len(judged) >= 12 and all(each["verdicts"] for each in judged)
    assert [each["text"] for each in answers if each["answer"] == "ERROR"] == []
