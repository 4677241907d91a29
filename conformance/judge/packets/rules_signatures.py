"""Rules for signatures and certificates (MS-MQMQ 2.5.1 to 2.5.3, MS-MQDMPR 3.1.1.12).

`signatures` computes the facts that they read, `Packet.Signature.*` and `Packet.MultipleSignature.*`. A signature that
cannot be judged has no facts, and its rules are undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from conformance.judge.expr import Compare, Const, Expr, Field, Has, Masked, both, either, eq, is_clear, ne, one_of
from conformance.judge.packets.signatures import MAKING, PLACES
from conformance.judge.packets.signed_fields import MARKS, READINGS, Choice
from conformance.judge.packets.signing import CERTIFICATE, CERTIFIED, UNSIGNED, UNSIGNED_LIST, SignedMutation, Signing
from conformance.judge.rules import Mutation, Rule, Value
from conformance.wire import hashes

H, M, A = "SecurityHeader.", "MessagePropertiesHeader.", "MQDMPR-3.1.1.12."
CERT = H + "SecurityData.SenderCert"
(SINGLE, ONE, _), (MULTIPLE, MANY, _) = PLACES
CONNECTOR = "UserHeader.Flags.CQ"
# The signature of another application or a connector is judged only where one of our kinds explains it.
KINDS = (1, 2, 3)
# The values of adjacent fields differ in value or width, so that exchanged fields are detected.
_TELLING: dict[str, Value] = {
    "UserHeader.AdminQueue.DirectFormatName": "OS:host\\admin",
    "UserHeader.Flags.JN": 1,
    M + "Flags.PA": 1,
    M + "BodyType": 17,
}
_LISTS: dict[str, Value] = {
    **UNSIGNED_LIST,
    "MultiQueueFormatHeader.Destination.ElementCount": 1,
    "MultiQueueFormatHeader.Destination.FormatNameList": b"\x03\0" + "OS:host\\q\0".encode("utf-16-le"),
    "MultiQueueFormatHeader.Administration.ElementCount": 1,
    "MultiQueueFormatHeader.Administration.FormatNameList": b"\x03\0" + "OS:h\\a\0".encode("utf-16-le"),
}
HASHES = {
    hashes.MD2: ("hash-md2", "hash-md2"),
    hashes.MD4: ("hash-md4", "hash-md4"),
    hashes.MD5: ("hash-md5", "hash-md5"),
    hashes.SHA1: ("hash-sha1", "hash-sha1"),
    hashes.SHA256: ("hash-sha256", "hash-sha-256"),
    hashes.SHA512: ("hash-sha512", "hash-sha-512"),
}
_WRONG: dict[str, Signing] = {
    "byte-order": Signing(byte_order="little"),
    "encoding": Signing(byte_order="big", encoding="bare"),
    "hashed": Signing(byte_order="big", passes=2),
    "label": Signing(byte_order="big", choice=Choice(label="value")),
    "queues": Signing(byte_order="big", choice=Choice(queues="terminated")),
    "absent": Signing(byte_order="big", choice=Choice(absent="zero")),
    "names": Signing(byte_order="big", choice=Choice(names="every")),
}
# The mutation of each field of stated width, as an index into `slips_of`.
_SLIPS = {"delivery-mode": 1, "priority": 1, "journaling": 3, "flags": 1, "message-class": 0, "body-type": 0}


def _kind(prefix: str) -> Expr:
    return one_of(prefix + ".Kind", *KINDS)


def _fits(fact: str, at: int) -> Expr:
    return Compare("ne", Masked(Field(fact), 1 << at), Const(0))


def _signed(place: str, kind: int = 2, **how: object) -> Signing:
    return replace(Signing(kind=kind, place=place), **how)  # type: ignore[arg-type]


def _of_place(place: str, prefix: str, base: dict[str, Value], end: str) -> Iterator[Rule]:
    """Yield the rules for a signature in one of the two places."""
    kinds: tuple[int, ...] = KINDS if place == SINGLE else (3,)
    usual = 2 if place == SINGLE else 3
    whole = A + ("signature" if place == SINGLE else "multiple-destination-signature-input")
    yield Rule(
        whole,
        both(Has(place), either(is_clear(CONNECTOR), _kind(prefix))),
        _kind(prefix),
        SignedMutation(also=base, right=_signed(place, usual), changes={M + "ApplicationTag": 99}),
    )
    for word, (reading, alternatives) in MAKING.items():
        yield Rule(
            f"{whole}/{word}",
            _kind(prefix),
            {name: _fits(f"{prefix}.{word}", at) for at, name in enumerate(alternatives)},
            SignedMutation(
                also=base,
                right=_signed(place, usual, byte_order="big"),
                wrong=replace(_WRONG[word], kind=usual, place=place),
            ),
            reading,
        )
    yield Rule(
        f"{A}hash-algorithm{end}",
        _kind(prefix),
        eq(prefix + ".Hash", Field(M + "HashAlgorithm")),
        SignedMutation(
            also={**base, M + "HashAlgorithm": hashes.SHA512},
            right=_signed(place, usual),
            wrong=_signed(place, usual, algorithm=hashes.SHA256),
            # Both documents define SHA-512, which the message names; only the rules on SecurityHeader read it.
            also_breaks=_twins(hashes.SHA512) if place == SINGLE else (),
        ),
    )
    for kind in kinds:
        yield from _of_kind(place, prefix, {**base, **_TELLING}, kind, end)


def _of_kind(place: str, prefix: str, base: dict[str, Value], kind: int, end: str) -> Iterator[Rule]:
    """Yield the rules for the fields that a signature of one kind covers."""
    section = f"MQMQ-2.5.{kind}."
    applies = eq(prefix + ".Kind", kind)
    for word in ("order", *(MARKS if kind > 1 else ())):
        yield Rule(
            f"{section}{word}{end}",
            applies,
            ne(prefix + ".Slip", word),
            SignedMutation(
                also=base,
                right=_signed(place, kind),
                wrong=_signed(place, kind, slip=word, nth=_SLIPS.get(word, 0)),
            ),
        )
    for member, (reading, alternatives) in READINGS.items():
        if (member == "absent" and kind == 1) or (member == "names" and place == SINGLE):
            continue
        yield Rule(
            f"{section}order/{member}{end.replace('/', '-')}",
            applies,
            {name: _fits(f"{prefix}.{member}", at) for at, name in enumerate(alternatives)},
            SignedMutation(
                also=base,
                right=_signed(place, kind, byte_order="big"),
                wrong=replace(_WRONG[member], kind=kind, place=place),
            ),
            reading,
        )


def _twins(number: int) -> tuple[str, str]:
    """Return the requirements of a hash algorithm, one per document."""
    in_mqmq, in_mqdmpr = HASHES[number]
    return f"MQMQ-2.2.19.3.{in_mqmq}", f"{A}{in_mqdmpr}"


def _of_hashes() -> Iterator[Rule]:
    for number in HASHES:
        other = hashes.MD5 if number != hashes.MD5 else hashes.SHA1
        twins = _twins(number)
        for name in twins:
            yield Rule(
                name,
                both(eq(M + "HashAlgorithm", number), _kind(ONE)),
                eq(ONE + ".Hash", number),
                SignedMutation(
                    also={**UNSIGNED, M + "HashAlgorithm": number},
                    right=Signing(),
                    wrong=Signing(algorithm=other),
                    # Both documents define the value, and the hash is not made by HashAlgorithm.
                    also_breaks=(*(twin for twin in twins if twin != name), f"{A}hash-algorithm"),
                ),
            )


RULES: tuple[Rule, ...] = (
    Rule(
        "MQMQ-2.2.20.6.sender-cert-layout",
        Has(CERT),
        eq("Packet.Certificate.X509", True),
        Mutation(also=CERTIFIED, given={CERT: b"no certificate"}),
    ),
    Rule(
        "MQMQ-2.2.20.6.sender-cert-size-exact/certificate",
        Has("Packet.Certificate.Behind"),
        eq("Packet.Certificate.Behind", 0),
        Mutation(also=CERTIFIED, given={CERT: CERTIFICATE + bytes(4)}),
    ),
    Rule(
        A + "sender-certificate",
        both(either(Has(SINGLE), Has(MULTIPLE)), is_clear(CONNECTOR)),
        {"required": Has(CERT), "optional": either(Has(CERT), Has(SINGLE), Has(MULTIPLE))},
        SignedMutation(also=UNSIGNED, given={CERT: b""}, right=Signing(byte_order="big")),
        "R-MQDMPR-signed-without-certificate",
    ),
    Rule(
        A + "multiple-destination-signature",
        both(Has(MULTIPLE), is_clear(CONNECTOR)),
        eq(H + "SignatureSize", 0),
        SignedMutation(
            also=_LISTS, right=_signed(MULTIPLE, 3), given={SINGLE: UNSIGNED[SINGLE]}, wrong=_signed(SINGLE, 3)
        ),
    ),
    *_of_place(SINGLE, ONE, UNSIGNED, ""),
    *_of_place(MULTIPLE, MANY, _LISTS, "/multiple"),
    *_of_hashes(),
)
