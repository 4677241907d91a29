"""MSMQApplication (MC-MQAC 3.2): the queue manager of a computer."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.directory_client import NOT_CONNECTED, SUCCESS
from conformance.embedded.directory_objects import equals
from conformance.embedded.entities import MqError
from conformance.embedded.objects.variants import (
    E_NOTIMPL,
    GET,
    METHOD,
    OPTIONAL,
    PUT,
    RPC_S_SERVER_UNAVAILABLE,
    TEXT,
    ComObject,
    Variant,
    as_bytes,
    as_integer,
    flag,
    member,
    short,
    text,
    to_base64,
)
from conformance.spec.constants.hresults import (
    MQ_ERROR_INVALID_PARAMETER,
    MQ_ERROR_MACHINE_NOT_FOUND,
    MQ_ERROR_NO_DS,
)
from conformance.spec.constants.properties import PROPERTIES

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
ALWAYS, IF_NOT_EXIST = 1, 2
VERSIONS: Final = {"msmq-2.0": (2, 0, 802), "msmq-3.0": (3, 0, 1738), "msmq-4.0": (4, 1, 6000)}
"""Major and minor version and build by profile; of others the documents tell none."""
_GUID = re.compile(r"\{?([0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12})\}?\Z")


def register_flags(given: Variant) -> int:
    """Return the argument Flags of RegisterCertificate."""
    return ALWAYS if given.left_out else as_integer(given)


def is_missing(certificate: Variant) -> bool:
    """Return true if no certificate is given."""
    return certificate.vt in ("ERROR", "EMPTY", "NULL")


class ApplicationObject(ComObject):
    """A queue manager. computer: its computer, None for this one (3.2.1)."""

    CLASS = "MSMQApplication"
    INTERFACES = ("IMSMQApplication3", "IMSMQApplication2", "IMSMQApplication")

    def __init__(self, manager: Manager) -> None:
        """Stand for the queue manager of this computer."""
        super().__init__(manager)
        self.computer: str | None = None

    # Directory.

    @member(METHOD, "MachineIdOfMachineName", MachineName=TEXT)
    def identifier_of(self, name: str | None) -> Variant:
        """Return the GUID of a computer without braces, of this one for NULL (3.2.4.1.1)."""
        if self.manager.integration.integrated:
            return self.read_manager("computer_name", self.manager.computer if name is None else name, "identifier")
        if name is None or self.manager.queues.is_local(name):
            return text(self.manager.guid)
        found = self.manager.directory.computer_named(name)
        if found is None:
            raise MqError(MQ_ERROR_MACHINE_NOT_FOUND)
        return text(found)

    @member(METHOD, "MachineNameOfMachineId", bstrGuid=TEXT)
    def name_of(self, guid: str | None) -> Variant:
        """Return the name of a computer, whose GUID may have braces (3.2.4.2.2)."""
        found = _GUID.match(guid or "")
        if found is None:
            raise MqError(MQ_ERROR_MACHINE_NOT_FOUND)
        if self.manager.integration.integrated:
            return self.read_manager("identifier", found[1], "computer_name")
        if found[1].lower() == self.manager.guid.lower():
            return text(self.manager.computer)
        name = self.manager.directory.computer_identified(found[1])
        if name is None:
            raise MqError(MQ_ERROR_MACHINE_NOT_FOUND)
        return text(name)

    def read_manager(self, attribute: str, value: str, wanted: str) -> Variant:
        """Return an attribute of the queue manager that the directory has under another one. Raises MqError."""
        result, found = self.manager.integration.read("queue_manager", equals(attribute, value), [wanted])
        if result != SUCCESS or wanted not in found:
            raise MqError(MQ_ERROR_NO_DS if result == NOT_CONNECTED else MQ_ERROR_MACHINE_NOT_FOUND)
        return text(found[wanted])

    @member(METHOD, "RegisterCertificate", Flags=OPTIONAL, ExternalCertificate=OPTIONAL)
    def register_certificate(self, flags: Variant, certificate: Variant) -> None:
        """Register a certificate for the caller: the one given, or a new internal one (3.2.4.2.1)."""
        for check in self.certificate_checks(flags, certificate):
            check()
        caller = self.manager.security.caller_sid
        if is_missing(certificate):
            self.manager.certificates.register_internal(caller, anew=register_flags(flags) != IF_NOT_EXIST)
        else:
            self.manager.certificates.register(caller, to_base64(as_bytes(certificate) or b""))

    def certificate_checks(self, flags: Variant, certificate: Variant) -> tuple[Any, ...]:
        """Return the checks of RegisterCertificate in their order."""
        return (self.check_here, lambda: self.check_certificate(flags, certificate))

    def check_here(self) -> None:
        """Refuse to register elsewhere."""
        if self.computer is not None:
            raise MqError(E_NOTIMPL)

    def check_certificate(self, flags: Variant, certificate: Variant) -> None:
        """Refuse a certificate that is to be registered if there is none."""
        if register_flags(flags) == IF_NOT_EXIST and not is_missing(certificate):
            raise MqError(MQ_ERROR_INVALID_PARAMETER)

    # What is told of this computer alone.

    def check_local(self) -> None:
        """Refuse an object of a named computer."""
        if self.computer is not None:
            raise MqError(MQ_ERROR_INVALID_PARAMETER)

    def version(self) -> tuple[int, int, int]:
        """Return major and minor version and build."""
        profile = self.manager.profile
        return VERSIONS.get(profile, (int(profile.removeprefix("msmq-").partition(".")[0]), 0, 0))

    @member(GET, "MSMQVersionMajor")
    def version_major(self) -> Variant:
        """Return the major version (3.2.4.2.3)."""
        self.check_local()
        return short(self.version()[0])

    @member(GET, "MSMQVersionMinor")
    def version_minor(self) -> Variant:
        """Return the minor version (3.2.4.2.4)."""
        self.check_local()
        return short(self.version()[1])

    @member(GET, "MSMQVersionBuild")
    def version_build(self) -> Variant:
        """Return the build (3.2.4.2.5)."""
        self.check_local()
        return short(self.version()[2])

    @member(GET, "IsDsEnabled")
    def is_ds_enabled(self) -> Variant:
        """Return DirectoryIntegrated: whether there is a directory server (3.2.4.2.6)."""
        self.check_local()
        return flag(self.manager.integration.integrated or self.manager.directory.server is not None)

    # What is told of the computer that it stands for.

    def info(self, word: str) -> Json:
        """Return a management property of the computer, None for VT_NULL. Raises MqError for another computer."""
        self.bind()
        number = PROPERTIES[f"PROPID_MGMT_MSMQ_{word}"].value
        return self.manager.management.get({"type": "machine"}, [number])[0].get("value")

    def bind(self) -> None:
        """Find the computer: another than this one cannot be asked."""
        if self.computer is not None and not self.manager.queues.is_local(self.computer):
            raise MqError(RPC_S_SERVER_UNAVAILABLE)

    def texts(self, word: str) -> Variant:
        """Return a list of names."""
        return Variant("ARRAY", [text(each) for each in self.info(word) or ()], "BSTR")

    @member(METHOD, "ActiveQueues")
    def active_queues(self) -> Variant:
        """Return the format names of active queues (3.2.4.3.1)."""
        return self.texts("ACTIVEQUEUES")

    @member(GET, "PrivateQueues")
    def private_queues(self) -> Variant:
        """Return the path names of private queues (3.2.4.3.2)."""
        return self.texts("PRIVATEQ")

    @member(GET, "DirectoryServiceServer")
    def directory_server(self) -> Variant:
        """Return the directory server, NULL if there is none (3.2.4.3.3)."""
        return text(self.info("DSSERVER"))

    @member(GET, "IsConnected")
    def is_connected(self) -> Variant:
        """Return whether the computer is connected (3.2.4.3.4)."""
        return flag(self.info("CONNECTED") == "CONNECTED")

    @member(GET, "BytesInAllQueues")
    def bytes_in_all_queues(self) -> Variant:
        """Return the bytes of all messages (3.2.4.3.5)."""
        return Variant("I8", int(self.info("BYTES_IN_ALL_QUEUES") or 0))

    @member(PUT, "Machine", bstrMachine=TEXT)
    def put_machine(self, name: str | None) -> None:
        """Stand for another computer (3.2.4.3.6)."""
        self.computer = name

    @member(GET, "Machine")
    def get_machine(self) -> Variant:
        """Return the computer (3.2.4.3.7)."""
        return text(self.manager.computer if self.computer is None else self.computer)

    @member(METHOD, "Connect")
    def connect(self) -> None:
        """Bring the computer online (3.2.4.3.8)."""
        self.act("CONNECT")

    @member(METHOD, "Disconnect")
    def disconnect(self) -> None:
        """Take the computer offline (3.2.4.3.9)."""
        self.act("DISCONNECT")

    @member(METHOD, "Tidy")
    def tidy(self) -> None:
        """Give back what is not needed (3.2.4.3.10)."""
        self.act("TIDY")

    def act(self, action: str) -> None:
        """Perform an action of the computer. Raises MqError for another one."""
        self.bind()
        self.manager.management.act({"type": "machine"}, action)
