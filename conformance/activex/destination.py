"""MSMQDestination: its three names, its handle, and what an answer has to be (MC-MQAC 3.12)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from conformance.activex.expected import Invoke, Seen
from conformance.activex.queue_store import QueueKind
from conformance.activex.services import DESTINATION, SERVICES, Computer, Handle, Names, cell
from conformance.activex.step import ANY_FAILURE, Choice, Option, Shape, one
from conformance.activex.values import E_NOTIMPL, S_OK, Variant, hollow, text, truth

S_FALSE: Final = 1
FAILED_NAME: Final = "R-MQAC-destination-failed-name"
CONVERSION: Final = "R-MQAC-path-name-conversion"
_NO_HANDLE: Final = frozenset({0, -1, 2**64 - 1})
_NULL: Final = Shape(Variant("BSTR"), hollow, "any form of NULL")


def named(member: str, *columns: str) -> Names:
    """Return the requirements of some columns of a form of a member, such as `Open.method`."""
    return cell(DESTINATION, member, *columns)


_CLOSED: Final = named("Initialization.new", "closed")


@dataclass(frozen=True, slots=True)
class Name:
    """One of the names. value: None for NULL. older: what it was before a put that failed. because: what it shows."""

    value: str | None = None
    older: tuple[str | None, ...] = ()
    because: Names = ()


_NEW: Final = {word: Name(because=named("Initialization.new", word)) for word in ("path", "directory", "format")}


@dataclass(frozen=True, slots=True)
class Destination:
    """An MSMQDestination. handle: what it is open for. number: its Handle, once it was shown. told: True once a success
    other than S_OK was seen, which some drivers cannot; doubted: what a plain S_OK in its place would break then.
    derived: the path name that the format name came from. untold: nothing tells the format name any more.
    """

    path: Name = _NEW["path"]
    directory: Name = _NEW["directory"]
    format: Name = _NEW["format"]
    handle: Handle | None = None
    number: int | None = None
    because: Names = _CLOSED
    reopened: Names = ()
    told: bool = False
    doubted: Names = ()
    derived: str | None = None
    untold: bool = False


def demands(world: Computer, its: Destination, call: Invoke, numbers: dict[int, Handle]) -> Iterator[Choice]:
    """Yield what an answer has to be. numbers: handles that were shown, with what they stand for."""
    form = f"{call.member}.{call.kind}"
    if SERVICES[DESTINATION][call.member].unimplemented:
        yield one(named(form, "unimplemented"), E_NOTIMPL)
    elif call.member in ("Open", "Close"):
        yield from _opening(world, its, call.member)
    elif call.kind == "get":
        yield from _get(world, its, call.member)
    elif call.member == "Handle":
        yield from _put_handle(call, numbers)
    elif call.member == "FormatName":
        yield one(named(form, "success"))
    elif call.member == "ADsPath":
        yield _directed(world, str(call.arguments[0].value or ""))
    elif world.directory is not None and world.target(str(call.arguments[0].value or ""), None).kind is QueueKind.OTHER:
        yield _public(world, str(call.arguments[0].value or ""))
    else:
        kind = world.target(str(call.arguments[0].value or ""), None).kind
        parent = world.target(str(call.arguments[0].value), None).key
        if _converts(world, call) is True or (kind is QueueKind.SUBQUEUE and parent in world.queues):
            yield one(named(form, "success"))
        elif kind is QueueKind.UNPARSED or kind is QueueKind.NO_COMPUTER:
            yield one((*named(form, "fails"), *named("PublicName.put", "illegal")), ANY_FAILURE)


def _directed(world: Computer, path: str) -> Choice:
    """Return what a put of a directory path answers."""
    form, event = "ADsPath.put", "DirectoryPath.put"
    sort, _ = _entry(world, path)
    if sort is None:
        absent = named(event, "absent") if world.directory is not None else ()
        return one((*named(form, "fails"), *absent), ANY_FAILURE)
    shown = {"queue": "queue", "alias": "alias", "distribution_list": "list"}[sort]
    return one((*named(event, shown), *named(form, "success")))


def _entry(world: Computer, path: str) -> tuple[str | None, str]:
    """Return the sort of a directory object and the format name that it stands for; None if the directory lacks it."""
    if world.directory is None:
        return None, ""
    return world.directory.ads.get(path, (None, ""))


def _public(world: Computer, path: str) -> Choice:
    """Return what a put of the path name of a public queue answers."""
    form, event = "PathName.put", "PublicName.put"
    if _found_public(world, path) is None:
        return one((*named(form, "fails"), *named(event, "absent")), ANY_FAILURE)
    return one(named(form, "success"))


def _found_public(world: Computer, path: str) -> str | None:
    return None if world.directory is None else world.directory.paths.get(path.casefold())


def _opening(world: Computer, its: Destination, member: str) -> Iterator[Choice]:
    form = f"{member}.method"
    if member == "Open" and its.handle is not None:
        yield _other_success(its, named(form, "open"))
    elif member == "Close" and its.handle is None:
        yield _other_success(its, named(form, "closed"))
    elif member == "Open" and not its.untold:
        if world.opens(None, its.format.value) is not None:
            yield one(named(form, "success"))
        elif its.format.value is None or world.target(None, its.format.value).kind in (
            QueueKind.HERE,
            QueueKind.UNPARSED,
        ):
            yield one(named(form, "fails"), ANY_FAILURE)
    elif member == "Close":
        yield one(named(form, "success"))


def _other_success(its: Destination, names: Names) -> Choice:
    if its.told:
        return (Option((*names, *its.doubted), S_FALSE),)
    return (Option((*names, *its.doubted), S_FALSE), Option((), S_OK))


def _get(world: Computer, its: Destination, member: str) -> Iterator[Choice]:
    form = f"{member}.get"
    if member == "IsOpen":
        is_open = its.handle is not None
        yield one(named(form, "success"))
        shown = named(form, "gives:true" if is_open else "gives:false")
        yield one((*its.reopened, *shown, *its.because), S_OK, truth(is_open))
    elif member == "Handle":
        if its.handle is not None:
            yield one(named(form, "success"))
            shape = Shape(Variant("I8", its.number or 7), lambda shown: _numbers(its, shown), _text(its))
            yield one((*its.doubted, *named(form, "gives")), S_OK, shape)
    elif member == "FormatName":
        yield one(named(form, "success"))
        if not its.untold:
            yield from _format_name(world, its)
    else:
        name = its.path if member == "PathName" else its.directory
        yield one(named(form, "success"))
        yield _format_name_choice(form, name)


def _text(its: Destination) -> str:
    return "a handle as VT_I8" if its.number is None else f"the handle {its.number} as VT_I8"


def _numbers(its: Destination, shown: Variant) -> bool:
    if shown.vt != "I8" or shown.value in _NO_HANDLE:
        return False
    return its.number is None or shown.value == its.number


def _format_name_choice(form: str, name: Name) -> Choice:
    options = [_as(form, name.value, name.because, "stale" if name.older else "")]
    options += [_as(form, older, name.because, "unchanged") for older in name.older]
    return tuple(options)


def _as(form: str, value: str | None, because: Names, word: str) -> Option:
    readings = ((FAILED_NAME, word),) if word else ()
    if value is not None:
        return Option((*named(form, "gives"), *because), S_OK, text(value), readings)
    if form == "PathName.get":
        return Option((*named(form, "gives:null"), *because), S_OK, text(""), readings)
    return Option((*named(form, "gives"), *because), S_OK, _NULL, readings)


def _format_name(world: Computer, its: Destination) -> Iterator[Choice]:
    names = (*named("FormatName.get", "gives"), *its.format.because)
    if its.derived is None:
        yield one(names, S_OK, _NULL if its.format.value is None else _same_name(its.format.value))
        return
    before = world.converted.get(its.derived.casefold())
    if before is not None:
        yield one(names, S_OK, text(before))
        return
    path, _, subqueue = its.derived.partition(";")
    if subqueue:
        names = (*names, *named("PublicName.put", "subqueue"))
        shape = Shape(
            text(f"DIRECT=OS:{its.derived}"),
            lambda shown: str(shown.value or "").casefold().endswith(f";{subqueue}".casefold()),
            f"a format name with the subqueue {subqueue}",
        )
        yield one(names, S_OK, shape)
        return
    key = world.target(path, None).key
    sample = text(f"PRIVATE={world.manager}\\1")
    private = Shape(sample, lambda shown: world.names_private(str(shown.value or ""), key), "its private format name")
    direct = Shape(
        text(f"DIRECT=OS:{path}"),
        lambda shown: str(shown.value or "").casefold() == f"direct=os:{path}".casefold(),
        "its direct format name",
    )
    yield (
        Option((*names, *named("PublicName.put", "private")), S_OK, private, ((CONVERSION, "private"),)),
        Option((*names, *named("PublicName.put", "direct")), S_OK, direct, ((CONVERSION, "direct"),)),
    )


def _same_name(name: str) -> Variant | Shape:
    """Return a format name; one with a GUID may have it in small or capital letters."""
    if not name.upper().startswith(("PUBLIC=", "DL=")):
        return text(name)
    return Shape(text(name), lambda shown: str(shown.value or "").casefold() == name.casefold(), name)


def _put_handle(call: Invoke, numbers: dict[int, Handle]) -> Iterator[Choice]:
    value = call.arguments[0].value
    column = "null" if value in _NO_HANDLE else "known" if value in numbers else "success"
    yield one(named("Handle.put", "success", *(() if column == "success" else (column,))))


def _converts(world: Computer, call: Invoke) -> bool | None:
    """Tell whether a path name becomes a format name; None where the text leaves it open."""
    target = world.target(str(call.arguments[0].value or ""), None)
    if target.kind is QueueKind.HERE and not target.public and target.key in world.queues:
        return True
    return False if target.kind in (QueueKind.UNPARSED, QueueKind.NO_COMPUTER) else None


def after(
    world: Computer, its: Destination, name: str, call: Invoke, seen: Seen, numbers: dict[int, Handle]
) -> tuple[Computer, Destination]:
    """Return the world and the destination as a call has left them."""
    if call.member in ("Open", "Close"):
        if call.member == "Close" and seen.status == S_OK and its.number is not None:
            numbers.pop(its.number, None)  # the descriptor is closed for whoever holds its handle
        return _moved(world, its, name, call.member, seen)
    if call.kind == "get":
        if call.member == "FormatName" and its.derived and seen.status == S_OK and seen.value is not None:
            world = world.with_converted(its.derived, str(seen.value.value or ""))
        return world, _looked(world, its, call.member, seen, numbers)
    if call.member == "Handle" and seen.status == S_OK:
        return _with_handle(world, its, name, call, numbers)
    if call.kind == "put" and call.member in ("FormatName", "PathName", "ADsPath"):
        if seen.status == S_OK and its.number is not None:
            numbers.pop(its.number, None)
        return _named(world, its, name, call, seen)
    return world, its


def _moved(world: Computer, its: Destination, name: str, member: str, seen: Seen) -> tuple[Computer, Destination]:
    form = f"{member}.method"
    if (member == "Open" and its.handle is not None) or (member == "Close" and its.handle is None):
        if seen.status == S_FALSE:
            return world, replace(its, told=True, doubted=())
        if seen.status == S_OK and not its.told:
            return world, replace(its, doubted=(*its.doubted, *named(form, "open" if member == "Open" else "closed")))
        return world, its
    if seen.status != S_OK:
        return world, its
    if member == "Close":
        closed = replace(its, handle=None, number=None, because=named(form, "closes"), reopened=())
        return world.without_opened(name), closed
    handle = world.opens(None, its.format.value)
    if handle is None:
        return world, its
    return world.with_opened(name, handle), replace(its, handle=handle, number=None, because=named(form, "opens"))


def _looked(world: Computer, its: Destination, member: str, seen: Seen, numbers: dict[int, Handle]) -> Destination:
    if member == "Handle" and its.handle is not None and seen.value is not None and seen.status == S_OK:
        number = seen.value.value
        if isinstance(number, int) and number not in _NO_HANDLE:
            numbers[number] = its.handle
            return replace(its, number=number)
    return its


def _with_handle(
    world: Computer, its: Destination, name: str, call: Invoke, numbers: dict[int, Handle]
) -> tuple[Computer, Destination]:
    form, value = "Handle.put", call.arguments[0].value
    handle = None if value in _NO_HANDLE else numbers.get(value)
    columns = ("opens", "known") if handle is not None else ("null",)
    its = replace(
        its,
        path=Name(because=named(form, "resets:path")),
        directory=Name(because=named(form, "resets:directory")),
        handle=handle,
        number=value if handle is not None else None,
        because=named(form, *columns),
        reopened=named(form, "opens") if handle is not None else (),
        untold=True,
    )
    world = world.without_opened(name)
    return (world if handle is None else world.with_opened(name, handle)), its


def _named(world: Computer, its: Destination, name: str, call: Invoke, seen: Seen) -> tuple[Computer, Destination]:
    form, value = f"{call.member}.put", str(call.arguments[0].value or "")
    if seen.status != S_OK:
        if call.member == "FormatName":
            return world, its
        kept = its.path if call.member == "PathName" else its.directory
        older = (kept.value,) if kept.value != value else ()
        stale = Name(value, older, named(form, "kept"))
        if call.member == "PathName":
            return world, replace(its, path=stale)
        return world, replace(its, directory=stale)
    if call.member == "FormatName":
        its = replace(
            its,
            format=Name(value, because=named(form, "kept")),
            path=Name(because=named(form, "resets:path")),
            directory=Name(because=named(form, "resets:directory")),
            derived=None,
            untold=False,
        )
    elif call.member == "PathName":
        target = world.target(value, None)
        there = target.kind in (QueueKind.HERE, QueueKind.SUBQUEUE) and target.key in world.queues
        public = _found_public(world, value) if target.kind is QueueKind.OTHER else None
        because = (*named(form, "named"), *(named("PublicName.put", "found") if public is not None else ()))
        its = replace(
            its,
            path=Name(value, because=named(form, "kept")),
            directory=Name(because=named(form, "resets")),
            format=Name(public or f"DIRECT=OS:{value}", because=because),
            derived=value if there else None,
            untold=not there and public is None,
        )
    else:
        sort, found = _entry(world, value)
        shown = {"queue": "queue", "alias": "alias", "distribution_list": "list"}.get(sort or "")
        its = replace(
            its,
            directory=Name(value, because=named(form, "kept")),
            path=Name(because=named(form, "resets")),
            format=Name(found, because=(*named(form, "named"), *(named("DirectoryPath.put", shown) if shown else ()))),
            derived=None,
            untold=sort is None,
        )
    if its.handle is None:
        return world, its
    handle = None if its.untold else world.opens(None, its.format.value)
    reopens = named(form, "reopens")
    world = replace(world.without_opened(name), because=reopens)
    its = replace(its, handle=handle, number=None, because=reopens, reopened=reopens)
    return (world if handle is None else world.with_opened(name, handle)), its
