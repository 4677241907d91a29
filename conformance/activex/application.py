"""MSMQApplication for this computer, and for another name (MC-MQAC 3.2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from conformance.activex.expected import Invoke, Seen
from conformance.activex.management import Report
from conformance.activex.services import ANOTHER, APPLICATION, FLAGS, SERVICES, Computer, Names, cell
from conformance.activex.step import ANY_FAILURE, Choice, Option, Shape, one
from conformance.activex.values import E_NOTIMPL, INTEGERS, MISSING, S_OK, Variant, short, text, truth
from conformance.spec.constants.properties import PROPERTIES

OWN_ENTRY: Final = "R-MQAC-directory-of-this-computer"
IF_NOT_EXIST: Final = 2
_DSSERVER, _CONNECTED, _BYTES = (
    PROPERTIES[f"PROPID_MGMT_MSMQ_{n}"].value for n in ("DSSERVER", "CONNECTED", "BYTES_IN_ALL_QUEUES")
)
ASKED: Final = (_DSSERVER, _CONNECTED, _BYTES)
"""The properties of the machine that a plan asks the queue manager for."""
_VERSIONS: Final = {
    "MSMQVersionMajor": {"2": 2, "3": 3, "4": 4},
    "MSMQVersionMinor": {"2": 0, "3": 0, "4": 1},
    "MSMQVersionBuild": dict[str, int](),
}
"""Member to the first digit of a profile and its number (product notes 13 and 14); builds may be any."""
_LISTS: Final = {"ActiveQueues": "method", "PrivateQueues": "get"}


@dataclass(frozen=True, slots=True)
class Application:
    """An MSMQApplication. machine: what was put, None before that."""

    machine: str | None = None


@dataclass(frozen=True, slots=True)
class Before:
    """The state before the plan made queues: entries of a list by member, and bytes."""

    lists: tuple[tuple[str, tuple[str, ...]], ...] = ()
    size: int | None = None


def named(member: str, *columns: str) -> Names:
    """Return the requirements of some columns of a form of a member."""
    return cell(APPLICATION, member, *columns)


def demands(
    world: Computer, its: Application, before: Before, profile: str, call: Invoke, report: Report | None
) -> Iterator[Choice]:
    """Yield what an answer has to be. profile: the MSMQ version that the implementation declares.

    report: what the queue manager said of itself.
    """
    form = f"{call.member}.{call.kind}"
    elsewhere = its.machine is not None
    if SERVICES[APPLICATION][call.member].unimplemented:
        yield one(named(form, "unimplemented"), E_NOTIMPL)
    elif call.member == "Machine":
        yield one(named(form, "success"))
        if call.kind == "get":
            local = (*named(form, "gives", "local"), *named("Initialization.new", "local"))
            kept = (*named(form, "gives", "named"), *named("Machine.put", "kept"))
            yield one(kept if elsewhere else local, S_OK, text(its.machine or world.computer))
    elif ANOTHER in SERVICES[APPLICATION][call.member].checks and elsewhere:
        yield one(named(form, "check:computer"), ANY_FAILURE)
        yield one(named(form, "code:computer"), int(ANOTHER.status or 0))
    elif call.member == "RegisterCertificate":
        yield from _register(its, call)
    elif call.member in ("MachineIdOfMachineName", "MachineNameOfMachineId"):
        yield from _directory(world, call)
    elif elsewhere:
        if str(its.machine).casefold() != world.computer.casefold():
            yield one(named(form, "remote"), ANY_FAILURE)
        elif call.member != "DirectoryServiceServer" or (world.directory is not None and world.directory.server):
            yield one((*named(form, "asked"), *named(form, "success")))
    else:
        yield from _here(world, before, profile, call, {} if report is None or isinstance(report, int) else report)


def _register(its: Application, call: Invoke) -> Iterator[Choice]:
    form = "RegisterCertificate.method"
    if its.machine is not None:
        yield one(named(form, "check:computer"), ANY_FAILURE)
        yield one(named(form, "code:computer"), E_NOTIMPL)
    elif call.arguments[0].value == IF_NOT_EXIST and call.arguments[1] != MISSING:
        yield one(named(form, "check:flags"), ANY_FAILURE)
        yield one(named(form, "code:flags"), int(FLAGS.status or 0))


def _directory(world: Computer, call: Invoke) -> Iterator[Choice]:
    """Yield the demands on a look at the directory. Without one, a queue manager may still know itself, or fail.

    A plan that gives no directory does not tell whether the implementation has one.
    """
    form = f"{call.member}.method"
    asked = str(call.arguments[0].value or "")
    if call.member == "MachineIdOfMachineName":
        here = call.arguments[0].value is None or asked.casefold() == world.computer.casefold()
        wide = named(form, "null") if call.arguments[0].value is None else ()
        value: Variant | Shape = Shape(
            text(world.manager),
            lambda shown: str(shown.value or "").casefold() == world.manager.casefold(),
            "the identifier of the queue manager, without braces",
        )
        names = (*named(form, "success", "gives", "bare", "grammar"), *wide)
    else:
        here = asked.strip("{}").casefold() == world.manager.casefold()
        value = Shape(
            text(world.computer),
            lambda shown: str(shown.value or "").casefold() == world.computer.casefold(),
            "the name of the computer",
        )
        names = named(form, "success", "gives", "accepts")
    other = _of_directory(world, call.member, asked)
    if here and world.directory is not None:
        yield one(names, S_OK, value)
    elif here:
        own = Option(names, S_OK, value, ((OWN_ENTRY, "known"),))
        yield (own, Option(named(form, "fails"), ANY_FAILURE, readings=((OWN_ENTRY, "asked"),)))
    elif other is not None:
        told = Shape(text(other), lambda shown: str(shown.value or "").casefold() == other.casefold(), other)
        yield one(names, S_OK, told)
    else:
        yield one(named(form, "fails"), ANY_FAILURE)


def _of_directory(world: Computer, member: str, asked: str) -> str | None:
    """Return what the directory has for another computer: its identifier by its name, or its name by that."""
    computers = {} if world.directory is None else world.directory.computers
    if member == "MachineIdOfMachineName":
        return next((guid for name, guid in computers.items() if name.casefold() == asked.casefold()), None)
    return next((name for name, guid in computers.items() if guid == asked.strip("{}").casefold()), None)


def _here(world: Computer, before: Before, profile: str, call: Invoke, report: Mapping[int, Any]) -> Iterator[Choice]:
    form = f"{call.member}.{call.kind}"
    if call.member == "DirectoryServiceServer":
        if world.directory is not None and world.directory.server is not None:
            names = named(form, "success", "gives", "grammar")
            yield one(names, S_OK, text(f"\\\\{world.directory.server}"))
        return
    yield one(named(form, "success"))
    if call.member in _VERSIONS:
        exact = _VERSIONS[call.member].get(profile.removeprefix("msmq-")[:1])
        low, high = 0, INTEGERS["I2"][1]
        any_number = Shape(short(1), lambda shown: shown.vt == "I2" and low <= shown.value <= high, "a number")
        yield one(named(form, "gives"), S_OK, any_number if exact is None else short(exact))
    elif call.member == "IsDsEnabled":
        if _DSSERVER in report:
            enabled = bool(report[_DSSERVER])
            yield one(named(form, "gives", "gives:true" if enabled else "gives:false"), S_OK, truth(enabled))
    elif call.member == "IsConnected":
        if _CONNECTED in report:
            yield one(named(form, "gives"), S_OK, truth(report[_CONNECTED] == "CONNECTED"))
        because = () if world.online else named("Disconnect.method", "does")
        column = "gives:true" if world.online else "gives:false"
        yield one((*named(form, "gives", column), *because, *_connected(world)), S_OK, truth(world.online))
    elif call.member in _LISTS:
        entries = dict(before.lists).get(call.member)
        if entries is not None:
            because = world.because if call.member == "ActiveQueues" else ()
            yield one((*because, *named(form, "gives")), S_OK, _list(world, call.member, entries))
        else:
            yield one((), S_OK, Shape(Variant("ARRAY", (), "BSTR"), lambda shown: shown.of == "BSTR", "texts"))
    elif call.member == "BytesInAllQueues":
        if _BYTES in report:
            yield one(named(form, "gives"), S_OK, Variant("I8", int(report[_BYTES])))
        yield from _bytes(world, before)


def _connected(world: Computer) -> Names:
    return named("Connect.method", "does") if world.online else ()


def _list(world: Computer, member: str, entries: tuple[str, ...]) -> Shape:
    """Return the list that has what it had before, and each of the plan's queues once."""
    keys = [key for key in world.queues if member == "PrivateQueues" or world.is_open(key)]
    away = [one.name for one in world.outgoing.values() if world.is_active(one.name)]
    private = member == "PrivateQueues"

    def holds(shown: Variant) -> bool:
        if shown.vt != "ARRAY" or shown.of != "BSTR":
            return False
        rest = [str(one.value or "") for one in shown.value]
        for entry in entries:
            if entry not in rest:
                return False
            rest.remove(entry)
        for key in keys:
            found = [one for one in rest if _is(world, one, key, private)]
            if len(found) != 1:
                return False
            rest.remove(found[0])
        if private:
            return not rest
        return all(any(one.casefold() == name.casefold() for name in away) for one in rest)

    names = [world.queues[key].path for key in keys]
    sample = [text(name if private else f"DIRECT=OS:{name}") for name in names]
    sample += [] if private else [text(name) for name in away]
    said = "what was there before, and " + (", ".join(names) or "no queue")
    return Shape(Variant("ARRAY", (*map(text, entries), *sample), "BSTR"), holds, said)


def _is(world: Computer, shown: str, key: str, private: bool) -> bool:
    target = world.target(shown, None) if private else world.target(None, shown)
    return (
        target.key == key
        or (not private and world.formats.get(shown.casefold()) == key)
        or (not private and world.names_private(shown, key) and shown.casefold() not in world.formats)
    )


def _bytes(world: Computer, before: Before) -> Iterator[Choice]:
    names = named("BytesInAllQueues.get", "gives")
    messages = sum(queue.messages + queue.journaled for queue in world.queues.values())
    unit = world.units.get("here")
    if before.size is None:
        shape = Shape(Variant("I8", 0), lambda shown: shown.vt == "I8" and int(shown.value) >= 0, "a size as VT_I8")
        yield one(names, S_OK, shape)
    elif unit is not None and not any(one.messages for one in world.outgoing.values()):
        yield one(names, S_OK, Variant("I8", before.size + messages * unit))


def after(
    world: Computer, its: Application, before: Before, call: Invoke, seen: Seen
) -> tuple[Computer, Application, Before]:
    """Return world, object and what was there before, as a call has left them."""
    if call.member == "Machine" and call.kind == "put" and seen.status == S_OK:
        return world, replace(its, machine=str(call.arguments[0].value or "")), before
    here = its.machine is None or its.machine.casefold() == world.computer.casefold()
    if here and call.member in ("Connect", "Disconnect") and seen.status == S_OK:
        return replace(world, online=call.member == "Connect"), its, before
    if its.machine is not None or seen.status != S_OK:
        return world, its, before
    if call.member in _LISTS and not world.queues and not world.outgoing and seen.value is not None:
        entries = tuple(str(one.value or "") for one in seen.value.value or ())
        lists = dict(before.lists)
        return world, its, replace(before, lists=tuple({call.member: entries, **lists}.items()))
    if call.member == "BytesInAllQueues" and before.size is None and seen.value is not None and not world.queues:
        return world, its, replace(before, size=int(seen.value.value or 0))
    return world, its, before
