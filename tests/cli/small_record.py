"""A capture and a run record that make commands short."""

from __future__ import annotations

from pathlib import Path

from conformance.files import resource
from conformance.runlog import RunWriter
from conformance.verdict import Outcome, Verdict

CAPTURE = str(resource("fixtures/captures/consistent-session.pcapng"))


def a_record(folder: Path) -> Path:
    """A small run record."""
    with RunWriter(folder) as writer:
        from conformance.runlog import Header

        writer.header(Header(run_id="r", command=("run",), connector="embedded", seed=0, profile="msmq-4.0"))
        writer.verdict(
            Verdict("MQMQ-2.2.19.1.signature", Outcome.FAIL, "a packet", "LIOR", "ROIL"), suite="packets", test="t"
        )
        writer.footer("completed")
    return folder
