"""Measure what `mqconform proxy` adds to a packet, and how many packets pass it, beside the same host without it.

python benchmarks/proxy.py [--packets N] [--rounds N]

First comes the time of one packet there and back, median and 99th percentile; then packets a second from a client that
sends without waiting, each in a write of its own, and whether all of them came. The judge runs beside it, as always.
"""

from __future__ import annotations

import argparse
import socket
import statistics
import tempfile
import threading
import time
from pathlib import Path

from conformance.capture import Frame, read_capture
from conformance.live.judge_client import Judging
from conformance.live.proxy import Passed, Ready, Watch, proxy
from conformance.net.addresses import Permit, Place, target
from conformance.wire import dissect

CAPTURE = Path(__file__).parents[1] / "fixtures" / "captures" / "consistent-session.pcapng"
PACKET = next(
    event.data
    for event in read_capture(CAPTURE)
    if isinstance(event, Frame) and dissect(event.data, transport=event.transport).kind == "UserMessage"
)
SIZE = len(PACKET)


def host(echo: bool, counted: list[int]) -> Place:
    """A host that sends back what comes, or only counts it."""
    listener = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            made, _ = listener.accept()
            made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            while data := made.recv(65_536):
                counted[0] += len(data)
                if echo:
                    made.sendall(data)
            made.close()

    threading.Thread(target=serve, daemon=True).start()
    return Place("127.0.0.1", listener.getsockname()[1])


def round_trips(place: Place, rounds: int) -> list[float]:
    """Milliseconds of each packet there and back."""
    took = []
    with socket.create_connection(place.pair) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(rounds):
            began = time.perf_counter()
            client.sendall(PACKET)
            left = SIZE
            while left:
                left -= len(client.recv(left))
            took.append((time.perf_counter() - began) * 1000)
    return took


def rate(place: Place, packets: int, counted: list[int]) -> tuple[float, bool]:
    """Packets a second until all have come, and whether they have."""
    counted[0] = 0
    began = time.perf_counter()
    with socket.create_connection(place.pair) as client:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for _ in range(packets):
            client.sendall(PACKET)
        until = time.perf_counter() + 30
        while counted[0] < packets * SIZE and time.perf_counter() < until:
            time.sleep(0.001)
    return packets / (time.perf_counter() - began), counted[0] == packets * SIZE


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--packets", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3_000)
    asked = parser.parse_args()
    counted = [0]
    with tempfile.TemporaryDirectory() as folder:
        for echo in (True, False):
            there = host(echo, counted)
            ready, done = threading.Event(), []
            places: list[Ready] = []
            watch = Watch(lambda told, places=places, ready=ready: (places.append(told), ready.set()))
            record = Path(folder) / f"{echo}.pcapng"

            def go(
                there: Place = there, watch: Watch = watch, record: Path = record, done: list[Passed] = done
            ) -> None:
                how = Judging(out=str(record.with_suffix("")))
                near = target("127.0.0.1", Permit())
                done.append(proxy(Place("127.0.0.1", 0), near, there.port, judging=how, watch=watch, record=record))

            thread = threading.Thread(target=go)
            thread.start()
            ready.wait()
            if echo:
                without, through = (round_trips(place, asked.rounds) for place in (there, places[0].listen))
                for name, at in (("median", 0.5), ("99 %", 0.99)):
                    first, second = (
                        statistics.quantiles(took, n=1000)[int(at * 1000) - 1] for took in (without, through)
                    )
                    print(f"one packet, {name}: {first:.3f} ms without, {second:.3f} ms with, {second - first:+.3f} ms")
            else:
                (first, _), (second, whole) = (
                    rate(place, asked.packets, counted) for place in (there, places[0].listen)
                )
                print(f"packets a second: {first:,.0f} without, {second:,.0f} with, ratio {second / first:.2f}")
                print(f"all of {asked.packets:,} packets came: {whole}; recorded {record.stat().st_size:,} bytes")
            watch.stop.set()
            thread.join()
            now = done[0].now
            print(
                f"judged {now.state.packets:,}; {now.left_out:,} records were not judged; not recorded: {now.problems}"
            )


if __name__ == "__main__":
    main()
