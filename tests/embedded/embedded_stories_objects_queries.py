"""Stories of the directory: queries and what they find, and names and computers that it has (MC-MQAC 3.12 to 3.14)."""

from __future__ import annotations

from itertools import product
from typing import Any

from embedded_objects import LEFT_OUT, flag, long, text, thing
from embedded_stories import of
from embedded_stories_objects import Told
from embedded_talk import Talk

GUIDS = [f"909ea0fc-9078-4445-8f11-394c43cd890{digit}" for digit in range(6)]
KIND = "7a1f3c52-0b6e-4d6f-9a57-6f5b2f3f9a10"
DAY = 86_400
MIDDLE = 1_700_000_000
DIRECTORY: dict[str, Any] = {
    "objects": [
        {
            "guid": GUIDS[at],
            "path_name": f"OTHER\\q{at}",
            "path_name_dns": f"other.example\\q{at}",
            "directory_path": f"LDAP://CN=q{at}",
            "label": label,
            "service_type": KIND[:-1] + digit,
            "create_time": MIDDLE + days * DAY,
            "modify_time": MIDDLE - days * DAY,
            "multicast_address": address,
            "base_priority": days,
            "journaling": days > 0,
            "privacy_level": 2,
        }
        for at, (label, digit, days, address) in enumerate(
            [("a", "0", -1, None), ("b", "1", 0, "234.1.1.2:80"), ("c", "2", 1, "234.1.1.3:80")]
        )
    ]
    + [
        {"class": "alias", "guid": GUIDS[4], "directory_path": "LDAP://CN=alias", "format_name": "DIRECT=OS:OTHER\\x"},
        {"class": "distribution_list", "guid": GUIDS[5], "directory_path": "LDAP://CN=list"},
    ],
    "computers": [{"name": "OTHER", "guid": KIND}],
    "server": "DC1",
}
OPERANDS: tuple[Any, ...] = (
    text(f"{{{GUIDS[1]}}}"), text(f"{{{KIND[:-1]}1}}"), text("B"), {"vt": "DATE", "value": repr(25569 + MIDDLE / DAY)},
    {"vt": "R8", "value": repr(25569 + MIDDLE / DAY)}, None, None, None, None, text("234.1.1.2:80"), None,
)  # fmt: skip
"""Arguments of LookupQueue that the middle one of three queues matches; None for an operator."""
OPERATOR_OF = {1: 5, 2: 6, 3: 7, 4: 8, 9: 10}
NO_OPERANDS: tuple[Any, ...] = (text("x"), text(GUIDS[1]), text(None), long(7), {"vt": "NULL"}, LEFT_OUT)
GETTERS = (
    "PathName", "FormatName", "QueueGuid", "ServiceTypeGuid", "Label", "CreateTime", "ModifyTime", "BasePriority",
    "Journal", "PrivLevel", "MulticastAddress", "ADsPath", "PathNameDNS",
)  # fmt: skip


def _listed(tell: Told, found: Any, getters: tuple[str, ...] = ("FormatName",)) -> None:
    for _ in range(6):
        info = tell(found, "Next") if isinstance(found, str) else None
        if isinstance(info, str):
            for getter in getters:
                tell(info, getter, kind="get")


@of("objects")
def queries(talk: Talk) -> list[Any]:
    tell = Told(talk)
    tell.seen.append(talk("directory", **DIRECTORY))
    tell.objects.info("HOST\\own")
    query = tell.objects.make("MSMQQuery")
    tell(query, "Properties", kind="get")
    for member, count in (("LookupQueue_v2", 9), ("LookupQueue", 11)):
        found = tell(query, member)
        _listed(tell, found, GETTERS)
        tell(found, "Reset")
        tell(found, "Properties", kind="get")
        _listed(tell, found)
        for at, relation in [(0, None), *OPERATOR_OF.items()]:
            if at >= count:
                continue
            relations = [None] if relation is None else [None, *map(long, range(8)), text("x")]
            for given, asked in product((OPERANDS[at], *NO_OPERANDS), relations):
                arguments = [LEFT_OUT] * count
                arguments[at] = given
                if relation is not None and asked is not None:
                    arguments[relation] = asked
                if given == OPERANDS[at] or asked in (None, long(0)):
                    _listed(tell, tell(query, member, *arguments))
    _listed(tell, tell(query, "LookupQueue", *[LEFT_OUT] * 9, text("")))
    for member in ("Reset", "Next"):
        tell(tell.objects.make("MSMQQueueInfos"), member)
    return tell.seen


@of("objects")
def names_in_the_directory(talk: Talk) -> list[Any]:
    tell = Told(talk)
    tell.seen.append(talk("directory", **DIRECTORY))
    own = tell.objects.info("HOST\\own")
    tell(own, "Refresh")
    paths = ["LDAP://CN=q0", "LDAP://CN=alias", "LDAP://CN=list", "LDAP://CN=none", tell(own, "ADsPath", kind="get")]
    for member, given in [("ADsPath", path) for path in paths] + [
        ("PathName", "OTHER\\q0"), ("PathName", "other.example\\q1"), ("PathName", "OTHER\\none"),
    ]:  # fmt: skip
        destination = tell.objects.make("MSMQDestination")
        tell(destination, member, text(given), kind="put")
        for getter in ("FormatName", "PathName", "ADsPath"):
            tell(destination, getter, kind="get")
        tell(destination, "Open")
        tell(destination, "IsOpen", kind="get")
    application = tell.objects.make("MSMQApplication")
    for getter in ("IsDsEnabled", "DirectoryServiceServer"):
        tell(application, getter, kind="get")
    for name in ("other", "OTHER", "none", None):
        tell(application, "MachineIdOfMachineName", text(name))
    for guid in (KIND, f"{{{KIND}}}", GUIDS[0]):
        tell(application, "MachineNameOfMachineId", text(guid))
    info = tell.objects.make("MSMQQueueInfo")
    for guid in (GUIDS[1], GUIDS[3]):
        tell(info, "FormatName", text(f"PUBLIC={guid}"), kind="put")
        tell(info, "Refresh")
        for getter in GETTERS:
            tell(info, getter, kind="get")
        sender = tell(info, "Open", long(2), long(0))
        if isinstance(sender, str):
            tell(tell.objects.message("m"), "Send", thing(sender), flag(False))
    talk.ok("reset")
    tell(tell.objects.make("MSMQApplication"), "IsDsEnabled", kind="get")
    _listed(tell, tell(tell.objects.make("MSMQQuery"), "LookupQueue"))
    return tell.seen


@of("objects")
def destinations_named_anew(talk: Talk) -> list[Any]:
    tell = Told(talk)
    talk.ok("directory", **DIRECTORY)
    for name in "qtu":
        tell.objects.info(f"HOST\\private$\\{name}")
    tell.objects.info("HOST\\own")
    application = tell.objects.make("MSMQApplication")
    names = (
        ("PathName", "HOST\\private$\\t"),
        ("FormatName", "DIRECT=OS:HOST\\private$\\u"),
        ("ADsPath", "LDAP://CN=q0"),
    )
    for member, given in names:
        destination = tell.objects.make("MSMQDestination")
        tell(destination, "PathName", text("HOST\\private$\\q"), kind="put")
        tell(destination, "Open")
        handle = tell(destination, "Handle", kind="get")
        tell(destination, member, text(given), kind="put")
        tell(application, "ActiveQueues")
        for again in ({"vt": "I8", "value": str(handle)}, {"vt": "I8", "value": "0"}):
            tell(destination, "Handle", again, kind="put")
            for getter in ("PathName", "ADsPath", "FormatName", "IsOpen"):
                tell(destination, getter, kind="get")
        tell.seen.append(
            talk("objects.query", object=destination, iid="eba96b17-2168-11d3-898c-00e02c074f6b")["status"]
        )
    return tell.seen


def queries_read_otherwise(talk: Talk) -> list[Any]:
    tell = Told(talk)
    talk("directory", **DIRECTORY)
    _listed(tell, tell(tell.objects.make("MSMQQuery"), "LookupQueue"))
    return tell.seen


@of("objects")
def queues_of_the_directory_change(talk: Talk) -> list[Any]:
    tell = Told(talk)
    talk("directory", **DIRECTORY)
    infos = [tell.objects.make("MSMQQueueInfo") for _ in range(3)]
    for info, guid in zip(infos, (GUIDS[1], GUIDS[1], GUIDS[2]), strict=True):
        tell(info, "FormatName", text(f"PUBLIC={guid}"), kind="put")
    for info, member in zip(infos, ("PathNameDNS", "ADsPath", "Label"), strict=True):
        tell(info, member, kind="get")
    tell(infos[2], "Label", text("other"), kind="put")
    tell(infos[2], "Update")
    changed = [{**each, "label": "new"} for each in DIRECTORY["objects"]]
    for objects in (None, changed):
        if objects is not None:
            talk("directory", **{**DIRECTORY, "objects": objects})
        fresh = [tell.objects.make("MSMQQueueInfo") for _ in range(3)]
        for info, guid in zip(fresh, GUIDS, strict=False):
            tell(info, "FormatName", text(f"PUBLIC={guid}"), kind="put")
        for info in (*(infos if objects else infos[2:]), *fresh):
            tell(info, "Label", kind="get")
    return tell.seen
