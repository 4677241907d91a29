"""The process of a live judge: a capture comes on stdin, what is found goes to stdout as lines of JSON.

Its one argument is a JSON object: the options of `replay_captures` that a live judge has.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections import Counter, OrderedDict
from dataclasses import asdict, dataclass, field
from typing import Any

from conformance.capture.files import Stop
from conformance.captures import JudgedPacket, replay_captures
from conformance.command_options import BadInput
from conformance.live.judge_client import MAX_ROWS, Deviation, Row
from conformance.verdict import ExitCode, Outcome

_TELL_S = 0.25


@dataclass(slots=True)
class Teller:
    """Tells of every packet that deviates, and now and then how far the judge is."""

    packets: int = 0
    deviations: int = 0
    rows: OrderedDict[str, Row] = field(default_factory=OrderedDict)
    _told: int = -1
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def packet(self, judged: JudgedPacket) -> None:
        """Take a packet that was judged."""
        failed = sum(verdict.outcome is Outcome.FAIL for verdict in judged.verdicts)
        source, destination = str(judged.frame.source), str(judged.frame.destination)
        ends = " - ".join((source, destination) if judged.frame.side != "acceptor" else (destination, source))
        with self._lock:
            self.packets += 1
            self.deviations += failed
            before = self.rows.pop(ends, Row(ends, 0, 0, ""))
            self.rows[ends] = Row(ends, before.packets + 1, before.deviations + failed, judged.kind)
            if len(self.rows) > MAX_ROWS:
                self.rows.popitem(last=False)
            if judged.deviating:
                outcomes = {verdict.requirement: verdict.outcome.value for verdict in reversed(judged.deviating)}
                found = Deviation(judged.number, judged.direction, judged.kind, outcomes)
                _write({"deviation": asdict(found)})

    def tell(self, end: dict[str, Any] | None = None) -> None:
        """Tell how far the judge is. end: and that it is over."""
        with self._lock:
            if end is None and self._told == self.packets:
                return
            self._told = self.packets
            told = {"packets": self.packets, "deviations": self.deviations}
            rows = [asdict(row) for row in reversed(self.rows.values())]
            _write({**told, "rows": rows} if end is None else {**told, "rows": rows, "end": end})


def _write(line: dict[str, Any]) -> None:
    try:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()
    except BrokenPipeError:  # Nobody listens any more: the record is all that is left to make.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def main(options: dict[str, Any]) -> None:
    """Judge what comes on stdin until it ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # The end of stdin is what ends the judge.
    teller, over = Teller(), threading.Event()

    def now_and_then() -> None:
        while not over.wait(_TELL_S):
            teller.tell()

    threading.Thread(target=now_and_then, daemon=True).start()
    try:
        result = replay_captures("-", stop=Stop(), allow_incomplete=True, on_packet=teller.packet, **options)
    except BadInput as error:
        teller.tell({"outcomes": {}, "exit_code": ExitCode.BAD_INPUT, "sentence": str(error), "folder": None})
        return
    finally:
        over.set()
    counts = Counter({outcome.value: number for outcome, number in result.replay.outcomes.items()})
    end = {"outcomes": counts, "exit_code": result.exit_code, "sentence": result.sentence}
    teller.tell({**end, "folder": str(result.folder)})


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
