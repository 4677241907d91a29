"""Judging again what was cut when it was recorded: it is told, and what was found stands."""

from __future__ import annotations

import io
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from conformance import rejudge
from conformance.captures.replay_run import CAPTURE
from conformance.cli.judge import told
from conformance.harness.run_session import EXAMPLE
from conformance.rejudge import judge_again
from conformance.report import print_summary, render_html, summary
from conformance.report.table import UNSEALED
from conformance.runlog import Header, RunWriter, read_run
from conformance.verdict import Evidence, Outcome, Verdict

NAME = "MQMQ-2.2.19.1.signature"
FIXTURES = Path(__file__).parents[2] / "fixtures"
LONG = b64encode(bytes(2 << 20)).decode()


def packet(number: int, base64: str) -> Verdict:
    data = {"base64": base64, "transport": "tcp"}
    return Verdict(NAME, Outcome.FAIL, f"frame {number}", 1, 2, evidence=Evidence("packet", f"frame {number}", data))


def test_a_packet_that_was_cut_is_not_judged_and_its_deviation_stands(tmp_path: Path) -> None:
    """Also where another packet that breaks the same requirement is judged, and breaks nothing now."""
    vector = json.loads((FIXTURES / "vectors" / "mqqb_frame7_usermessage.json").read_text())
    whole = b64encode(bytes.fromhex(vector["hex"])).decode()
    gone = str(tmp_path / "gone.pcapng")
    with RunWriter(tmp_path / "run") as writer:
        writer.header(Header(run_id="r", captures=(gone,)))
        for number, data in ((1, LONG), (2, whole)):
            writer.verdict(packet(number, data), suite="replay", test=gone)
        writer.footer("completed")
    again = judge_again(tmp_path / "run", out=tmp_path / "again")
    assert again.again == 1 and again.standing == (NAME,)
    assert [why for why in again.left_out if why.endswith("too long to be recorded, and part of it cannot be judged")]
    failed = [each for each in again.record.verdicts if each.verdict.outcome is Outcome.FAIL] if again.record else []
    assert [each.verdict.subject for each in failed] == ["frame 1"]


@pytest.mark.parametrize("what", ["example", "hello"])
def test_an_example_that_was_cut_is_not_gone_through(tmp_path: Path, what: str) -> None:
    long = {"what": "call", "method": "names.parse", "params": {"name": LONG}}
    with RunWriter(tmp_path / "run") as writer:
        writer.header(Header(run_id="r", connector="embedded", suites=("names",)))
        writer.hello({"name": "x", "limits": {f"limit {number}": LONG[:300] for number in range(5_000)}})
        ref = writer.verdict(Verdict(NAME, Outcome.FAIL, "s", 1, 2), suite="names", test="t")
        ops = [long] if what == "example" else []
        example: dict[str, Any] = {"repro": {"kind": "name"}, "before": [], "ops": ops, "verdicts": []}
        writer.evidence(EXAMPLE, {"suite": "names", "test": "t", "verdict": ref, **example})
        writer.footer("completed")
    again = judge_again(tmp_path / "run", out=tmp_path / "again")
    reason = rejudge.CUT if what == "example" else rejudge.HELLO_CUT
    assert dict(again.left_out) == {f"names: {reason}": 1}
    assert again.again == 0 and again.standing == (NAME,)


def test_a_file_of_another_size_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two terabytes of nothing, which take hours to read."""
    sparse = tmp_path / "sparse.pcapng"
    with sparse.open("wb") as file:
        file.truncate(2 << 40)
    with RunWriter(tmp_path / "run") as writer:
        writer.header(Header(run_id="r", captures=(str(sparse),)))
        writer.verdict(Verdict(NAME, Outcome.FAIL, "frame 1", 1, 2), suite="replay", test=str(sparse))
        writer.evidence(
            CAPTURE, {"path": str(sparse), "bytes": 100, "sha256": "0" * 64, "filter": None, "against": None}
        )
        writer.footer("completed")

    def read(path: object) -> None:
        raise AssertionError(f"{path} was read")

    monkeypatch.setattr(rejudge, "fingerprint", read)
    again = judge_again(tmp_path / "run", out=tmp_path / "again")
    assert dict(again.left_out) == {f"{sparse}: the file is another one now": 1}


def test_a_record_without_checksums_is_told_everywhere(tmp_path: Path) -> None:
    with RunWriter(tmp_path / "run") as writer:
        writer.header(Header(run_id="r", connector="embedded"))
        writer.verdict(Verdict(NAME, Outcome.FAIL, "s", 1, 2), suite="names", test="t")
        writer.footer("completed")
    part = writer.path
    for sealed in (True, False):
        run = read_run(tmp_path / "run")
        out = io.StringIO()
        print_summary(run, Console(file=out, width=200))
        again = judge_again(tmp_path / "run", out=tmp_path / f"again-{sealed}")
        assert run.sealed is sealed is summary(run)["sealed"] is again.sealed
        for text in (render_html(run), out.getvalue(), "\n".join(told(again))):
            assert (UNSEALED in text) is not sealed
        events = [json.loads(line) for line in part.read_bytes().splitlines()]
        bare = [{name: each for name, each in event.items() if name not in ("seal", "sealed")} for event in events]
        part.write_text("".join(json.dumps(event) + "\n" for event in bare))
