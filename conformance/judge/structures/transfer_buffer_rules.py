"""Rules inside one CACTransferBufferV1 (MS-MQMP 2.2.3.2): expression trees, each with a mutation that breaks it."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.judge.rules import (
    ALWAYS,
    Compare,
    Const,
    Expr,
    Field,
    Has,
    Masked,
    Not,
    at_least,
    at_most,
    both,
    either,
    eq,
    one_of,
)
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire.transfer_buffer import ARMS, RECEIVE, TAG, TRANSFER_TYPE, key, read_transfer_buffer

SECTION = "MQMP-2.2.3.2."
READABLE = key("Readable")
GUID = "11ea26c6-b6e6-4997-9595-9150557358d1"
VECTOR = 0x1000  # VT_VECTOR is combined with the other types


def octets(data: bytes) -> str:
    """Encode bytes as the adapter protocol does."""
    return base64.b64encode(data).decode("ascii")


# The outline of a certificate, and the SID S-1-5-18.
CERTIFICATE = bytes.fromhex("300730003000030100")
SID = bytes.fromhex("010100000000000512000000")

# A value with every member present, for which every rule holds; mutations start from it.
PLAIN: dict[str, Any] = {
    "p_class": 0x4002,
    "pp_message_id": {"lineage": GUID, "uniquifier": 7},
    "pp_correlation_id": octets(bytes(range(20))),
    "p_sent_time": 1_000_000_000,
    "p_arrived_time": 1_000_000_060,
    "p_priority": 4,
    "p_delivery": 1,
    "p_acknowledge": 5,
    "p_auditing": 2,
    "p_application_tag": 0x01020304,
    "pp_body": octets(b"body of it"),
    "ul_body_buffer_size_in_bytes": 10,
    "ul_alloc_body_buffer_in_bytes": 24,
    "p_body_size": 16,
    "pp_title": "title",
    "ul_title_buffer_size_in_wchars": 5,
    "pul_title_buffer_size_in_wchars": 5,
    "ul_absolute_time_to_queue": 345600,
    "pul_relative_time_to_queue": 345000,
    "ul_relative_time_to_live": 86400,
    "pul_relative_time_to_live": 86000,
    "p_trace": 1,
    "pul_sender_id_type": 1,
    "pp_sender_id": octets(SID),
    "pul_sender_id_len_prop": 12,
    "pul_priv_level": 1,
    "ul_auth_level": 1,
    "p_authenticated": 3,
    "pul_hash_alg": 0x8004,
    "pul_encrypt_alg": 0x6801,
    "pp_sender_cert": octets(CERTIFICATE),
    "ul_sender_cert_len": 9,
    "pul_sender_cert_len_prop": 9,
    "ppwcs_prov_name": "provider\0",
    "ul_prov_name_len": 9,
    "pul_auth_prov_name_len_prop": 13,
    "pul_prov_type": 1,
    "f_default_provider": 0,
    "pp_symm_keys": octets(bytes(range(40, 76))),
    "ul_symm_keys_size": 36,
    "pul_symm_keys_size_prop": 36,
    "b_encrypted": 1,
    "b_authenticated": 1,
    "u_sender_id_len": 12,
    "pp_signature": octets(bytes(range(100, 164))),
    "ul_signature_size": 64,
    "pul_signature_size_prop": 64,
    "pp_src_qmid": GUID,
    "p_uow": {"rgb": "5d0c1a52-0b6e-4d6f-9a57-6f5b2f3f9a10"},
    "pp_msg_extension": octets(b"extension"),
    "ul_msg_extension_buffer_in_bytes": 9,
    "p_msg_extension_size": 9,
    "pp_connector_type": "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10",
    "pul_body_type": 19,
    "pul_version": 0x10,
}
_FLAGS = {"m_suffix_and_flags": 0, "m_reserved": 0}
PLAIN_ARMS: dict[int, dict[str, Any]] = {
    0: {
        "p_admin_queue_format": {"m_qft": 3, **_FLAGS, "m_p_direct_id": "OS:host\\admin"},
        "p_response_queue_format": {"m_qft": 2, **_FLAGS, "m_o_private_id": {"lineage": GUID, "uniquifier": 9}},
    },
    1: {
        "request_timeout": 30_000,
        "action": 0x80000000,
        "asynchronous": 1,
        "cursor": 17,
        "ul_response_format_name_len": 18,
        "pp_response_format_name": "DIRECT=OS:host\\r1\0",
        "pul_response_format_name_len_prop": 18,
        "ul_admin_format_name_len": 20,
        "pp_admin_format_name": "DIRECT=OS:host\\ad22\0",
        "pul_admin_format_name_len_prop": 20,
        "ul_dest_format_name_len": 22,
        "pp_dest_format_name": "DIRECT=OS:host\\dest33\0",
        "pul_dest_format_name_len_prop": 22,
        "ul_ordering_format_name_len": 24,
        "pp_ordering_format_name": "DIRECT=OS:host\\order444\0",
        "pul_ordering_format_name_len_prop": 24,
    },
    2: {"h_cursor": 33, "srv_h_ac_queue": 44, "cli_p_qm_queue": 55},
}


def plain(kind: int = 0, *, given: Mapping[str, Any] | None = None, arm: Mapping[str, Any] | None = None) -> Any:
    """Return a complete value of a transfer type, with some members of the structure and of the arm replaced."""
    inside = {**PLAIN_ARMS[kind], **(arm or {})}
    return {TRANSFER_TYPE.json: kind, ARMS[kind].json: inside, **PLAIN, **(given or {})}


@dataclass(frozen=True, slots=True)
class BufferMutation:
    """One change that breaks a rule which holds for the plain value.

    kind: the transfer type of the plain value. given, arm: members that replace plain ones. patch: numbers overwritten
    in the bytes. append: bytes added behind. cut: bytes removed from the end. alone: only the members of `given` are
    present. also_breaks: other requirements that the change breaks.
    """

    kind: int = 0
    given: Mapping[str, Any] = field(default_factory=dict)
    arm: Mapping[str, Any] = field(default_factory=dict)
    patch: Mapping[str, int] = field(default_factory=dict)
    append: bytes = b""
    cut: int = 0
    alone: bool = False
    also_breaks: tuple[str, ...] = ()

    @property
    def of_value(self) -> bool:
        """True when the value itself is wrong rather than its encoding."""
        return bool(self.given or self.arm) and not (self.patch or self.append or self.cut)

    def value(self) -> Any:
        """Return the value that the bytes are written from."""
        if self.alone:
            return {TRANSFER_TYPE.json: self.kind, ARMS[self.kind].json: {}, **self.given}
        return plain(self.kind, given=self.given, arm=self.arm)

    def sound(self) -> bytes:
        """Write bytes of the same transfer type for which the rule holds."""
        from conformance.wire.transfer_buffer_layers import write_transfer_buffer

        return write_transfer_buffer(self.value() if self.alone else plain(self.kind))

    def broken(self) -> bytes:
        """Write the bytes that break the rule."""
        from conformance.wire.transfer_buffer_layers import write_transfer_buffer

        data = write_transfer_buffer(self.value()) + self.append
        return patched(data[: len(data) - self.cut], self.patch)


def patched(data: bytes, numbers: Mapping[str, int]) -> bytes:
    """Overwrite the numbers of some keys and change nothing else."""
    spans, out = read_transfer_buffer(data).spans, bytearray(data)
    for name, number in numbers.items():
        offset, size = spans[name]
        out[offset : offset + size] = number.to_bytes(size, "little")
    return bytes(out)


@dataclass(frozen=True, slots=True)
class BufferRule:
    """One check of one structure. id: the requirement's, with `/word` where several rules serve one."""

    id: str
    applies: Expr
    holds: Expr | Mapping[str, Expr]
    breaks: BufferMutation
    reading: str | None = None

    @property
    def requirement(self) -> str:
        """The id of the requirement that this rule judges."""
        return self.id.partition("/")[0]

    def alternatives(self) -> Mapping[str, Expr]:
        """Return every tree that can decide, by alternative; a single tree under "" when no reading decides."""
        return self.holds if isinstance(self.holds, Mapping) else {"": self.holds}


def _rule(
    word: str,
    applies: Expr,
    holds: Expr | Mapping[str, Expr],
    breaks: BufferMutation,
    reading: str | None = None,
) -> BufferRule:
    return BufferRule(SECTION + word, applies, holds, breaks, reading)


K = key
SENDS = eq(K(TRANSFER_TYPE.name), 0)
WHOLE = SECTION + "cac-transfer-buffer-v1"


def _arm_rule(word: str, kind: int) -> BufferRule:
    """Make a rule that the discriminant before the union is the one that selects its arm."""
    breaks = BufferMutation(kind, patch={K(TAG): 7})
    return _rule(word, eq(K(TRANSFER_TYPE.name), kind), eq(K(TAG), kind), breaks)


def _listed(word: str, member: str, json: str, outside: int, *values: int) -> BufferRule:
    """Make a rule that a member is one of a few numbers."""
    return _rule(f"{word}-values", Has(K(member)), one_of(K(member), *values), BufferMutation(given={json: outside}))


def _room(word: str, array: str, size: str, patch: int, *also: str) -> BufferRule:
    """Make a rule that an array has as many elements as its size member says."""
    name = K(array)
    breaks = BufferMutation(patch={K(size): patch}, also_breaks=tuple(SECTION + one for one in also))
    return _rule(word, Has(f"{name}.MaxCount"), eq(f"{name}.MaxCount", Field(K(size))), breaks)


def _format_name(word: str) -> tuple[BufferRule, ...]:
    low, name, size = word.lower(), K(f"pp{word}FormatName", RECEIVE), K(f"ul{word}FormatNameLen", RECEIVE)
    json, room = f"pp_{low}_format_name", f"ul_{low}_format_name_len"
    return (
        _rule(
            f"{low}-format-name-length",
            Has(f"{name}.MaxCount"),
            eq(f"{name}.MaxCount", Field(size)),
            BufferMutation(1, patch={size: 40}),
        ),
        _rule(
            f"{low}-format-name-length-range",
            Has(size),
            at_most(size, 1024),
            BufferMutation(1, arm={json: "x" * 1024 + "\0", room: 1025}),
        ),
        _rule(
            f"pp-{low}-format-name",
            Has(f"{name}.Terminated"),
            eq(f"{name}.Terminated", True),
            BufferMutation(1, arm={json: "DIRECT=OS:host\\q", room: 16}),
        ),
    )


BODY, ALLOC, USED = K("ppBody"), K("ulAllocBodyBufferInBytes"), K("ulBodyBufferSizeInBytes")
TITLE, TITLE_SIZE = K("ppTitle"), K("ulTitleBufferSizeInWCHARs")
EXTENSION, EXTENSION_SIZE = K("ppMsgExtension"), K("ulMsgExtensionBufferInBytes")
SENDER, SENDER_TYPE = K("ppSenderID"), K("pulSenderIDType")
CERT, CERT_SIZE = K("ppSenderCert"), K("ulSenderCertLen")
PRIVACY = K("pulPrivLevel")
TYPES = tuple(number for name, number in ENUMERATIONS["VARENUM"].members.items() if name != "VT_VECTOR")
CIPHERS, AES = (0x6602, 0x6801), (0x660E, 0x660F, 0x6610)


def _numbers(member: str) -> tuple[int, ...]:
    return tuple(sorted(set(ENUMERATIONS[member].members.values())))


def _whole(name: str, size: str) -> Expr:
    """An array is sent whole, in the size that its member gives."""
    return both(eq(f"{name}.MaxCount", Field(size)), eq(f"{name}.ActualCount", Field(size)))


RULES: tuple[BufferRule, ...] = (
    _rule("cac-transfer-buffer-v1", Has(K("Trailing")), eq(K("Trailing"), 0), BufferMutation(append=bytes(4))),
    _rule("cac-transfer-buffer-v1/whole", ALWAYS, eq(READABLE, True), BufferMutation(cut=1)),
    _rule(
        "transfer-type-values",
        Has(K(TRANSFER_TYPE.name)),
        one_of(K(TRANSFER_TYPE.name), 0, 1, 2),
        BufferMutation(patch={K(TRANSFER_TYPE.name): 3}, also_breaks=(WHOLE,)),
    ),
    _arm_rule("send", 0),
    _arm_rule("receive", 1),
    _arm_rule("create-cursor", 2),
    _rule(
        "action-values",
        Has(K("Action", RECEIVE)),
        one_of(K("Action", RECEIVE), *_numbers("Action")),
        BufferMutation(1, arm={"action": 1}),
    ),
    *(rule for word in ("Response", "Admin", "Dest", "Ordering") for rule in _format_name(word)),
    _rule(
        "class-reserved-zero",
        Has(K("pClass")),
        Compare("eq", Masked(Field(K("pClass")), 0x1F00), Const(0)),
        BufferMutation(given={"p_class": 0x0102}),
    ),
    _rule(
        "correlation-id-size",
        Has(K("ppCorrelationID") + ".MaxCount"),
        at_most(K("ppCorrelationID") + ".MaxCount", 20),
        BufferMutation(given={"pp_correlation_id": octets(bytes(24))}),
    ),
    _rule("priority-range", Has(K("pPriority")), at_most(K("pPriority"), 7), BufferMutation(given={"p_priority": 8})),
    _listed("delivery", "pDelivery", "p_delivery", 2, 0, 1),
    _listed("acknowledge", "pAcknowledge", "p_acknowledge", 3, *_numbers("pAcknowledge")),
    _listed("auditing", "pAuditing", "p_auditing", 4, 0, 1, 2, 3),
    _rule(
        "body-buffer-size",
        Has(f"{BODY}.ActualCount"),
        eq(f"{BODY}.ActualCount", Field(USED)),
        BufferMutation(patch={USED: 9}),
    ),
    _rule(
        "body-buffer-size-maximum",
        Has(USED),
        at_most(USED, Field(ALLOC)),
        BufferMutation(given={"pp_body": None, "p_body_size": None, "ul_alloc_body_buffer_in_bytes": 9}),
    ),
    _room("alloc-body-buffer", "ppBody", "ulAllocBodyBufferInBytes", 32),
    _rule(
        "body-size-maximum",
        Has(K("pBodySize")),
        at_most(K("pBodySize"), Field(ALLOC)),
        BufferMutation(given={"p_body_size": 25}),
    ),
    _rule(
        "title-buffer-size", Has(f"{TITLE}.MaxCount"), _whole(TITLE, TITLE_SIZE), BufferMutation(patch={TITLE_SIZE: 4})
    ),
    _rule(
        "title-buffer-size-maximum",
        Has(TITLE_SIZE),
        at_most(TITLE_SIZE, 250),
        BufferMutation(given={"pp_title": "t" * 251, "ul_title_buffer_size_in_wchars": 251}),
    ),
    _rule(
        "trace-size",
        eq(K("Last"), "pTrace"),
        eq(K("Trailing"), 0),
        BufferMutation(given={"p_trace": 1}, alone=True, append=bytes(3), also_breaks=(WHOLE,)),
    ),
    _listed("sender-id-type", "pulSenderIDType", "pul_sender_id_type", 3, 0, 1, 2),
    _rule("sender-id-none", eq(SENDER_TYPE, 0), Not(Has(SENDER)), BufferMutation(given={"pul_sender_id_type": 0})),
    _rule(
        "sender-id-sid",
        both(eq(SENDER_TYPE, 1), either(SENDS, Has(SENDER))),
        both(Has(SENDER), at_least(f"{SENDER}.SidLength", 8)),
        BufferMutation(given={"pp_sender_id": octets(b"no SID there"), "u_sender_id_len": 12}),
    ),
    _rule(
        "sender-id-guid",
        both(eq(SENDER_TYPE, 2), either(SENDS, Has(SENDER))),
        both(Has(SENDER), at_least(f"{SENDER}.MaxCount", 16)),
        BufferMutation(given={"pul_sender_id_type": 2}),
    ),
    _room("sender-id-length", "ppSenderID", "uSenderIDLen", 13),
    _rule(
        "priv-level-values",
        both(Has(PRIVACY), Not(one_of(PRIVACY, 2, 3))),
        {"listed": one_of(PRIVACY, 0, 1), "advanced-too": one_of(PRIVACY, 0, 1, 5)},
        BufferMutation(given={"pul_priv_level": 4}),
        "R-MQMP-aes",
    ),
    _rule(
        "priv-level-values/enhanced",
        one_of(PRIVACY, 2, 3),
        {"three": eq(PRIVACY, 3), "two": eq(PRIVACY, 2)},
        BufferMutation(given={"pul_priv_level": 2}),
        "R-MQMP-enhanced-privacy",
    ),
    _listed("authenticated", "pAuthenticated", "p_authenticated", 2, *_numbers("pAuthenticated")),
    _listed("hash-alg", "pulHashAlg", "pul_hash_alg", 0x8005, *_numbers("pulHashAlg")),
    _rule(
        "encrypt-alg-values",
        Has(K("pulEncryptAlg")),
        {
            "listed": one_of(K("pulEncryptAlg"), *CIPHERS),
            "advanced-too": one_of(K("pulEncryptAlg"), *CIPHERS, *AES),
        },
        BufferMutation(given={"pul_encrypt_alg": 0x6601}),
        "R-MQMP-aes",
    ),
    _rule(
        "sender-cert-x509",
        both(SENDS, Has(CERT)),
        at_least(f"{CERT}.CertificateLength", 1),
        BufferMutation(given={"pp_sender_cert": octets(b"no cert !")}),
    ),
    _room("sender-cert-length-indicated", "ppSenderCert", "ulSenderCertLen", 10, "sender-cert-length"),
    _rule(
        "sender-cert-length",
        both(SENDS, at_least(f"{CERT}.CertificateLength", 1)),
        eq(f"{CERT}.CertificateLength", Field(CERT_SIZE)),
        BufferMutation(given={"pp_sender_cert": octets(CERTIFICATE + b"\0"), "ul_sender_cert_len": 10}),
    ),
    _room("prov-name-length", "ppwcsProvName", "ulProvNameLen", 8),
    _room("symm-keys-size", "ppSymmKeys", "ulSymmKeysSize", 37),
    _room("signature-size", "ppSignature", "ulSignatureSize", 65),
    _rule(
        "msg-extension-buffer-size",
        Has(f"{EXTENSION}.MaxCount"),
        _whole(EXTENSION, EXTENSION_SIZE),
        BufferMutation(patch={EXTENSION_SIZE: 8}),
    ),
    _rule(
        "body-type-values",
        Has(K("pulBodyType")),
        one_of(K("pulBodyType"), *TYPES, *(VECTOR | one for one in TYPES)),
        BufferMutation(given={"pul_body_type": 0x2000}),
    ),
)
