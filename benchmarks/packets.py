"""Packets a second: scapy alone, our reading and judging one by one, and tshark with and without the Lua dissector.

python benchmarks/packets.py [MESSAGES] [ROUNDS]

A generated capture of one connection, 3 segments to 2 messages, is read by each in turn; the best round counts. Times
are of whole passes over the file, so that reading it and putting TCP in order is in all of them; that part alone is
told apart for ours. tshark's start (reading an empty capture, with the same options) is taken off its times.
"""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from scapy.packet import Packet

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "fixtures"))
logging.getLogger("scapy").setLevel(logging.ERROR)

import build_captures  # noqa: E402
import build_tcp  # noqa: E402

from conformance.capture import Frame, read_capture  # noqa: E402
from conformance.judge.packets.judge import judge_dissected  # noqa: E402
from conformance.report.wireshark import dissector  # noqa: E402
from conformance.spec.catalogue import assignment  # noqa: E402
from conformance.wire import dissect, encode  # noqa: E402

PROFILE = "msmq-4.0"
ENDS = ("192.0.2.10", 49759), ("192.0.2.20", 1801)


def capture(path: Path, messages: int) -> None:
    """One connection with this many messages of about 400 bytes, in segments that do not fall together with them."""
    made = build_tcp.Capture(build_captures.START_4_1)
    connection = build_tcp.Connection.open(made, *ENDS)
    stream = b"".join(
        encode(
            "UserMessage",
            {
                "UserHeader.MessageID": number,
                "UserHeader.DestinationQueue.DirectFormatName": "OS:beta\\private$\\orders",
                "MessagePropertiesHeader.Label": f"order {number}",
                "MessagePropertiesHeader.MessageBody": bytes(number % 400),
            },
        )
        for number in range(1, messages + 1)
    )
    size = len(stream) * 2 // (messages * 3) + 1
    for at in range(0, len(stream), size):
        connection.send(0, stream[at : at + size])
    connection.close(0)
    path.write_bytes(made.pcapng())


def frames(path: Path) -> list[Frame]:
    return [event for event in read_capture(path) if isinstance(event, Frame)]


def ours_stream(path: Path) -> int:
    return len(frames(path))


def ours_dissect(path: Path) -> int:
    return sum(dissect(frame.data, transport="buffer").kind == "UserMessage" for frame in frames(path))


def ours_judge(path: Path) -> int:
    readings = assignment("windows")
    count = 0
    for frame in frames(path):
        packet = dissect(frame.data, transport="buffer")
        assert judge_dissected(packet, profile=PROFILE, readings=readings, transport="buffer")
        count += 1
    return count


def scapy_alone(path: Path) -> int:
    """scapy's own reading of the file, its TCP session, and the layers made from the tables."""
    from scapy.sendrecv import sniff
    from scapy.sessions import TCPSession

    from conformance.wire.layers import UserHeader

    count = 0

    def seen(packet: Packet) -> None:
        # Messages that end in one segment come stacked on each other.
        nonlocal count
        count += sum(isinstance(layer, UserHeader) for layer in packet.iterpayloads())

    sniff(offline=str(path), session=TCPSession, prn=seen, store=False)
    return count


def tshark(path: Path, *options: str) -> int:
    command = ["tshark", "-n", "-r", str(path), "-o", "tcp.reassemble_out_of_order:TRUE", *options]
    done = subprocess.run(command, capture_output=True, check=True)
    return done.stdout.count(b"UserMessage")


def best(act: Callable[[], int], rounds: int, expected: int | None) -> float:
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        found = act()
        times.append(time.perf_counter() - started)
        if expected is not None and found != expected:
            sys.exit(f"{found} messages were found instead of {expected}")
    return min(times)


def main() -> None:
    messages = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        path, empty, lua = Path(folder, "stream.pcapng"), Path(folder, "empty.pcapng"), Path(folder, "msmq.lua")
        capture(path, messages)
        empty.write_bytes(build_tcp.Capture(build_captures.START_4_1).pcapng())
        lua.write_text(dissector(profile=PROFILE, readings=assignment("windows")).source, encoding="utf-8")
        seconds = {
            "scapy alone": best(lambda: scapy_alone(path), rounds, messages),
            "ours, TCP in order and framing only": best(lambda: ours_stream(path), rounds, messages),
            "ours, and decoded": best(lambda: ours_dissect(path), rounds, messages),
            "ours, and judged": best(lambda: ours_judge(path), rounds, messages),
        }
        if shutil.which("tshark") is None:
            print("tshark is not installed (Debian: apt-get install tshark); its lines are left out")
        else:
            plain = ("-T", "fields", "-e", "tcp.len")
            script = ("-X", f"lua_script:{lua}", "-T", "fields", "-e", "msmq.kind", "-e", "msmq.fail")
            for name, options, expected in (
                ("tshark without the Lua (TCP only)", plain, None),
                ("tshark with the Lua, judged", script, messages),
            ):
                begun = best(lambda options=options: tshark(empty, *options), rounds, None)  # type: ignore[misc]
                whole = best(
                    lambda options=options: tshark(path, *options),  # type: ignore[misc]
                    rounds,
                    expected,
                )
                seconds[name] = max(whole - begun, 1e-6)
        base = seconds["scapy alone"]
        print(f"{messages} messages, {path.stat().st_size / 1e6:.1f} MB, best of {rounds}")
        for name, spent in seconds.items():
            print(f"{name:38} {messages / spent:10.0f} packets/s  {base / spent:7.2f} x scapy alone")
        stream = seconds["ours, TCP in order and framing only"]
        print(f"TCP and framing are {stream / seconds['ours, and judged']:.0%} of our time")


if __name__ == "__main__":
    main()
