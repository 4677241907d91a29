"""Signatures, senders and encryption: a manager that answers something else is caught, by the demand that it breaks."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from distorting import OPTIONS, Distorting, Params, judged, same, told

from conformance.adapter.connectors import connect
from conformance.harness.recorder import Recorder
from conformance.judge.packets import encryption, signatures
from conformance.model.descriptors import ALLOW, Descriptor, Entry, encoded
from conformance.suites.packets.signing import FIRST, second
from conformance.suites.security import arrivals, sends, stories
from conformance.verdict import Outcome, Verdict
from conformance.wire import dissect, patch, rebuild
from conformance.wire.security_items import simple_blob

_S, _M = "SecurityHeader.SecurityData.", "MessagePropertiesHeader."
_KEY = f"{_S}EncryptionKey"


def _nothing(method: str, values: Params) -> None:
    pass


def _asked(method: str, change: Callable[[Params], None]) -> Callable[[str, Params], Params]:
    """A manager that is asked something else in one method."""

    def asks(name: str, params: Params) -> Params:
        if name == method:
            change(params)
        return params

    return asks


def _taken(change: Callable[[Any], bytes]) -> Callable[[str, Params], None]:
    """A manager whose packets are others. change: of a decoded packet; those without what it changes stay."""

    def tells(method: str, values: Params) -> None:
        if method == "outgoing.take":
            packets = [dissect(base64.b64decode(one)) for one in values["packets"]]
            values["packets"] = [base64.b64encode(change(one)).decode() for one in packets]

    return tells


def _resigned(params: Params) -> None:
    """Sign a packet again, whatever was changed in it."""
    data = base64.b64decode(params["packet"])
    if signatures.SIGNATURE in dissect(data).fields:
        params["packet"] = base64.b64encode(signatures.sign(data, signatures.Signing(2))).decode()


def _for_everybody(params: Params) -> None:
    both = [base64.b64encode(one.certificate).decode() for one in (FIRST, second())]
    for user in params.get("users", ()):
        user["certificates"] = both


def _members(**members: Any) -> Callable[[str, Params], Params]:
    return _asked("messages.send", lambda params: params["message"].update(members))


def _left_out(name: str) -> Callable[[str, Params], Params]:
    return _asked("messages.send", lambda params: params["message"].pop(name, None))


def _properties(name: str, value: int) -> Callable[[str, Params], Params]:
    return _asked("queues.create", lambda params: params.get("properties", {}).update({name: value}))


def _damaged(packet: Any) -> bytes:
    whole = signatures.octets(packet, signatures.SIGNATURE)
    return patch(packet, {signatures.SIGNATURE: whole[:-1] + bytes((whole[-1] ^ 1,))}) if whole else packet.data


def _encrypted(packet: Any, change: Callable[[str, bytes], dict[str, Any]]) -> bytes:
    found = encryption.unwrapped(packet.fields.get(_KEY, b""))
    return packet.data if found is None else rebuild(packet, change(*found))


def _shorter(word: str, key: bytes) -> dict[str, Any]:
    return {_KEY: simple_blob(0x6801, encryption.wrapped(key[:4], encryption.PROVIDERS[word].public))}


def _for_another(word: str, key: bytes) -> dict[str, Any]:
    return {_KEY: simple_blob(0x6801, encryption.wrapped(key, (signatures.MODULUS, 65537)))}


def _numbered(number: int, other: int) -> Callable[[str, Params], None]:
    return told("class", lambda value: other if value == number else value)


_CERTIFICATE = base64.b64encode(FIRST.certificate).decode()
_SIG20 = "MQMQ-2.2.20.6.signature-2"
_OPEN = base64.b64encode(encoded(Descriptor(dacl=(Entry(ALLOW, 4, "S-1-1-0"), Entry(ALLOW, 4, "S-1-5-7"))))).decode()
_KEYS = base64.b64encode(encryption.public_keys(("advanced", "enhanced", "base"))).decode()
_NO_ACCESS = _asked("security.set", lambda params: params.update(descriptor=_OPEN))
_IN_CLEAR = _taken(lambda packet: _encrypted(packet, lambda *_: {f"{_M}MessageBody": b"secret body"}))
DEFECTS: dict[str, tuple[str, Callable[[str, Params], Params], Callable[[str, Params], None], str]] = {
    "any signature fits": (
        "arrives-spoilt-2",
        _asked("packets.deliver", _resigned),
        _nothing,
        "MQQB-3.1.5.8.3.bad-signature",
    ),
    "no identity": ("arrives-signed-0", _asked("directory", _for_everybody), _nothing, "MQQB-3.1.5.8.3.sender"),
    "no access check": ("arrives-signed-0", _NO_ACCESS, _nothing, arrivals.ACCESS),
    "no queue is for encrypted messages alone": (
        "arrives-clear",
        _properties("PROPID_Q_PRIV_LEVEL", 1),
        _nothing,
        "MQDMPR-3.1.1.2.privacy-level-body",
    ),
    "each queue takes encrypted messages": (
        "arrives-encrypted-1",
        _properties("PROPID_Q_PRIV_LEVEL", 1),
        _nothing,
        "MQDMPR-3.1.1.2.privacy-level-none",
    ),
    "each queue takes unsigned messages": (
        "arrives-clear",
        _properties("PROPID_Q_AUTHENTICATE", 0),
        _nothing,
        "MQDMPR-3.1.1.2.authentication",
    ),
    "another class of a denial": (
        "arrives-signed-0",
        same,
        _numbered(0x8004, 0x8005),
        "MQMQ-2.2.18.1.6.nack-access-denied",
    ),
    "a bad signature is told as bad encryption": (
        "arrives-signed-0",
        same,
        _numbered(0x8006, 0x8007),
        "MQQB-3.1.5.8.3.sender",
    ),
    "one level for all": (
        "arrives-spoilt-2",
        same,
        told("authentication", lambda _: "sig10"),
        "MQDMPR-3.1.7.1.31.authentication-level-sig20",
    ),
    "no sender": ("arrives-spoilt-1", same, told("sender", lambda _: None), arrivals.SENDER_ID),
    "a damaged signature": ("sends-signed-0", same, _taken(_damaged), _SIG20),
    "always as in MSMQ 1.0": ("sends-signed-0", _members(authentication="sig10"), _nothing, _SIG20),
    "never signed": ("sends-signed-0", _left_out("authentication"), _nothing, sends.SIGNED_IDS[0]),
    "always signed": (
        "sends-signed-3",
        _members(authentication="sig10", certificate=_CERTIFICATE),
        _nothing,
        "MQQB-3.1.7.1.4.signed",
    ),
    "no sender in packets": ("sends-signed-0", _members(sender_type="none"), _nothing, arrivals.SENDER_ID),
    "always a sender": ("sends-signed-1", _members(sender_type="sid"), _nothing, arrivals.SENDER_ID),
    "another hash": ("sends-signed-1", _members(hash_algorithm=0x800E), _nothing, sends.HASH),
    "never encrypted": ("sends-encrypted-0", _left_out("privacy"), _nothing, "MQQB-3.1.7.1.5.encrypted"),
    "the body in the clear": ("sends-encrypted-0", same, _IN_CLEAR, "MQMQ-2.2.20.6.body-encrypted-sender"),
    "a short key": (
        "sends-encrypted-0",
        same,
        _taken(partial(_encrypted, change=_shorter)),
        "MQQB-3.1.7.1.5.key-length",
    ),
    "for another receiver": (
        "sends-encrypted-0",
        same,
        _taken(partial(_encrypted, change=_for_another)),
        "MQQB-3.1.7.1.5.public-key",
    ),
    "with other keys": (
        "sends-encrypted-4",
        _asked("directory", lambda params: params["computers"][0].update(encryption_keys=_KEYS)),
        _nothing,
        sends.FAILED,
    ),
    "no dead letter": ("sends-encrypted-4", _members(negative_journaling=False), _nothing, sends.FAILED),
    "always a dead letter": ("sends-encrypted-4", _members(negative_journaling=True), _nothing, sends.FAILED),
}


def _told_by(story: str) -> Callable[..., None]:
    return lambda mq, judge, _need: stories.TABLE.tell(story, mq, judge)


@pytest.mark.parametrize("name", DEFECTS)
def test_a_defect_is_blamed_on_what_it_breaks(name: str, tmp_path: Path) -> None:
    story, asks, tells, demand = DEFECTS[name]
    last = judged((name, _told_by(story), asks, tells, {demand}), tmp_path)[-1]
    assert (last.outcome, last.requirement) == (Outcome.FAIL, demand), last


@pytest.mark.parametrize(
    ("story", "asks", "demand"),
    [
        ("sends-signed-0", _members(hash_algorithm=0x8004), sends.STRONGEST),
        ("refused-invalid-certificate", _members(certificate=_CERTIFICATE), sends.SENT_CODES[0]),
        ("refused-cannot-create-hash-ex", _members(hash_algorithm=0x8004), sends.SENT_CODES[1]),
        ("unread-fail-verify-signature-ex", _asked("packets.deliver", _resigned), sends.READ_CODES[0]),
    ],
)
def test_what_is_advice_is_a_warning(story: str, asks: Any, demand: str, tmp_path: Path) -> None:
    seen = judged((story, _told_by(story), asks, _nothing, set()), tmp_path)
    assert Outcome.WARN in {verdict.outcome for verdict in seen if verdict.requirement == demand}


def _reversed(params: Params) -> None:
    packet = dissect(base64.b64decode(params["packet"]))
    for place in (signatures.SIGNATURE, signatures.MULTIPLE_SIGNATURE):
        if place in packet.fields:
            backwards = patch(packet, {place: signatures.octets(packet, place)[::-1]})
            params["packet"] = base64.b64encode(backwards).decode()


def test_the_way_in_which_a_manager_wants_signatures_is_found(tmp_path: Path) -> None:
    """One has the most significant byte first and claims no reading."""
    seen: list[Verdict] = []
    judge = Recorder(OPTIONS, lambda verdict, count: seen.append(verdict))
    with connect("embedded", state_dir=tmp_path, in_process=True) as client:
        port: Any = Distorting(client, _asked("packets.deliver", _reversed), _nothing)
        port.hello = replace(client.hello, readings={})
        for kind in (1, 2, 3):
            client.call("reset")
            stories.TABLE.tell(f"arrives-spoilt-{kind}", port, judge)
    judge.flush()
    assert {verdict.outcome for verdict in seen} == {Outcome.PASS}


def test_keys_of_bodies_open_for_their_receiver_alone() -> None:
    for word, provider in encryption.PROVIDERS.items():
        key = bytes(range(5))
        assert encryption.unwrapped(simple_blob(0x6801, encryption.wrapped(key, provider.public))) == (word, key)
    assert encryption.unwrapped(simple_blob(0x6801, bytes(64))) is None
    assert encryption.unwrapped(b"") is None
    assert encryption.rc4(b"Key", b"Plaintext").hex() == "bbf316e8d940af0ad3"
    assert encryption.decrypted_body(0x6610, bytes(32), bytes(15)) is None
    assert encryption.decrypted_body(0x6602, bytes(16), bytes(16)) is None
    assert set(encryption.keys_of(base64.b64decode(_KEYS))) == {"base", "enhanced", "advanced"}
    assert encryption.keys_of(b"no keys") == {}
