"""Faults of MSMQApplication (MC-MQAC 3.2)."""

from __future__ import annotations

from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import kebab, row
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.codes import E_INVALIDARG
from conformance.embedded.objects.variants import NOTHING, Variant, flag, short, text

_S = "3.2.4."
LOCAL = {"MSMQVersionMajor": "2.3", "MSMQVersionMinor": "2.4", "MSMQVersionBuild": "2.5", "IsDsEnabled": "2.6"}
"""Getters that refuse an object of a named computer, with their sections."""
TELLS: dict[str, tuple[str, Variant]] = {
    "MSMQVersionMajor": ("2.3.output-ps-msmq-version-major-variable", short(1)),
    "MSMQVersionMinor": ("2.4.output-ps-msmq-version-minor-variable", short(77)),
    "MSMQVersionBuild": ("2.5.output-ps-msmq-version-build-variable", short(77)),
    "IsDsEnabled": ("2.6.output-pf-is-ds-enabled", flag(True)),
    "ActiveQueues": ("3.1.output-pv-active-queues-variable-array", Variant("ARRAY", [], "BSTR")),
    "PrivateQueues": ("3.2.output-pv-private-queues-path-names", Variant("ARRAY", [], "BSTR")),
    "BytesInAllQueues": ("3.5.output-pv-bytes-in-all-queues", Variant("I8", 1)),
    "MachineIdOfMachineName": ("1.1.output-pbstr-guid", text("00000000-0000-0000-0000-000000000001")),
    "MachineNameOfMachineId": ("2.2.output-pbstr-machine-name-computer-name", text("ANOTHER")),
    "Machine": ("3.7.output-pbstr-machine", text("ANOTHER")),
}
"""Members: the demand, and another value."""
ELSEWHERE = {"ActiveQueues": "3.1", "PrivateQueues": "3.2", "DirectoryServiceServer": "3.3", "IsConnected": "3.4",
             "BytesInAllQueues": "3.5"}  # fmt: skip


def _register(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    ids = tuple(f"MQAC-{_S}{each}" if each[0].isdigit() else f"MQAC-3.2.3.{each}" for each in breaks)
    row(__name__, "application", name, story, ids, **methods)


def _named(member: str, *, code: int = 0) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        if name.lower() != member.lower() or self.computer is None or kind == "put":
            found: Variant | None = ApplicationObject.invoke(self, name, kind, given, caller)
            return found
        if code:
            raise MqError(code)
        kept, self.computer = self.computer, None
        try:
            return ApplicationObject.invoke(self, name, kind, given, caller)
        finally:
            self.computer = kept

    return invoke


for _name, _section in LOCAL.items():
    _ids = (f"{_section}.variable-computer-name-null", f"{_section}.variable-computer-name-null-code")
    _register(
        f"application-tells-{kebab(_name)}-of-another", f"{_name} of a named computer is that of this one.", _ids,
        invoke=_named(_name),
    )  # fmt: skip
    _register(
        f"application-refuses-{kebab(_name)}-with-another-code", f"{_name} of a named computer has another code.",
        _ids[1:], invoke=_named(_name, code=E_INVALIDARG),
    )  # fmt: skip
for _name, _section in ELSEWHERE.items():
    _register(
        f"application-tells-{kebab(_name)}-of-this-computer", f"{_name} of another computer is that of this one.",
        (f"{_section}.return-status-mq-ok-0x00000000",), invoke=_named(_name),
    )  # fmt: skip


def _answers(member: str, value: Variant) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        found: Variant | None = ApplicationObject.invoke(self, name, kind, given, caller)
        return value if name.lower() == member.lower() and found is not None else found

    return invoke


for _name, (_word, _value) in TELLS.items():
    _register(
        f"application-tells-another-{kebab(_name)}", f"{_name} is {_value.value!r}, whatever it is.", (_word,),
        invoke=_answers(_name, _value),
    )  # fmt: skip
for _told in (True, False):
    _register(
        f"application-is-always-{'connected' if _told else 'disconnected'}", f"IsConnected is always {_told}.",
        ("3.4.output-pf-is-connected", f"3.4.pf-is-connected-variant-{str(not _told).lower()}-row"),
        invoke=_answers("IsConnected", flag(_told)),
    )  # fmt: skip


def _in_braces(self: Any, name: str | None) -> Variant:
    return text(f"{{{ApplicationObject.identifier_of(self, name).value}}}")


def _any_name(self: Any, name: str | None) -> Variant:
    return text(self.manager.guid)


def _needs_a_name(self: Any, name: str | None) -> Variant:
    if name is None:
        raise MqError(E_INVALIDARG)
    return ApplicationObject.identifier_of(self, name)


def _any_guid(self: Any, guid: str | None) -> Variant:
    return text(self.manager.computer)


def _no_braces(self: Any, guid: str | None) -> Variant:
    return ApplicationObject.name_of(self, None if guid is not None and guid.startswith("{") else guid)


_register(
    "machine-id-has-braces", "MachineIdOfMachineName gives a GUID in braces.",
    ("1.1.pbstr-guid-include-server-guid", "1.1.pbstr-guid-grammar"), identifier_of=_in_braces,
)  # fmt: skip
_register(
    "machine-id-of-every-name", "MachineIdOfMachineName of an unknown computer gives that of this one.",
    ("1.1.return-status-directory-operation-result-success",), identifier_of=_any_name,
)  # fmt: skip
_register(
    "machine-id-needs-a-name", "MachineIdOfMachineName of NULL fails.",
    ("1.1.machine-name-input-null-queue-manager-computer-name",), identifier_of=_needs_a_name,
)  # fmt: skip
_register(
    "machine-name-of-every-id", "MachineNameOfMachineId of an unknown GUID gives this computer.",
    ("2.2.return-status-directory-operation-result-success",), name_of=_any_guid,
)  # fmt: skip
_register(
    "machine-name-refuses-braces", "MachineNameOfMachineId refuses a GUID in braces.",
    ("2.2.bstr-guid-accept-server-gui-ds",), name_of=_no_braces,
)  # fmt: skip


def _checks(*places: int) -> Any:
    def certificate_checks(self: Any, flags: Variant, certificate: Variant) -> tuple[Any, ...]:
        found = ApplicationObject.certificate_checks(self, flags, certificate)
        return tuple(found[place] for place in places)

    return certificate_checks


_HERE = ("2.1.return-e-notimpl", "2.1.variable-computer-name-null")
_register("certificate-is-registered-anywhere", "RegisterCertificate of a named computer goes on.", _HERE,
          certificate_checks=_checks(1))  # fmt: skip
_register(
    "certificate-looks-at-flags-first", "Flags are looked at before the computer.", _HERE,
    certificate_checks=_checks(1, 0),
)  # fmt: skip
_register(
    "certificate-takes-every-flag", "A certificate can be registered if there is none.",
    ("2.1.return-mq-error-invalid-parameter", "2.1.input-flags-external-certificate"), certificate_checks=_checks(0),
)  # fmt: skip


def _implements(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
    if name.lower() == "properties":
        return NOTHING
    found: Variant | None = ApplicationObject.invoke(self, name, kind, given, caller)
    return found


_register("application-implements-properties", "get Properties of MSMQApplication succeeds.", ("2.7.not-implemented",),
          invoke=_implements)  # fmt: skip


def _acts(given: str) -> Any:
    def act(self: Any, action: str) -> None:
        if action != given:
            ApplicationObject.act(self, action)

    return act


_register("application-connect-does-nothing", "Connect leaves the computer offline.",
          ("3.8.send-queue-manager-bring-online", "3.8.purpose"), act=_acts("CONNECT"))  # fmt: skip
_register("application-disconnect-does-nothing", "Disconnect leaves the computer online.",
          ("3.9.send-queue-manager-offline-local", "3.9.purpose"), act=_acts("DISCONNECT"))  # fmt: skip


def _silent(self: Any, action: str) -> None:
    try:
        ApplicationObject.act(self, action)
    except MqError:
        return


_register(
    "application-actions-succeed-anywhere", "Connect, Disconnect and Tidy of another computer succeed.",
    ("3.8.server-status-return", "3.9.server-status-return", "3.10.server-status-return"), act=_silent,
)  # fmt: skip
_register(
    "application-forgets-its-machine", "put Machine changes nothing.",
    ("3.6.return-values-variable-server-computer-name", "3.7.output-pbstr-machine-computer-name-variable"),
    put_machine=lambda self, name: None,
)  # fmt: skip


def _elsewhere(self: Any, manager: Any) -> None:
    ApplicationObject.__init__(self, manager)
    self.computer = "ANOTHER"


_register(
    "new-application-is-elsewhere", "A new object stands for another computer.",
    ("variable-computer-name-null-initialized",), __init__=_elsewhere,
)  # fmt: skip
