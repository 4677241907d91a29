"""Measure what each test of the suite `situations` judges in a default run; takes a minute or two.

    python -m tools.planner.claims

The histories are those of a run that asks for nothing else, on the embedded manager: the same calls each time, so what
they judge once they judge always. Writes `conformance/histories/situations/claims.json`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from conformance.adapter.connectors import connect
from conformance.files import write_text
from conformance.harness.guarded_client import GuardedClient
from conformance.harness.recorder import Recorder, RunOptions
from conformance.histories.situations.book import CHUNKS, CLAIMS, DEFAULT, Planned, chunk, load, selection
from conformance.histories.situations.play import Known, Player
from conformance.histories.situations.situation import space
from conformance.spec.catalogue import assignment

OPTIONS = RunOptions("msmq-4.0", "must", assignment("windows"), "windows", 0, 30, 30)


def measured(histories: Sequence[Planned]) -> list[frozenset[str]]:
    """Return what each test judges that shares these histories with the others."""
    found: list[frozenset[str]] = []
    known = Known()
    with TemporaryDirectory() as folder, connect("embedded", state_dir=Path(folder), in_process=True) as client:
        for number in range(CHUNKS):
            judge = Recorder(OPTIONS, lambda verdict, count: None)
            player = Player(GuardedClient(client), judge, OPTIONS, space(), known)
            player.play(chunk(histories, number))
            if failures := player.told(10.0):
                raise AssertionError("the embedded manager fails in a planned history") from failures[0]
            judge.flush()
            found.append(frozenset(judge.judged))
    return found


def text_of(found: Sequence[frozenset[str]]) -> str:
    """The file's text: every requirement once, and for each test their places."""
    names = sorted(frozenset().union(*found))
    places = {name: place for place, name in enumerate(names)}
    tests = [sorted(places[name] for name in judged) for judged in found]
    lines = ",\n".join(f"  {json.dumps(test, separators=(',', ':'))}" for test in tests)
    return f'{{"requirements": {json.dumps(names, indent=1)},\n "tests": [\n{lines}\n ]}}\n'


if __name__ == "__main__":
    write_text(CLAIMS, text_of(measured(selection(load().histories, DEFAULT, space()))))
