"""MSMQDestination (MC-MQAC 3.12): one queue or several, by name, to send to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.embedded.entities import Descriptor, MqError
from conformance.embedded.objects.variants import (
    ANY,
    GET,
    INTEGERS,
    METHOD,
    PUT,
    PUTREF,
    S_FALSE,
    TEXT,
    ComObject,
    Variant,
    flag,
    member,
    text,
)
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_FORMATNAME, MQ_ERROR_INVALID_HANDLE

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

INVALID_HANDLE_VALUE = -1


class DestinationObject(ComObject):
    """A destination. format_name, path, directory: its names. descriptor: its handle, None while it is closed."""

    CLASS = "MSMQDestination"
    INTERFACES = ("IMSMQDestination", "IMSMQPrivateDestination")
    NOT_IMPLEMENTED = (
        (GET, "Properties"), (GET, "IADs"), (PUTREF, "IADs"), (GET, "Destinations"), (PUTREF, "Destinations"),
    )  # fmt: skip

    def __init__(self, manager: Manager, format_name: str | None = None) -> None:
        """Make a closed object without names (3.12.3), or one for a format name."""
        super().__init__(manager)
        self.format_name = format_name
        self.path: str | None = None
        self.directory: str | None = None
        self.descriptor: Descriptor | None = None

    @member(METHOD, "Open")
    def open(self) -> None:
        """Open the destination for sending (3.12.4.1.1)."""
        self.check_closed()
        self.descriptor = self.opened()

    def check_closed(self) -> None:
        """Answer S_FALSE if it is open."""
        if self.descriptor is not None:
            raise MqError(S_FALSE)

    def opened(self) -> Descriptor:
        """Return a new handle. Raises MqError."""
        if self.format_name is None:
            raise MqError(MQ_ERROR_ILLEGAL_FORMATNAME)
        return self.manager.queues.open(self.format_name, "send", "deny_none")

    @member(METHOD, "Close")
    def close(self) -> None:
        """Close the destination (3.12.4.1.2)."""
        self.check_open()
        self.released()

    def check_open(self) -> None:
        """Answer S_FALSE if it is closed."""
        if self.descriptor is None:
            raise MqError(S_FALSE)

    def released(self) -> None:
        """Close the handle, if there is one and nobody has closed it."""
        descriptor, self.descriptor = self.descriptor, None
        if descriptor is not None and descriptor.handle in self.manager.descriptors:
            self.manager.queues.close(descriptor)

    @member(GET, "IsOpen")
    def is_open(self) -> Variant:
        """Return whether it is open (3.12.4.1.3)."""
        return flag(self.descriptor is not None)

    # Its names.

    @member(GET, "ADsPath")
    def get_ads_path(self) -> Variant:
        """Return the directory path (3.12.4.1.6)."""
        return text(self.directory)

    @member(PUT, "ADsPath", bstrADsPath=TEXT)
    def put_ads_path(self, directory: str | None) -> None:
        """Name the queue of a directory path (3.12.4.1.7)."""
        self.begin(directory=directory)
        self.format_name = self.manager.objects.names.of_directory(directory or "")
        self.directory, self.path = directory, None
        self.reopen()

    @member(GET, "PathName")
    def get_path_name(self) -> Variant:
        """Return the path name, an empty text if there is none (3.12.4.1.8)."""
        return text(self.path or "")

    @member(PUT, "PathName", bstrPathName=TEXT)
    def put_path_name(self, path: str | None) -> None:
        """Name the queue of a path name (3.12.4.1.9)."""
        self.begin(path=path)
        self.format_name = self.manager.objects.names.format_name(path or "")
        self.path, self.directory = path, None
        self.reopen()

    def begin(self, **names: str | None) -> None:
        """Set a name before it is looked up; it stays if the look-up fails."""
        for attribute, name in names.items():
            setattr(self, attribute, name)

    @member(GET, "FormatName")
    def get_format_name(self) -> Variant:
        """Return the format name (3.12.4.1.10)."""
        return text(self.format_name)

    @member(PUT, "FormatName", bstrFormatName=TEXT)
    def put_format_name(self, format_name: str | None) -> None:
        """Name one queue or several (3.12.4.1.11)."""
        self.format_name = format_name
        self.path = self.directory = None
        self.reopen()

    def reopen(self) -> None:
        """Open anew under the new name, if it is open; a failure leaves it closed."""
        if self.descriptor is None:
            return
        self.released()
        try:
            self.descriptor = self.opened()
        except MqError:
            self.descriptor = None

    # IMSMQPrivateDestination.

    @member(GET, "Handle")
    def get_handle(self) -> Variant:
        """Return the number of the handle (3.12.4.2.1). Raises MqError if it is closed."""
        if self.descriptor is None:
            raise MqError(MQ_ERROR_INVALID_HANDLE)
        return Variant("I8", int(self.descriptor.handle.lstrip("h")))

    @member(PUT, "Handle", varHandle=ANY)
    def put_handle(self, given: Variant) -> None:
        """Take over a handle (3.12.4.2.2); an unknown one is none."""
        self.path = self.directory = None
        self.descriptor = None
        number: Any = given.value if given.vt in INTEGERS else None
        if number not in (None, 0, INVALID_HANDLE_VALUE):
            self.descriptor = self.manager.descriptors.get(f"h{int(number)}")
