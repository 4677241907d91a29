"""`mqconform replay` on Microsoft's packets, on a session without fault, and on what is no capture."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fake_drivers import fake
from nightly import nightly_only
from tests_cli import mqconform, one_sentence

from conformance.files import resource
from conformance.runlog import read_run
from conformance.verdict import ExitCode

CAPTURES = resource("fixtures/captures")


def test_microsofts_packets_deviate_where_they_must(tmp_path: Path) -> None:
    done = mqconform("replay", str(CAPTURES / "mqqb-4.1.pcapng"), "--out", str(tmp_path))
    assert done.returncode == ExitCode.DEVIATES
    lines = done.stdout.splitlines()[:8]
    assert [line.split()[7] for line in lines] == [
        "Ping",
        "Ping",
        "EstablishConnection",
        "EstablishConnection",
        "ConnectionParameters",
        "ConnectionParameters",
        "UserMessage",
        "SessionAck",
    ]
    # Record and TCP stream, as Wireshark shows them; the first request has the identifiers that scanners use.
    assert [line.split()[1:3] for line in lines[1:4]] == [["#2", "-"], ["#6", "0"], ["#8", "0"]]
    assert "hint: looks like port 1801 scan (example-identifiers)" in lines[2]
    assert "subject: packet 4 (Wireshark frame 8) of " in done.stdout
    assert r"DIRECT=OS:a04bm02\q" in lines[6]
    assert "MQQB-3.1.5.3.1.client-guid" in lines[3]
    record = read_run(tmp_path)
    assert record.complete
    assert [(one.record, one.stream) for one in record.packets][:3] == [(1, None), (2, None), (6, 0)]
    assert [one.hints for one in record.packets if one.hints] == [("example-identifiers",)]
    assert len(record.packets) == 8
    assert (tmp_path / "report.html").exists()


def test_a_consistent_session_passes(tmp_path: Path) -> None:
    done = mqconform("replay", str(CAPTURES / "consistent-session.pcapng"), "--json", "--out", str(tmp_path))
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    told = json.loads(done.stdout)
    assert set(told["verdicts"]) == {"pass"}
    assert told["captures"][0]["packets"] == len(told["packets"]) == 26
    places = [(one["record"], one["stream"], one["hints"]) for one in told["packets"]]
    assert (places[0], places[4]) == ((1, None, []), (10, 0, []))


def test_what_stands_before_a_cut_is_kept(tmp_path: Path) -> None:
    done = mqconform("replay", str(CAPTURES / "cut-record.pcap"), "--out", str(tmp_path))
    assert done.returncode == ExitCode.BAD_INPUT
    assert "ends within record 33" in done.stdout
    assert len(read_run(tmp_path).packets) == 17


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (None, ExitCode.BAD_INPUT),
        (b"", ExitCode.BAD_INPUT),
        (b"GET / HTTP/1.1\r\n\r\n" * 9, ExitCode.BAD_INPUT),
        (b"\xd4\xc3\xb2\xa1", ExitCode.BAD_INPUT),
    ],
)
def test_what_is_no_capture(content: bytes | None, code: ExitCode, tmp_path: Path) -> None:
    path = tmp_path / "some.pcap"
    if content is not None:
        path.write_bytes(content)
    done = mqconform("replay", str(path), "--out", str(tmp_path / "out"))
    assert "some.pcap" in one_sentence(done, code)


def test_a_bad_file_beside_a_good_one(tmp_path: Path) -> None:
    """The good one is judged; the bad one still ends the command with an error."""
    bad = tmp_path / "none.pcap"
    bad.write_text("no capture")
    done = mqconform(
        "replay",
        str(bad),
        str(CAPTURES / "consistent-session.pcapng"),
        "--out",
        str(tmp_path / "out"),
    )
    assert done.returncode == ExitCode.BAD_INPUT
    assert len(read_run(tmp_path / "out").packets) == 26


def test_a_capture_without_msmq_judges_nothing(tmp_path: Path) -> None:
    path = tmp_path / "empty.pcap"
    path.write_bytes(bytes.fromhex("d4c3b2a1020004000000000000000000ffff000001000000"))
    done = mqconform("replay", str(path), "--out", str(tmp_path / "out"))
    one_sentence(done, ExitCode.NOTHING_JUDGED)


def test_stdin_a_filter_and_the_failing_packet_byte_by_byte(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "conformance", "replay", "-", "--filter", "kind=EstablishConnection", "--out", tmp_path],
        input=(CAPTURES / "mqqb-4.1.pcapng").read_bytes(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == ExitCode.DEVIATES, done.stderr
    lines = done.stdout.decode().splitlines()
    assert [line.split()[7] for line in lines[:2]] == ["EstablishConnection"] * 2
    assert any(line.startswith("-: packet 4 (Wireshark frame 8), TCP stream 0, 2006-03-10T04:51:50.") for line in lines)
    assert any(line.split()[:4] == ["00000000", "10", "5a", "0b"] or "4c 49 4f 52" in line for line in lines)


def test_a_folder_is_judged_whole_and_a_wrong_one_named(tmp_path: Path) -> None:
    folder = tmp_path / "captures"
    (folder / "deep").mkdir(parents=True)
    for name in ("a.pcapng", "deep/b.pcapng"):
        (folder / name).write_bytes((CAPTURES / "consistent-session.pcapng").read_bytes())
    done = mqconform("replay", str(folder), "--json", "--out", str(tmp_path / "out"))
    assert done.returncode == ExitCode.CONFORMS
    assert [one["packets"] for one in json.loads(done.stdout)["captures"]] == [26, 26]
    empty = tmp_path / "empty"
    empty.mkdir()
    assert "holds no capture" in one_sentence(mqconform("replay", str(empty)), ExitCode.BAD_INPUT)


def test_a_growing_file_is_followed_until_interrupted(tmp_path: Path) -> None:
    whole = (CAPTURES / "consistent-session.pcapng").read_bytes()
    path = tmp_path / "growing.pcapng"
    path.write_bytes(whole[:900])
    running = subprocess.Popen(
        [sys.executable, "-m", "conformance", "replay", str(path), "--follow", "--out", str(tmp_path / "out")],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert running.stdout is not None
    lines = [running.stdout.readline()]
    with path.open("ab") as file:
        file.write(whole[900:])
    while " 24  " not in lines[-1]:
        lines.append(running.stdout.readline())
        assert lines[-1], running.communicate()
    running.send_signal(signal.SIGINT)
    rest, said = running.communicate(timeout=60)
    assert running.returncode == ExitCode.CONFORMS, said
    assert "No deviation found." in rest
    assert read_run(tmp_path / "out").complete


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--filter", "qeue=x"], "did you mean queue?"),
        (["--against", "embeded"], "embedded"),
        (["--budget", "5s"], "--budget is only for"),
        (["--follow", "--budget", "soon"], "Invalid duration"),
        (["--follow", str(CAPTURES / "cut-record.pcap")], "one file"),
    ],
)
def test_options_that_cannot_be_meant(arguments: list[str], says: str) -> None:
    done = mqconform("replay", str(CAPTURES / "consistent-session.pcapng"), *arguments)
    assert says in one_sentence(done, ExitCode.BAD_INPUT)


def test_messages_are_given_to_an_implementation(tmp_path: Path) -> None:
    capture = str(CAPTURES / "consistent-session.pcapng")
    done = mqconform("replay", capture, "--against", "embedded", "--json", "--out", str(tmp_path / "right"))
    assert done.returncode == ExitCode.CONFORMS, done.stderr
    assert json.loads(done.stdout)["against"]["delivered"] > 5
    wrong = mqconform(
        "replay", capture, "--against", "embedded+receive-keeps-message", "--out", str(tmp_path / "wrong")
    )
    assert wrong.returncode == ExitCode.DEVIATES
    assert "FAIL MQDMPR-3.1.7.1.9.available" in wrong.stdout
    nothing = mqconform("replay", capture, "--against", fake("honest"), "--out", str(tmp_path / "none"))
    assert "neither packets.decode" in one_sentence(nothing, ExitCode.NOTHING_JUDGED)


@pytest.mark.parametrize("sessions", [300, pytest.param(50_000, marks=nightly_only("cli.capture-of-a-gigabyte"))])
def test_memory_does_not_grow_with_the_capture(tmp_path: Path, sessions: int) -> None:
    """One session after the other, each from another computer: 26 packets and 21 KB of capture a session."""
    one = (CAPTURES / "consistent-session.pcapng").read_bytes()
    peaks = []
    for times in (20, sessions):
        path = tmp_path / f"{times}.pcapng"
        with path.open("wb") as file:
            for number in range(times):
                file.write(one.replace(bytes((192, 0, 2, 31)), (0x0A000000 + number).to_bytes(4, "big")))
        script = (
            # Not getrusage: what it says of a child begins with the size of the process that started it.
            "import re, sys; from pathlib import Path; from conformance.captures import replay;"
            "from conformance.spec.catalogue import assignment;"
            "done = replay([sys.argv[1]], profile='msmq-4.0', readings=assignment('windows'));"
            "print(done.packets, re.search(r'VmHWM:\\s+(\\d+) kB', Path('/proc/self/status').read_text())[1])"
        )
        done = subprocess.run([sys.executable, "-c", script, path], capture_output=True, text=True, check=True)
        packets, peak = map(int, done.stdout.split())
        assert packets == 26 * times
        peaks.append(peak)
        path.unlink()
    assert peaks[1] < 400 << 10  # KiB
    assert sessions > 1000 or peaks[1] - peaks[0] < 60 << 10


@pytest.mark.parametrize("more", [(), ("--columns",)])
def test_a_folder_names_what_cannot_be_read_and_judges_the_rest(more: tuple[str, ...], tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    shutil.copy(CAPTURES / "vlan.pcap", folder)
    (folder / "link.pcap").symlink_to("nothing")
    os.mkfifo(folder / "pipe.pcap")
    done = mqconform("replay", str(folder), *more, "--out", str(tmp_path / "out"), "--json")
    assert done.returncode == ExitCode.BAD_INPUT, done.stderr
    said = json.loads(done.stdout)
    found = {Path(one["path"]).name: (one["packets"] > 0, one["error"]) for one in said["captures"]}
    pipe = f"{folder / 'pipe.pcap'} is not a regular file; name a pipe, a socket or a device by itself."
    link = f"There is no file {folder / 'link.pcap'}."
    assert found == {"vlan.pcap": (True, None), "link.pcap": (False, link), "pipe.pcap": (False, pipe)}
    assert pipe in said["sentence"] and link in said["sentence"]
