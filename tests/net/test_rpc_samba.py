"""Another hand's server of DCE/RPC, Debian's samba: its endpoint mapper, and NTLM with packet privacy."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from uuid import UUID

import pytest
from nightly import nightly_only

from conformance.net.rpc.binding import Association, FaultError, RefusedError, RpcError, User, endpoint
from conformance.spec.rpc_interfaces import REMOTE_READ, Interface

HOST, DAEMON = "127.0.0.77", Path("/usr/libexec/samba/samba-dcerpcd")
SAMR = Interface("samr", "MS-SAMR", UUID("12345778-1234-abcd-ef00-0123456789ac"), {0: "SamrConnect"})
CONNECT = bytes(4) + (0x02000000).to_bytes(4, "little")  # No name, and what access there is.
RIGHT, WRONG = User("root", "geheim"), User("root", "falsch")
FOLDERS = {
    "private dir": "private", "lock directory": "lock", "state directory": "state", "cache directory": "cache",
    "pid directory": "pid", "ncalrpc dir": "ncalrpc",
}  # fmt: skip
pytestmark = nightly_only("net.samba")


@pytest.fixture(scope="module")
def samba(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """Starts its daemon, and yields the port of SAMR."""
    if not DAEMON.is_file() or which("pdbedit") is None:
        pytest.skip("samba is not installed (Debian: apt-get install samba)")
    folder = tmp_path_factory.mktemp("samba")
    lines = ["[global]", f"interfaces = {HOST}/8", "bind interfaces only = yes", "server role = standalone"]
    lines += ["rpc start on demand helpers = no", f"log file = {folder}/log"]
    for option, name in FOLDERS.items():
        (folder / name).mkdir(mode=0o755)
        lines.append(f"{option} = {folder / name}")
    (folder / "smb.conf").write_text("\n".join(lines) + "\n", encoding="ascii")
    told = ["-s", str(folder / "smb.conf")]
    subprocess.run(["pdbedit", *told, "-a", "-u", "root", "-t"], input=b"geheim\ngeheim\n", check=True)
    child = subprocess.Popen([str(DAEMON), "-F", "--libexec-rpcds", *told], stderr=subprocess.DEVNULL)
    until = time.monotonic() + 20
    try:
        while True:
            try:
                port = endpoint(HOST, SAMR)
                break
            except RpcError as error:
                if child.poll() is not None or time.monotonic() > until:
                    pytest.skip(f"samba takes no calls here, which needs root for port 135: {error}")
                time.sleep(0.2)
        yield port
    finally:
        child.terminate()
        child.wait()


def test_its_endpoint_mapper_knows_its_interfaces_alone(samba: int) -> None:
    assert samba > 1024
    with pytest.raises(RefusedError, match="has no RemoteRead"):
        endpoint(HOST, REMOTE_READ)


def test_a_user_calls_with_packet_privacy(samba: int) -> None:
    calls = Association(HOST, samba, SAMR, RIGHT)
    answer = calls.call(0, CONNECT)
    assert len(answer) == 24
    assert any(answer[:20])
    assert not any(answer[20:])
    with pytest.raises(FaultError, match="0x1c010002"):
        calls.call(999, b"")
    calls.close()


def test_a_wrong_password_is_refused(samba: int) -> None:
    with pytest.raises(RpcError):
        Association(HOST, samba, SAMR, WRONG).call(0, CONNECT)
