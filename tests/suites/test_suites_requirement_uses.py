"""Everything that names a requirement is found, in the code as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from conformance.model.tables import TABLES
from conformance.report.coverage import covered
from conformance.spec.catalogue import requirement
from conformance.suites import requirement_uses
from conformance.suites.requirement_uses import Uses, uses_of

ROOT = Path(__file__).parents[2]
CURSOR, SIGNATURE, PREVIOUS, REMOTE = (
    "MQDMPR-3.2.7.3.illegal-cursor-action",
    "MQMQ-2.2.19.1.signature",
    "MQQB-2.2.4.1.previous",
    "MQRR-2.2.5.1.2.1.srmp-message",
)


def used(name: str) -> Uses:
    return uses_of(requirement(name), covered().uses.get(name, {}))


def test_a_demand_on_calls() -> None:
    uses = used(CURSOR)
    assert "test_a_walk_with_cursors" in uses.claims["cursors"]
    assert uses.model == tuple(f"cursor: {row.id}" for row in TABLES["cursor"] if CURSOR in row.requirements)
    assert [place.function for place in uses.branches] == ["_with_cursor"]
    assert uses.faults["peek-next-on-unread-cursor"] == "cursors"
    assert not uses.rules and not uses.judged
    assert uses.tests is not None and Path(__file__).relative_to(ROOT).as_posix() in {one.file for one in uses.tests}


def test_a_demand_on_packets() -> None:
    uses = used(SIGNATURE)
    assert uses.rules == (f"packet rule {SIGNATURE}",)
    assert any("BaseHeader.Signature=" in one for one in uses.mutations)
    assert set(uses.claims) == {"packets", "sessions", "situations"} and uses.faults == {
        "signature-wrong-endian": "packets"
    }
    assert not uses.model and not uses.branches


def test_a_demand_on_packets_that_are_read_remotely() -> None:
    uses = used(REMOTE)
    assert uses.rules == (f"packet rule {REMOTE}",)
    assert any("SRMPEnvelopeHeader.Data=" in one for one in uses.mutations)


def test_a_demand_on_sessions_is_found_where_its_constant_is_used() -> None:
    uses = used(PREVIOUS)
    assert "_order_ack" in [place.function for place in uses.judged]
    assert uses.mutations == ("capture consistent-session with 1 edit",)
    assert set(uses.claims) == {"sessions"}


def test_every_place_is_a_line_with_the_id_or_its_constant() -> None:
    for name in (CURSOR, PREVIOUS, SIGNATURE):
        uses = used(name)
        for place in (*uses.judged, *uses.branches, *(uses.tests or ())):
            if place.line is None:  # composed when the module is imported
                continue
            line = (ROOT / place.file).read_text(encoding="utf-8").splitlines()[place.line - 1]
            assert name.partition(".")[2].rpartition(".")[2] in line or "_PREVIOUS" in line, place


def test_an_installation_without_a_checkout_has_no_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed = tmp_path / "site-packages" / "conformance"
    installed.parent.mkdir()
    installed.symlink_to(ROOT / "conformance")
    monkeypatch.setattr(requirement_uses, "suites_folder", lambda: installed / "suites")
    assert used(CURSOR).tests is None


def test_the_command_prints_it_and_writes_it_as_json() -> None:
    command = [sys.executable, "-m", "conformance", "requirements", "show", PREVIOUS]
    text, machine = (
        subprocess.run([*command, *more], cwd=ROOT, capture_output=True, text=True, timeout=300, check=True).stdout
        for more in ((), ("--json",))
    )
    raw = json.loads(machine)
    assert raw["id"] == PREVIOUS and raw["heading"] == "OrderAck Body" and raw["caught"] is True
    for place in raw["judged"]:
        line = "" if place["line"] is None else f":{place['line']}"
        assert f"judged at: {place['file']}{line}" in text
    assert "MS-MQQB section 2.2.4.1 (OrderAck Body), must" in text
    assert "claimed by no suite" not in text and f"mutation: {raw['mutations'][0]}" in text
    assert text.count("\n  test: ") == len({place["file"] for place in raw["tests"]})
