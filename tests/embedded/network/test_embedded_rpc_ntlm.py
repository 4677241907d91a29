"""The account of the RPC planes: vectors of MS-NLMP 4.2.4, and a client that is not ours."""

from __future__ import annotations

import os
import random
import struct
from collections.abc import Iterator
from pathlib import Path

import pytest
from embedded_network_peer import Desk, desk
from embedded_network_process import Process, process
from embedded_rpc_peer import NDR, REMOTE_READ, Client, Wire, bind, pdu, raised
from scapy.layers.dcerpc import (
    DCE_C_AUTHN_LEVEL,
    DCERPC_Transport,
    DceRpcOp,
    NDRContextHandle,
    NDRIntField,
    NDRPacket,
    NDRPacketField,
    find_dcerpc_interface,
    register_dcerpc_interface,
)
from scapy.layers.msrpce.rpcclient import DCERPC_Client
from scapy.layers.ntlm import NTLMSSP

from conformance.embedded.rpc.ntlm import Account, Direction, Handshake, Rc4, md4

USER, PASSWORD = "User", "Password"
DENIED, INVALID_HANDLE = 5, 0xC00E0007


@pytest.mark.parametrize(
    ("data", "digest"),
    [
        (b"", "31d6cfe0d16ae931b73c59d7e0c089c0"),
        (b"abc", "a448017aaf21d8525fc10ae87aa6729d"),
        (b"1234567890" * 8, "e33b4ddc9c38f2199c3e7b164fcc0536"),
    ],
)
def test_md4_by_rfc_1320(data: bytes, digest: str) -> None:
    assert md4(data).hex() == digest


def test_rc4_by_its_first_vector() -> None:
    cipher = Rc4(bytes.fromhex("0123456789abcdef"))
    assert cipher.crypt(bytes(4)).hex() + cipher.crypt(bytes(4)).hex() == "7494c2e7104b0879"


def test_the_key_of_an_account() -> None:
    assert Account(USER, PASSWORD).key("Domain", USER).hex() == "0c868a403bfd7a93a3001ef22ef02e3f"


def test_a_handshake_by_its_vectors(monkeypatch: pytest.MonkeyPatch) -> None:
    handshake = Handshake(Account(USER, PASSWORD), "Server", 0)
    monkeypatch.setattr(handshake, "_nonce", bytes.fromhex("0123456789abcdef"))
    assert handshake.challenge(b"NTLMSSP\0" + struct.pack("<II", 1, 0xE28A8233))
    info = b"".join(
        struct.pack("<HH", kind, 12) + text.encode("utf-16-le") for kind, text in ((2, "Domain"), (1, "Server"))
    )
    blob = bytes.fromhex("0101000000000000" + "00" * 8 + "aa" * 8 + "00" * 4) + info + bytes(8)
    answer = bytes.fromhex("68cd0ab851e51c96aabc927bebef6a1c") + blob
    names = ["Domain".encode("utf-16-le"), USER.encode("utf-16-le"), b""]
    encrypted = bytes.fromhex("c5dad2544fc9799094ce1ce90bc9d03e")
    at, fields, rest = 72, b"", b""
    for value in (b"", answer, *names, encrypted):
        fields += struct.pack("<HHI", len(value), len(value), at + len(rest))
        rest += value
    message = b"NTLMSSP\0" + struct.pack("<I", 3) + fields + struct.pack("<I", 0xE2888235) + bytes(8) + rest
    for broken in (
        b"",
        message[:70],
        message.replace(answer[:16], bytes(16)),
        message.replace(names[1], names[1][::-1]),
    ):
        assert not handshake.authenticate(broken)
    chance = random.Random(43)
    for _ in range(2_000):
        said = bytearray(message[: chance.randrange(len(message) + 1)])
        for _ in range(chance.randrange(4)):
            said[chance.randrange(len(said) or 1) : chance.randrange(len(message))] = chance.randbytes(
                chance.randrange(9)
            )
        assert not handshake.authenticate(bytes(said)) or bytes(said[:60]) == message[:60]
    assert handshake.authenticate(message)
    client = Direction(bytes([0x55]) * 16, 0xE2888235, "client", "server")
    plain = "Plaintext".encode("utf-16-le")
    sealed = client.crypt(plain).hex()
    assert (sealed, client.signatures(plain)[0].hex()) == (
        "54e50165bf1936dc996020c1811b0f06fb5f",
        "010000007fb38ec5c55d497600000000",
    )
    assert handshake.client is not None
    assert handshake.client.crypt(bytes.fromhex(sealed)) == plain


class PortRequest(NDRPacket):
    fields_desc: list[object] = []  # noqa: RUF012


class Port(NDRPacket):
    fields_desc = [NDRIntField("status", 0)]  # noqa: RUF012


class CloseRequest(NDRPacket):
    fields_desc = [NDRPacketField("pphContext", NDRContextHandle(), NDRContextHandle)]  # noqa: RUF012


class Closed(NDRPacket):
    fields_desc = [  # noqa: RUF012
        NDRPacketField("pphContext", NDRContextHandle(), NDRContextHandle),
        NDRIntField("status", 0),
    ]


register_dcerpc_interface(
    name="RemoteReadHere",
    uuid=REMOTE_READ,
    version="1.0",
    opnums={0: DceRpcOp(PortRequest, Port), 3: DceRpcOp(CloseRequest, Closed)},
)


@pytest.fixture(scope="module")
def guarded() -> Iterator[Process]:
    os.environ.update(MQCONFORM_RPC_USER=USER, MQCONFORM_RPC_PASSWORD=PASSWORD)
    try:
        with process("--rpc", "0") as made:
            yield made
    finally:
        del os.environ["MQCONFORM_RPC_USER"], os.environ["MQCONFORM_RPC_PASSWORD"]


def asked(made: Process, level: object, password: str | None) -> tuple[int, list[int]]:
    """What R_GetServerPort and three times R_CloseQueue say, or the status of their faults."""
    ssp = None if password is None else NTLMSSP(UPN=USER, PASSWORD=password)
    client = DCERPC_Client(DCERPC_Transport.NCACN_IP_TCP, ndr64=False, auth_level=level, ssp=ssp, verb=False)
    client.connect("127.0.0.1", port=made.rpc)
    assert client.bind(find_dcerpc_interface("RemoteReadHere"))
    try:
        port = int(client.sr1_req(PortRequest(ndr64=False)).status)
        return port, [int(client.sr1_req(CloseRequest(ndr64=False)).status) for _ in range(3 if port != DENIED else 0)]
    finally:
        client.close()


def test_packet_privacy_is_what_counts(guarded: Process) -> None:
    level = DCE_C_AUTHN_LEVEL
    assert asked(guarded, level.PKT_PRIVACY, PASSWORD) == (guarded.rpc, [INVALID_HANDLE] * 3)
    assert asked(guarded, level.PKT_INTEGRITY, PASSWORD) == (guarded.rpc, [DENIED] * 3)
    assert asked(guarded, level.PKT_PRIVACY, "wrong") == (DENIED, [])
    assert asked(guarded, None, None) == (guarded.rpc, [DENIED] * 3)


def test_who_does_not_say_who_it_is(tmp_path: Path) -> None:
    with desk(tmp_path, rpc_account=(USER, PASSWORD)) as at:
        client = Client(at)
        assert raised(lambda: client.call(3, bytes(20))) == DENIED
        assert len(client.call(0)) == 4
        assert verdict(at, 10, 6, b"NTLMSSP\0" + struct.pack("<II", 1, 0xE2888235)) == 12
        for kind, level, token in ((9, 6, b"x" * 16), (10, 7, b"x" * 16), (10, 1, b"x" * 16), (10, 6, b"x" * 16)):
            assert verdict(at, kind, level, token) == 13


def verdict(at: Desk, kind: int, level: int, token: bytes) -> int:
    """The kind of PDU that answers a bind with this verifier."""
    body = bind((0, REMOTE_READ, 1, ((NDR, 2),)))[16:] + struct.pack("<BBBBI", kind, level, 0, 0, 7) + token
    data = pdu(11, 1, body)
    wire = Wire()
    at.node.planes.accepted(wire).data(data[:10] + struct.pack("<H", len(token)) + data[12:])
    return wire.take()[0][2]
