"""Writes a record of any size with everything in it that a record may have much of: `python -m tests.runlog.large`."""

from __future__ import annotations

import random
import sys
from base64 import b64encode
from itertools import cycle
from pathlib import Path

from conformance.runlog import Header, PacketLine, RunWriter, StoryStep
from conformance.spec.catalogue import catalogue
from conformance.verdict import Evidence, Outcome, Verdict


def write_large(folder: Path, size: int, worker: str = "main") -> int:
    """Write a record of about `size` bytes; how many verdicts it has."""
    names = cycle(list(catalogue().requirements)[:3_000])
    draw = random.Random(size)
    blob = b64encode(draw.randbytes(90_000)).decode()
    count = 0
    with RunWriter(folder, worker) as writer:
        writer.header(Header(run_id="large", connector="stdio:./driver", suites=("cursors", "packets")))
        writer.hello({"name": "driver", "version": "1"})
        while writer.path.stat().st_size < size:
            test = f"tests/test_cursors.py::test_{count // 500}"
            long = f"{count} {blob}"
            evidence = Evidence("packet", f"frame {count}", {"base64": blob, "transport": "tcp"})
            verdict = Verdict(
                next(names), Outcome.FAIL, f"long {count}", long[:60_000], {"body": long}, (), None, evidence
            )
            ref = writer.verdict(verdict, suite="cursors", test=test)
            steps = [
                StoryStep(f"{number}. send", {"body": long[:30_000]}, {"body": long[:30_000]}) for number in range(8)
            ]
            writer.story(ref, steps, "repros/1.json")
            writer.evidence("example", {"suite": "cursors", "test": test, "before": [], "ops": [long], "verdict": ref})
            writer.driver("crash", "The driver ended.", epoch=count, returncode=1, stderr=long[:50_000])
            for number in range(200):
                writer.packet(
                    PacketLine(count + number, 1e9, "10.0.0.1:1801 -> 10.0.0.2:1801", "UserMessage", "q", Outcome.PASS)
                )
                passed = Verdict(next(names), Outcome.PASS, f"frame {count + number}")
                writer.verdict(passed, suite="packets", test=test)
            for number in range(20):
                failed = Verdict(next(names), Outcome.FAIL, f"short {count + number}", 1, {"status": number})
                ref = writer.verdict(failed, suite="cursors", test=test)
                writer.story(ref, [StoryStep("open"), StoryStep("peek", {"method": "peek"}, {"status": number})])
            count += 221
        writer.footer("completed")
    return count


if __name__ == "__main__":
    print(write_large(Path(sys.argv[1]), int(sys.argv[2])))
