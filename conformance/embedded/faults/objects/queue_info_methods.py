"""Faults of the methods of MSMQQueueInfo (MC-MQAC 3.10.4.1.26 to .31, 3.10.6.1): each check, and what follows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, row
from conformance.embedded.objects.queue import QueueObject
from conformance.embedded.objects.queue_info import PATH, QueueInfoObject, QueueNames
from conformance.embedded.objects.variants import Variant, flag, short, text
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_QUEUE_PATHNAME

_S = "MQAC-3.10.4.1."
_NAMES = "MQAC-3.10.6.1."
NUMBERS = {"create": "26", "delete": "27", "open": "28", "refresh": "29", "update": "30"}
SEVERAL = {
    "delete": "variable-queue-format-name-http-identifies", "open": "variable-queue-format-name-http-access",
    "refresh": "variable-queue-format-name-http-format", "update": "variable-queue-format-name-http-format",
}  # fmt: skip
MISSING = {"delete": "exist-application-queue", "refresh": "return-hresult-error-after-else", "update": "no-queue"}
_ANYWHERE = "equals-is-local-is-public-false"


_info = partial(row, __name__, "queue_info")


_name = partial(row, __name__, "queue_names")


def _lenient(method: str, met: Callable[[Any], bool]) -> dict[str, Any]:
    """A method that succeeds where it should fail, if what it is called on is so."""

    def perform(self: Any, *given: Any) -> Variant | None:
        before = met(self)
        try:
            found: Variant | None = getattr(QueueInfoObject, method)(self, *given)
        except MqError:
            if not before:
                raise
            return _blank(self) if method == "open" else None
        return found

    perform.com = getattr(QueueInfoObject, method).com  # type: ignore[attr-defined]
    return {method: perform}


def _blank(info: Any) -> Variant:
    return Variant("DISPATCH", info.manager.parts.queue_object(info.manager))


def _named(info: Any) -> str:
    return str(info.format_name or info.ref[PATH] or "")


def _without_name(info: Any) -> bool:
    return not _named(info)


def _of_several(info: Any) -> bool:
    return "," in _named(info) or "HTTP:" in _named(info).upper() or _named(info).upper().startswith("MULTICAST=")


def _elsewhere(info: Any) -> bool:
    return "OTHER\\" in _named(info) and not _of_several(info)


def _not_there(info: Any) -> bool:
    return "none" in _named(info) and not _of_several(info)


def _wrong_path(info: Any) -> bool:
    return info.ref[PATH] is not None and "\\" not in info.ref[PATH]


for _method, _number in NUMBERS.items():
    _s = f"{_S}{_number}."
    _none = ("equals-ref-queue-path-name-null",) if _method == "create" else ("variable-queue-format-name-null",)
    _info(
        f"{_method}-succeeds-without-a-name", f"{_method.title()} of an object without any name succeeds.",
        (*(_s + each for each in _none), "MQAC-3.10.3.client-imsmq-queue-info4-path-name-format-name")
        if _method != "create"
        else (_s + _none[0], "MQAC-3.10.3.client-imsmq-queue-info4-path-name-create"),
        **_lenient(_method, _without_name),
    )  # fmt: skip
    _unread = "computer-name-queue-cannot" if _method == "create" else "error-status-hresult-return"
    _info(
        f"{_method}-succeeds-with-a-path-of-nothing", f"{_method.title()} with a path name of no queue succeeds.",
        (_s + _unread,), **_lenient(_method, _wrong_path),
    )  # fmt: skip
    if _method in SEVERAL:
        _info(
            f"{_method}-succeeds-with-several-names",
            f"{_method.title()} of several queues, HTTP or multicast succeeds.",
            (_s + SEVERAL[_method],), **_lenient(_method, _of_several),
        )  # fmt: skip
    if _method in MISSING:
        _info(
            f"{_method}-succeeds-without-a-queue", f"{_method.title()} of a queue that is not there succeeds.",
            (_s + MISSING[_method],), **_lenient(_method, _not_there),
        )  # fmt: skip
    if _method != "open":
        _info(
            f"{_method}-succeeds-elsewhere", f"{_method.title()} of a private queue of another computer succeeds.",
            (_s + _ANYWHERE,), **_lenient(_method, _elsewhere),
        )  # fmt: skip

_info(
    "create-hides-the-status-of-the-queue-manager", "Create succeeds where the queue manager refuses the properties.",
    (_S + "26.return-status-answer", _S + "26.status"),
    **_lenient("create", lambda info: info.ref["PROPID_Q_PRIV_LEVEL"] not in (0, 1, 2)),
)  # fmt: skip
_info(
    "open-hides-the-status-of-the-queue-manager", "Open succeeds where the queue is not there.",
    (_S + "28.returned-status-success", _S + "28.status"), **_lenient("open", _not_there),
)  # fmt: skip


@fault("update-refuses-a-private-queue", QueueInfoObject.update, _S + "30.private-queue-updated", _S + "30.return-s-ok")
def update_refuses_a_private_queue(plain, self):
    """Update of a private queue changes it and fails."""
    plain()
    if self.existing_queue().kind == "private":
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)


@fault(
    "path-name-dns-of-every-queue", QueueInfoObject.path_name_dns, _S + "31.return-hresult-error-after-dns-path-name",
    _S + "31.variable-queue-format-name-null", _S + "31.variable-queue-format-name-http-format",
    _S + "31.return-hresult-error-after-return-hresult-error", _S + "31.refresh-failure",
)  # fmt: skip
def path_name_dns_of_every_queue(plain, self):
    """PathNameDNS of a queue that is not public is its path name."""
    try:
        return plain()
    except MqError:
        return text(self.ref[PATH])


for _told in (True, False):
    _word = "true" if _told else "false"
    _info(
        f"world-readable-is-always-{_word}", f"IsWorldReadable and IsWorldReadable2 are {_told} for every queue.",
        (
            f"{_S}25.output-pis-world-readable-parameter-{str(not _told).lower()}",
            f"{_S}36.output-pis-world-readable-{str(not _told).lower()}-parameter",
        ),
        is_world_readable=lambda self, told=_told: short(int(told)),
        is_world_readable2=lambda self, told=_told: flag(told),
    )  # fmt: skip


# The object that Open gives.


def _opens(name: str, story: str, breaks: tuple[str, ...], change: Callable[[QueueObject], None]) -> None:
    def opened(self: Any, access: int, share: int) -> Variant:
        found = QueueInfoObject.open(self, access, share)
        change(found.value)
        return found

    _info(name, story, breaks, open=opened)


def _blanked(queue: QueueObject) -> None:
    queue.is_initialized = False


def _closed(queue: QueueObject) -> None:
    queue.is_closed = True


def _orphaned(queue: QueueObject) -> None:
    queue.info = None


def _read_on(queue: QueueObject) -> None:
    queue.check_cursor_read = lambda: None  # type: ignore[method-assign]


_opens(
    "open-gives-a-blank-object", "Open gives an object that was not initialized.",
    ("MQAC-3.11.3.variable-is-initialized-true", "MQAC-3.11.3.object-msmq-queue-msmq-queue-info",
     _S + "28.ppq-pointer-imsmq-queue4-server"), _blanked,
)  # fmt: skip
_opens(
    "open-gives-a-closed-object", "Open gives an object that is closed.",
    ("MQAC-3.11.3.variable-is-closed-false", _S + "28.ppq-pointer-imsmq-queue4-server"), _closed,
)  # fmt: skip
_opens(
    "open-forgets-who-opened", "QueueInfo of an opened queue is NULL.",
    ("MQAC-3.11.3.variable-msmq-queue-info-object", "MQAC-3.11.4.1.3.output-ppqinfo-msmq-queue-info-object"), _orphaned,
)  # fmt: skip


# Names.


@fault("format-name-refuses-this-computer", QueueNames.format_name, _NAMES + "current-computer-netbios-name")
def format_name_refuses_this_computer(plain, self, path):
    """A path name that begins with a point has no format name."""
    if path.startswith(".\\"):
        raise MqError(MQ_ERROR_ILLEGAL_QUEUE_PATHNAME)
    return plain(path)


@fault("format-name-drops-the-subqueue", QueueNames.format_name, _NAMES + "append-is-sub-queue-true")
def format_name_drops_the_subqueue(plain, self, path):
    """The format name of a subqueue is that of its queue."""
    return plain(path).partition(";")[0]


@fault(
    "format-name-of-every-path", QueueNames.format_name, _NAMES + "cannot-pathname-hresult-parsed",
    _NAMES + "empty-computer-hresult-return",
)  # fmt: skip
def format_name_of_every_path(plain, self, path):
    """A path name without computer or queue has a format name."""
    try:
        return plain(path)
    except MqError:
        if "\\" in path and not path.startswith("\\"):
            raise
        return f"DIRECT=OS:{self.manager.computer}\\private$\\q"


@fault(
    "private-format-name-has-another-number", QueueNames.private_name,
    _NAMES + "replaced-queue-format-m-qpt-queue-format-type-private",
)  # fmt: skip
def private_format_name_has_another_number(plain, self, queue):
    """A private format name has the number of another queue."""
    return f"PRIVATE={self.manager.guid}\\{queue.number + 0x10:x}"


@fault(
    "public-format-name-has-braces", QueueNames.format_name,
    _NAMES + "replaced-queue-format-m-qpt-queue-format-type-public",
)  # fmt: skip
def public_format_name_has_braces(plain, self, path):
    """The GUID of a public format name stands in braces."""
    found = plain(path)
    return found.replace("PUBLIC=", "PUBLIC={") + "}" if found.startswith("PUBLIC=") else found


@fault("public-name-of-any-length", QueueNames.too_long, _NAMES + "path-pathname-queue-queue-name")
def public_name_of_any_length(plain, self, queue):
    """A public queue with a name of more than 63 characters has a format name."""
    return False


def _by_path(self: Any) -> str:
    if self.ref[PATH] is not None:
        self.format_name = None
    return QueueInfoObject.update_format_name(self)


@fault(
    "no-name-is-some-queue", QueueInfoObject.update_format_name, _NAMES + "return-ref-queue-pathname-null",
    _S + "28.error-status-hresult-return",
)  # fmt: skip
def no_name_is_some_queue(plain, self):
    """An object without any name stands for a queue."""
    if self.format_name is None and self.ref[PATH] is None:
        return f"DIRECT=OS:{self.manager.computer}\\private$\\q"
    return plain()
