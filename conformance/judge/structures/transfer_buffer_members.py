"""Maps the members of CACTransferBufferV1 to the requirements of MS-MQMP 2.2.3.2 on writing and reading them.

A member is compared as a whole and, where the document names values or bits of it, under their requirements too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.judge.structures.transfer_buffer_rules import SECTION, WHOLE
from conformance.spec.constants.enumerations import ENUMERATIONS
from conformance.wire.transfer_buffer import ARMS, Kind, Placed, all_members

# The catalogue's words for members that differ from the JSON name with dashes; empty: the declaration's requirement.
_WORDS = {
    "RequestTimeout": "",
    "pPriority": "",
    "pApplicationTag": "",
    "ppMsgExtension": "",
    "ulBodyBufferSizeInBytes": "body-buffer-size",
    "ulAllocBodyBufferInBytes": "alloc-body-buffer",
    "ulTitleBufferSizeInWCHARs": "title-buffer-size",
    "pulTitleBufferSizeInWCHARs": "title-size",
    "ulAbsoluteTimeToQueue": "absolute-time-to-queue",
    "pulRelativeTimeToQueue": "relative-time-to-queue",
    "ulRelativeTimeToLive": "relative-time-to-live",
    "pulRelativeTimeToLive": "relative-time-to-live-left",
    "pulSenderIDType": "sender-id-type",
    "ppSenderID": "pp-sender-id",
    "pulSenderIDLenProp": "sender-id-length-actual",
    "pulPrivLevel": "priv-level",
    "ulAuthLevel": "auth-level",
    "pulHashAlg": "hash-alg",
    "pulEncryptAlg": "encrypt-alg",
    "ulSenderCertLen": "sender-cert-length",
    "pulSenderCertLenProp": "sender-cert-length-actual",
    "ulProvNameLen": "prov-name-length",
    "pulAuthProvNameLenProp": "auth-prov-name-length-actual",
    "pulProvType": "prov-type",
    "ulSymmKeysSize": "symm-keys-size",
    "pulSymmKeysSizeProp": "symm-keys-size-actual",
    "uSenderIDLen": "sender-id-length",
    "ulSignatureSize": "signature-size",
    "pulSignatureSizeProp": "signature-size-actual",
    "ulMsgExtensionBufferInBytes": "msg-extension-buffer-size",
    "pMsgExtensionSize": "msg-extension-size",
    "pulBodyType": "body-type",
    "pulVersion": "version",
}


def member_requirement(placed: Placed) -> str:
    """Return the requirement on a member; the declaration's where no other covers its bytes."""
    name = placed.member.name
    if placed.arm is not None and placed.arm.name == "CreateCursor":
        return SECTION + "create-cursor"
    if name.endswith("FormatNameLen"):
        return f"{SECTION}{name[2:-13].lower()}-format-name-length"
    if name.endswith("FormatNameLenProp"):
        return f"{SECTION}{name[3:-17].lower()}-format-name-length-actual"
    word = _WORDS.get(name, placed.member.json.replace("_", "-"))
    return SECTION + word if word else WHOLE


@dataclass(frozen=True, slots=True)
class Aspect:
    """The part of a member that is compared, and its requirements.

    mask: the bits that count; None for all. when: the aspect is judged only where the given value has one of these
    numbers.
    """

    requirements: tuple[str, ...]
    placed: Placed
    mask: int | None = None
    when: tuple[int, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """The path of the member in a value of the adapter protocol."""
        arm = self.placed.arm
        return (arm.json, self.placed.member.json) if arm else (self.placed.member.json,)

    def asked(self, value: Mapping[str, Any]) -> Any:
        """Return the member of a value in the form used for comparison; None for null or left out."""
        found: Any = value
        for word in self.path:
            found = found.get(word) if isinstance(found, Mapping) else None
        if found is None and not self.placed.member.pointer:
            found = 0
        found = _plain(found, self.placed.member.kind)
        return found & self.mask if self.mask is not None and isinstance(found, int) else found

    def judges(self, value: Mapping[str, Any]) -> bool:
        """Return True when a value has what this aspect compares."""
        arm = self.placed.arm
        if arm is not None and not isinstance(value.get(arm.json), Mapping):
            return False
        asked = self.asked(value)
        return (not self.when or asked in self.when) and (self.mask is None or asked is not None)


_GUIDS = ("m_g_public_id", "m_g_machine_id", "m_g_connector_id", "m_dl_guid", "lineage", "rgb")


def _plain(found: Any, kind: Kind) -> Any:
    """Lower the case of GUIDs and drop the reserved member."""
    if kind is Kind.PP_GUID and isinstance(found, str):
        return found.lower()
    if isinstance(found, Mapping):
        return {
            name: one.lower() if name in _GUIDS and isinstance(one, str) else _plain(one, kind)
            for name, one in found.items()
            if name != "m_reserved"
        }
    return found


_PLACED = {(placed.arm.name + "." if placed.arm else "") + placed.member.name: placed for placed in all_members()}


def _at(name: str, words: str, *, mask: int | None = None, when: tuple[int, ...] = ()) -> Aspect:
    return Aspect(tuple(SECTION + word for word in words.split()), _PLACED[name], mask, when)


def _named(name: str, words: Mapping[str, str]) -> tuple[Aspect, ...]:
    """Return an aspect for each value that a table names. words: the constant's name to the requirement's word."""
    numbers = ENUMERATIONS[name.rpartition(".")[2]].members
    return tuple(_at(name, word, when=(numbers[constant],)) for constant, word in words.items())


MEMBER_ASPECTS: tuple[Aspect, ...] = tuple(Aspect((member_requirement(placed),), placed) for placed in all_members())
ARM_REQUIREMENTS = {arm.json: f"{SECTION}{arm.json.replace('_', '-')}" for arm in ARMS}

VALUE_ASPECTS: tuple[Aspect, ...] = (
    *_named(
        "Receive.Action",
        {
            "MQ_ACTION_RECEIVE": "mq-action-receive",
            "MQ_ACTION_PEEK_CURRENT": "mq-action-peek-current",
            "MQ_ACTION_PEEK_NEXT": "mq-action-peek-next",
        },
    ),
    _at("pClass", "class-code-bits", mask=0x00FF),
    _at("pClass", "class-reserved", mask=0x1F00),
    _at("pClass", "class-http", mask=0x2000),
    _at("pClass", "class-http-clear", mask=0x2000, when=(0,)),
    _at("pClass", "class-http-set", mask=0x2000, when=(0x2000,)),
    _at("pClass", "class-receive", mask=0x4000),
    _at("pClass", "class-receive-clear", mask=0x4000, when=(0,)),
    _at("pClass", "class-receive-set", mask=0x4000, when=(0x4000,)),
    _at("pClass", "class-severity", mask=0x8000),
    _at("pClass", "class-severity-clear", mask=0x8000, when=(0,)),
    _at("pClass", "class-severity-set", mask=0x8000, when=(0x8000,)),
    _at("pAcknowledge", "acknowledgment-nack-reach-queue", when=(4,)),
    _at("pTrace", "trace-off trace-off-value", when=(0,)),
    _at("pTrace", "trace-on trace-on-value", when=(1,)),
    *_named(
        "pulSenderIDType",
        {
            "MQMSG_SENDERID_TYPE_NONE": "senderid-type-none",
            "MQMSG_SENDERID_TYPE_SID": "senderid-type-sid",
            "MQMSG_SENDERID_TYPE_QM": "senderid-type-qm",
        },
    ),
    *_named(
        "pulPrivLevel",
        {"MQMSG_PRIV_LEVEL_NONE": "priv-level-none", "MQMSG_PRIV_LEVEL_BODY_BASE": "priv-level-body-base"},
    ),
    _at("pulPrivLevel", "priv-level-body-enhanced", when=(2, 3)),
    *_named(
        "pAuthenticated",
        {
            "MQMSG_AUTHENTICATION_NOT_REQUESTED": "authentication-not-requested",
            "MQMSG_AUTHENTICATED_SIG10": "authenticated-sig10",
            "MQMSG_AUTHENTICATED_SIG20": "authenticated-sig20",
            "MQMSG_AUTHENTICATED_SIG30": "authenticated-sig30",
            "MQMSG_AUTHENTICATED_SIGXML": "authenticated-sigxml",
        },
    ),
    *_named(
        "pulHashAlg",
        {name: name.removeprefix("MQMSG_").lower().replace("_", "-") for name in ENUMERATIONS["pulHashAlg"].members},
    ),
    *_named("pulEncryptAlg", {"MQMSG_CALG_RC2": "calg-rc2", "MQMSG_CALG_RC4": "calg-rc4"}),
    _at("fDefaultProvider", "default-provider-clear", when=(0,)),
)
ASPECTS = (*MEMBER_ASPECTS, *VALUE_ASPECTS)
