"""Faults of MSMQApplication, and of names and computers that the directory has (MC-MQAC 3.2, 3.12.6.1)."""

from __future__ import annotations

from functools import partial
from typing import Any

from conformance.embedded.directory import ALIAS, LIST, QUEUE, Directory, DirectoryObject
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab, row
from conformance.embedded.objects.application import ApplicationObject
from conformance.embedded.objects.destination import DestinationObject
from conformance.embedded.objects.queue_info import QueueNames
from conformance.embedded.objects.variants import (
    E_FAIL,
    E_INVALIDARG,
    NOTHING,
    RPC_S_SERVER_UNAVAILABLE,
    Variant,
    flag,
    short,
    text,
)
from conformance.spec.constants.hresults import MQ_ERROR_QUEUE_NOT_FOUND

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
        f"application-tells-{kebab(_name, letters=True)}-of-another",
        f"{_name} of a named computer is that of this one.", _ids,
        invoke=_named(_name),
    )  # fmt: skip
    _register(
        f"application-refuses-{kebab(_name, letters=True)}-with-another-code",
        f"{_name} of a named computer has another code.",
        _ids[1:], invoke=_named(_name, code=E_INVALIDARG),
    )  # fmt: skip
for _name, _section in ELSEWHERE.items():
    _register(
        f"application-tells-{kebab(_name, letters=True)}-of-this-computer",
        f"{_name} of another computer is that of this one.",
        (f"{_section}.return-status-mq-ok-0x00000000",), invoke=_named(_name),
    )  # fmt: skip


def _answers(member: str, value: Variant) -> Any:
    def invoke(self: Any, name: str, kind: str, given: list[Variant], caller: Any) -> Variant | None:
        found: Variant | None = ApplicationObject.invoke(self, name, kind, given, caller)
        return value if name.lower() == member.lower() and found is not None else found

    return invoke


for _name, (_word, _value) in TELLS.items():
    _register(
        f"application-tells-another-{kebab(_name, letters=True)}", f"{_name} is {_value.value!r}, whatever it is.",
        (_word,),
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

_NAMES, _APPLICATION = "3.12.6.1.", "3.2.4."

_part = partial(row, __name__)


# Directory paths.
def _without(kind: str) -> Any:
    def at(self: Any, directory_path: str) -> DirectoryObject:
        found = Directory.at(self, directory_path)
        if found.kind == kind:
            raise MqError(MQ_ERROR_QUEUE_NOT_FOUND)
        return found

    return at


def _as_queues(kind: str) -> Any:
    def of_directory(self: Any, path: str) -> str:
        found: DirectoryObject = self.manager.directory.at(path)
        return f"PUBLIC={found.guid}" if found.kind == kind else found.name

    return of_directory


_KINDS = {
    QUEUE: ("string-format-name-public-guid", "status-mq-ok-after-string-format-name-public-guid"),
    ALIAS: ("returned-format-name-values-ldap",),
    LIST: ("string-format-name-dl-guid", "status-mq-ok-after-string-format-name-dl-guid"),
}
for _kind, _words in _KINDS.items():
    _part(
        "directory", f"directory-path-of-{_kind.replace('_', '-')}-is-not-found",
        f"The directory path of a {_kind.replace('_', ' ')} is not found.", tuple(_NAMES + word for word in _words),
        at=_without(_kind),
    )  # fmt: skip
    if _kind != QUEUE:
        _part(
            "queue_names", f"directory-path-of-{_kind.replace('_', '-')}-gives-a-public-name",
            f"The format name of a {_kind.replace('_', ' ')} is PUBLIC= with its identifier.", (_NAMES + _words[0],),
            of_directory=_as_queues(_kind),
        )  # fmt: skip


@fault("directory-path-gives-a-direct-name", QueueNames.of_directory, _NAMES + "string-format-name-public-guid")
def directory_path_gives_a_direct_name(plain, self, path):
    """A directory path gives DIRECT=OS:."""
    found: DirectoryObject = self.manager.directory.at(path)
    return f"DIRECT=OS:{found.path}" if found.kind == QUEUE else found.name


@fault(
    "directory-path-of-nothing-gives-a-name", QueueNames.of_directory, _NAMES + "l-status-after-status-mq-ok",
    "3.12.4.1.7.generate-a-ds-path-get-queue",
)  # fmt: skip
def directory_path_of_nothing_gives_a_name(plain, self, path):
    """A directory path that is not there gives a name."""
    try:
        return plain(path)
    except MqError:
        return f"PUBLIC={self.manager.guid}"


# MSMQApplication.
def _application(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    _part("application", name, story, tuple(_APPLICATION + each for each in breaks), **methods)


def _own_alone(method: str) -> Any:
    def perform(self: Any, given: str | None) -> Variant:
        kept, self.manager.directory = self.manager.directory, Directory(self.manager)
        try:
            found: Variant = getattr(ApplicationObject, method)(self, given)
        finally:
            self.manager.directory = kept
        return found

    return {method: perform}


_application("machine-id-of-others-is-not-found", "MachineIdOfMachineName knows this computer alone.",
             ("1.1.retrieve-queue-manager-directory-queue-manager", "1.1.generate-machine-name-read-directory"),
             **_own_alone("identifier_of"))  # fmt: skip
_application("machine-name-of-others-is-not-found", "MachineNameOfMachineId knows this computer alone.",
             ("2.2.retrieve-queue-manager-directory-queue-manager", "2.2.generate-bstr-guid-read-directory"),
             **_own_alone("name_of"))  # fmt: skip


def _asks_elsewhere(self: Any) -> None:
    if self.computer is not None:
        raise MqError(RPC_S_SERVER_UNAVAILABLE)


def _acts_unnamed(self: Any, action: str) -> None:
    _asks_elsewhere(self)
    ApplicationObject.act(self, action)


def _fails_otherwise(self: Any) -> None:
    try:
        ApplicationObject.bind(self)
    except MqError:
        raise MqError(E_FAIL) from None


_application(
    "application-of-a-named-computer-cannot-be-asked",
    "An object of this computer that was named fails.",
    tuple(f"3.{number}.server-qm-mgmt-generate-get" for number in (1, 2, 3, 4, 5)),
    bind=_asks_elsewhere,
)
_application("application-of-a-named-computer-cannot-act", "Connect, Disconnect and Tidy of this computer that was "
             "named fail.", tuple(f"3.{number}.server-qm-mgmt-generate-inputs" for number in (8, 9, 10)),
             act=_acts_unnamed)  # fmt: skip
_application("application-fails-otherwise-elsewhere", "What is told of a computer that cannot be asked is E_FAIL.",
             tuple(f"3.{number}.return-status-mq-ok-0x00000000-code" for number in (1, 2, 3, 4, 5)),
             bind=_fails_otherwise)  # fmt: skip
for _flagged in (True, False):
    _application(f"application-is-always-{'integrated' if _flagged else 'alone'}", f"IsDsEnabled is always {_flagged}.",
                 (f"2.6.pf-is-ds-enabled-variant-{str(not _flagged).lower()}-row", "2.6.output-pf-is-ds-enabled"),
                 is_ds_enabled=lambda self, told=_flagged: (self.check_local(), flag(told))[1])  # fmt: skip


def _named_queue(self: Any, change: Any) -> Variant:
    found: Variant = ApplicationObject.directory_server(self)
    return found if found.value is None else text(change(str(found.value)))


_application("directory-server-lacks-its-backslashes", "DirectoryServiceServer has no backslashes.",
             ("3.3.pbstr-directory-service-server-grammar", "3.3.directory-server-rule",
              "3.3.output-pbstr-directory-service-server-dns"),
             directory_server=lambda self: _named_queue(self, lambda name: name.lstrip("\\")))  # fmt: skip
_application("directory-server-is-another", "DirectoryServiceServer names another server.",
             ("3.3.output-pbstr-directory-service-server-dns",),
             directory_server=lambda self: _named_queue(self, lambda name: f"{name}x"))  # fmt: skip
_application("directory-server-is-never-named", "DirectoryServiceServer is NULL.",
             ("3.3.output-pbstr-directory-service-server-dns", "3.3.name-rule"),
             directory_server=lambda self: (self.bind(), text(None))[1])  # fmt: skip


# MSMQDestination.
def _destination(name: str, story: str, breaks: tuple[str, ...], **methods: Any) -> None:
    ids = tuple(f"3.12.{each}" for each in breaks)
    _part("destination", name, story, ids, **methods)


def _keeping(*names: str) -> Any:
    def put_handle(self: Any, given: Variant) -> None:
        kept = {each: getattr(self, each) for each in names}
        DestinationObject.put_handle(self, given)
        for each, value in kept.items():
            setattr(self, each, value)

    return put_handle


def _closed_before(method: str) -> Any:
    def perform(self: Any, given: str | None) -> None:
        kept, self.descriptor = self.descriptor, None
        try:
            getattr(DestinationObject, method)(self, given)
            self.descriptor = self.opened() if kept is not None else None
        except MqError:
            self.descriptor = kept
            raise

    return {method: perform}


_destination("destination-keeps-its-path-with-a-handle", "put Handle leaves the path name.",
             ("4.2.2.variable-queue-path-name-null",), put_handle=_keeping("path"))  # fmt: skip
_destination("destination-keeps-its-directory-path-with-a-handle", "put Handle leaves the directory path.",
             ("4.2.2.variable-directory-path-null",), put_handle=_keeping("directory"))  # fmt: skip
for _method, _number, _word in (
    ("put_ads_path", "7", "calling"), ("put_path_name", "9", "call"), ("put_format_name", "11", "call"),
):  # fmt: skip
    _destination(
        f"destination-{_method.replace('_', '-')}-leaves-the-old-handle-open", f"{_method} opens anew and closes "
        "nothing.", (f"4.1.{_number}.{_word}-msmq-destination-close-method",), **_closed_before(_method),
    )  # fmt: skip


def _open_from_the_start(self: Any, manager: Any, format_name: str | None = None) -> None:
    DestinationObject.__init__(self, manager, format_name)
    queue = next((one for one in manager.queues.all() if one.kind == "private"), None)
    if queue is not None:
        self.descriptor = manager.queues.open(f"DIRECT=OS:{queue.path}", "send", "deny_none")


_destination("new-destination-is-open", "A new object has the handle of a queue.",
             ("3.variable-destination-open-queue-descriptor-null",), __init__=_open_from_the_start)  # fmt: skip


def _nameless(self: Any, path: str | None) -> None:
    DestinationObject.put_path_name(self, path)
    self.format_name = f"DIRECT=OS:{path}x"


_destination(
    "destination-takes-a-path-for-another",
    "put PathName leads to the name of another queue.",
    ("4.1.9.server-generate-get-queue", "4.1.9.server-queue-format-name"),
    put_path_name=_nameless,
)

_destination("destination-has-no-private-interface", "An MSMQDestination has no IMSMQPrivateDestination.",
             ("4.2.class-and-interface-ids",),
             interfaces=lambda self: self.INTERFACES[:1])  # fmt: skip


def _opens_anyway(self: Any) -> None:
    if self.descriptor is not None:
        DestinationObject.reopen(self)
        return
    try:
        self.descriptor = self.opened()
    except MqError:
        return


_destination("destination-opens-for-a-name", "A name opens a destination that is closed.",
             tuple(f"4.1.{number}.variable-destination-open-queue-descriptor-null" for number in (7, 9, 11)),
             reopen=_opens_anyway)  # fmt: skip


def _every_queue(self: Any) -> Variant:
    self.bind()
    names = [self.manager.queues.direct_name(queue) for queue in self.manager.queues.all()]
    return Variant("ARRAY", [text(each) for each in names], "BSTR")


def _public_too(self: Any) -> Variant:
    found = ApplicationObject.private_queues(self)
    public = [text(queue.path) for queue in self.manager.queues.all() if queue.kind == "public"]
    return Variant("ARRAY", [*found.value, *public], "BSTR")


_application("every-queue-is-active", "ActiveQueues names every queue.",
             ("3.1.identify-queue-manager-queue-collection-queues",), active_queues=_every_queue)  # fmt: skip
_application("public-queues-are-private-ones", "PrivateQueues names the public queues too.",
             ("3.2.identify-queue-manager-queue-collection-queues",), private_queues=_public_too)  # fmt: skip
