"""Judges packets that lie in files, one a file, and prints what each breaks.

python examples/judge_packets.py packet.bin ...
"""

import sys
from pathlib import Path

import conformance


def main(paths):
    broken = 0
    for path in paths:
        for verdict in conformance.judge_packet(Path(path), profile="msmq-4.0"):
            if verdict.outcome is conformance.Outcome.FAIL:
                broken += 1
                print(f"{path}: {verdict.requirement}: {verdict.actual}")
    print(f"{len(paths)} packets, {broken} rules broken")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
