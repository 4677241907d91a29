"""A file that is no capture is named by what it is, with what makes a capture of it, in one sentence."""

from __future__ import annotations

import base64
import gzip
import io
import json
import sqlite3
import struct
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import build_captures
import pytest

from conformance.capture import CaptureError, read_capture

PCAP = build_captures.consistent_session().pcap()
NG = b"\n\r\r\n\x1c\0\0\0\x4d\x3c\x2b\x1a\1\0\0\0" + b"\xff" * 8 + b"\x1c\0\0\0"
ETL = (
    struct.pack("<IIIIqqQIIIHH", 0x10000, 512, 512, 0, 1, 0, 3, 0, 1, 0, 1, 4) + bytes(16) + b"\2\0\2\xc0" + bytes(500)
)


def zipped(name: str) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr(name, PCAP)
    return out.getvalue()


def tarred() -> bytes:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as archive:
        info = tarfile.TarInfo("site.pcap")
        info.size = len(PCAP)
        archive.addfile(info, io.BytesIO(PCAP))
    return out.getvalue()


def database() -> bytes:
    with sqlite3.connect(":memory:") as one:
        one.execute("create table a (b)")
        return one.serialize()


FILES = {
    "etl": (ETL, "event trace (ETL)", "etl2pcapng"),
    "etl in gzip": (gzip.compress(ETL), "unpacked, it is an event trace (ETL)", "etl2pcapng"),
    "evt": (b"\x30\0\0\0LfLe" + bytes(99), "event log of Windows", "no packets"),
    "shortcut": (b"L\0\0\0\1\x14\2\0" + bytes(99), "a shortcut of Windows", "points to"),
    "picture": (b"\x89PNG\r\n\x1a\n" + bytes(99), "a picture", "no packets"),
    "dump": (b"PAGEDU64" + bytes(99), "memory", "no packets"),
    "lanalyzer": (b"\1\x10\x4c\0\1\5Trace" + bytes(99), "network analyzer", "editcap"),
    "cabinet": (b"MSCF" + bytes(82) + PCAP, "a cabinet", "expand"),
    "rar": (b"Rar!\x1a\x07\1\0" + bytes(99), "a rar archive", "unrar x"),
    "lz4": (b"\x04\x22\x4d\x18" + bytes(8) + PCAP, "lz4", "lz4 -d"),
    "evtx": (b"ElfFile\0" + bytes(99), "event log of Windows", "no packets"),
    "netmon": (b"GMBU\0\2\1\0" + bytes(99), "Network Monitor", "editcap"),
    "snoop": (b"snoop\0\0\0" + bytes(9), "snoop", "editcap"),
    "zip": (zipped("trace/site.pcap"), "a zip archive with trace/site.pcap;", "unzip"),
    "saz": (zipped("raw/1_c.txt"), "SAZ", "HTTP alone"),
    "tar": (tarred(), "a tar archive", "tar -xf"),
    "7z": (b"7z\xbc\xaf\x27\x1c\0\4" + bytes(9), "7z", "7z x"),
    "xz": (b"\xfd7zXZ\0" + bytes(9), "xz", "unxz"),
    "bzip2": (b"BZh91AY&SY", "bzip2", "bunzip2"),
    "html": (b"<!DOCTYPE html>\n<html><title>404", "HTML", "download the file again"),
    "tshark": ("    1   0.000000    10.0.0.1 → 10.0.0.2    TCP 66 [SYN]\n".encode(), "tshark", "-w"),
    "tshark json": (b'[\n {\n  "_source": {\n   "layers": {', "JSON of tshark", "-w"),
    "pdml": (b'<?xml version="1.0"?>\n<!-- x -->\n<pdml version="0">', "XML of tshark", "-w"),
    "tcpdump": (b"12:00:01.000001 IP 10.0.0.1.4000 > 10.0.0.2.1801: Flags [S]", "tcpdump", "-w"),
    "hex": (b"0000  02 00 00 00 45 00", "hex dump", "text2pcap"),
    "tshark tree": (b"Frame 1: 66 bytes on wire (528 bits)", "tshark", "-w"),
    "hex digits": (PCAP.hex().encode(), "a capture as hex", "xxd -r -p"),
    "base64": (base64.b64encode(PCAP), "base64", "base64 -d"),
    "har": (json.dumps({"log": {"version": "1.2"}}).encode(), "HAR", "no packets"),
    "json": (b'{"a": 1}', "it is text", "no packets"),
    "sqlite": (database(), "SQLite", "no packets"),
    "redirected": ("text".encode("utf-16"), "redirection", "-w"),
    "ng as text": (NG.replace(b"\n", b"\r\n"), "as text", "as binary"),
    "pointer": (b"version https://git-lfs.github.com/spec/v1\n", "Git LFS", "git lfs pull"),
    "behind text": (b"HDR0" * 32 + PCAP, "a capture begins 128 bytes", "tail -c +129"),
    "behind zeros": (bytes(64) + NG, "a capture begins 64 bytes", "tail -c +65"),
    "cut": (b"\xd4\xc3\xb2", "3 of the four bytes", "copy it again"),
    "anything": (b"\x80\x81\x82\x83\x84", "starts with 80 81 82 83", "give a pcap or pcapng file"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_file_is_named_by_what_it_is(tmp_path: Path, name: str) -> None:
    content, what, advice = FILES[name]
    path = tmp_path / "site.pcap"
    path.write_bytes(content)
    with pytest.raises(CaptureError) as caught:
        list(read_capture(path))
    text = str(caught.value)
    assert text.startswith(f"{path} is not a capture: ") and text.endswith(".") and "\n" not in text
    assert what in text and advice in text


def test_what_is_cut_off_by_the_advice_is_a_capture(tmp_path: Path) -> None:
    path = tmp_path / "site.pcap"
    path.write_bytes((b"HDR0" * 32 + PCAP)[129 - 1 :])
    assert list(read_capture(path))


PIECES = (
    b"<!---->",
    b"<!--",
    b"<?xml?>",
    b" ",
    b"0",
    b"00 ",
    b"0 0.0 x ",
    b"12:00:00.0 x In ",
    b"{",
    b'{"log" ',
    b"PK\3\4",
    b"-",
)


def test_no_beginning_takes_long_to_name() -> None:
    """In a process of its own, as a search that is parted in every way holds the interpreter for ever."""
    code = f"""
from conformance.capture.foreign import what_it_is
for piece in {PIECES}:
    for start in {(*PIECES, b"")}:
        what_it_is((start + piece * 10_000)[:10_000] + b"\\0", "name")
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=600)


def test_the_advice_can_be_pasted_whatever_the_name(tmp_path: Path) -> None:
    path = tmp_path / "a b; rm.zip"
    path.write_bytes(zipped("in.pcap"))
    with pytest.raises(CaptureError, match=f"unzip '{path}'"):
        list(read_capture(path))
