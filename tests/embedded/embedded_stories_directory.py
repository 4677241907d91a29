"""Stories of a manager with a directory: what it asks, what it answers, and what it holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from embedded_stories import Teller, of, started_again
from embedded_talk import Talk

from conformance.adapter.directory_server import DirectoryServer
from conformance.embedded.directory_properties import TABLE

GUIDS = [f"{digit}b6e4d6f-7a1f-4c3b-9a57-6f5b2f3f9a10" for digit in "0123456789ab"]
NORTH, SOUTH, GATE, OTHER_GATE, THIRD_GATE, ALICE, FAR, HERE, INNER, OUTER, LINK, NOBODY = GUIDS
HOST = "db0760c6-b874-5485-9d0b-bf112870b534"
KEY, CERTIFICATE, DIGEST = "AAECAw==", "BAUG", "AAECAwQFBgcICQoLDA0ODw=="
MINUTE, HOUR = 60_000, 3_600_000
OWN = {"class": "queue_manager", "identifier": HOST, "computer_name": "HOST", "public_encryption_key_list": KEY}
OWN |= {"site_identifier_list": [NORTH, NOBODY, SOUTH], "queue_manager_quota": 4096, "journal_quota": 5000}
ENTERPRISE = {"class": "enterprise", "name": "all", "non_ldap_capable_queue_manager_notification": False, "version": 3}
OBJECTS: list[dict[str, Any]] = [
    OWN,
    ENTERPRISE,
    {"class": "site", "identifier": SOUTH, "name": "south", "site_gates": [THIRD_GATE], "foreign_site": True},
    {"class": "site", "identifier": NORTH, "name": "north", "site_gates": [GATE, OTHER_GATE]},
    *({"class": "queue_manager", "identifier": each, "computer_name": f"GATE{number}"}
      for number, each in enumerate((GATE, OTHER_GATE, THIRD_GATE))),
    {"class": "computer", "sam_account": "HOST$", "security_identifier": "S-1-5-21-1-2-3-1234"},
    {"class": "queue", "identifier": FAR, "path_name": "FAR\\prices", "label": "prices", "hash_key": 7},
    {"class": "queue", "identifier": HERE, "path_name": "HOST\\gone"},
    {"class": "distribution_list", "identifier": INNER, "members": ["DIRECT=OS:A\\x", "direct=os:a\\X"]},
    {"class": "distribution_list", "identifier": OUTER, "members": [f"DL={INNER}", f"DL={OUTER}", "DIRECT=OS:B\\x"]},
]  # fmt: skip
DACL = 4  # DACL_SECURITY_INFORMATION


class Directed:
    """A teller whose manager has a directory; what is asked there is told too."""

    def __init__(self, talk: Talk) -> None:
        self.server = DirectoryServer()
        self.address = self.server.desk("open", objects=OBJECTS)["address"]
        self.tell = Teller(talk)

    def __call__(self, method: str, **params: Any) -> dict[str, Any]:
        answer = self.tell(method, **params)
        self.tell.seen.append(self.server.desk("asked")["requests"])
        return answer

    def use(self, **more: Any) -> None:
        self("directory.use", address=self.address, **more)

    def own(self) -> None:
        self("directory.own")

    def turn(self, mode: str) -> None:
        self.server.desk("turn", mode=mode)

    def later(self, by_ms: int) -> None:
        self("clock.advance", by_ms=by_ms)

    def put(self, kind: str, **given: Any) -> None:
        self.server.desk("put", kind=kind, object=given)


def _told(story: Callable[[Directed], None]) -> None:
    """Register a story of a manager with a directory."""

    @of("directory")
    def told(talk: Talk) -> list[Any]:
        tell = Directed(talk)
        try:
            story(tell)
        finally:
            tell.server.close()
        return tell.tell.seen

    told.__name__ = story.__name__


def _equals(attribute: str, value: Any) -> list[dict[str, Any]]:
    return [{"attribute": attribute, "operator": "EQUALS", "value": value}]


def _reads(tell: Directed, **more: Any) -> None:
    """Read what is known offline and what is not."""
    for kind, wanted in (
        ("queue", _equals("label", "first")),
        ("queue", [*_equals("journaling", False), *_equals("label", "second")]),
        ("queue", _equals("label", "none")),
        ("queue", _equals("journaling", False)),
        ("queue_manager", _equals("identifier", HOST)),
        ("queue_manager", _equals("identifier", GATE)),
        ("site", [*_equals("foreign_site", False), *_equals("name", "north")]),
    ):
        tell("directory.read", **{"class": kind}, filter=wanted, **more)


@_told
def initialized(tell: Directed) -> None:
    """With and without what the directory has, provisioned, and started again."""
    tell.use()
    tell.own()
    tell.tell.talk = started_again(tell.tell.talk, kill=True)
    tell.own()
    tell.turn("closed")
    tell.tell.talk = started_again(tell.tell.talk, kill=True)
    tell.own()
    tell.turn("answers")
    tell("directory.use", address=None)
    tell.own()
    for objects in ([], [{"class": "enterprise", "name": "all"}], OBJECTS):
        tell.server.desk("open", objects=objects)
        for provisioning in (False, True):
            tell.use(site=NORTH, provisioning=provisioning)
            tell.own()
    tell("reset")
    tell.own()


@_told
def sites_and_gates(tell: Directed) -> None:
    """The sites and gates that change, by their timers."""
    tell.use()
    tell.later(HOUR)
    tell.put("queue_manager", identifier=OTHER_GATE, computer_name="GATE1", queue_manager_version="2.0")
    tell.put("queue_manager", identifier=THIRD_GATE, computer_name="GATE2", queue_manager_version="3.0")
    tell.later(HOUR)
    tell.own()
    for identifier, name in ((NORTH, "arctic"), (SOUTH, "antarctic")):
        tell.put("site", identifier=identifier, name=name, site_gates=[OTHER_GATE])
    tell.later(10 * HOUR)
    tell.own()


def _offline(method: str, **params: Any) -> None:
    """Register the story of a manager that this takes offline."""

    @_told
    def goes_offline(tell: Directed) -> None:
        tell.use()
        for label in ("first", "second"):
            tell("queues.create", path_name=f"HOST\\{label}", properties={"PROPID_Q_LABEL": label})
        for _ in range(2):
            tell.turn("answers")
            tell.later(MINUTE)
            tell.own()
            tell.turn("closed")
            tell(method, **params)
        tell.own()
        _reads(tell)
        _reads(tell, force=True)
        tell("queues.open", format_name=f"PUBLIC={FAR}", access="send")
        tell("queues.create", path_name="HOST\\third", properties={})
        tell.turn("answers")
        _reads(tell)
        tell.later(MINUTE)
        tell.own()


_NOTHING = {"class": "site", "identifier": NOBODY}
_offline("directory.read", **{"class": "site"})
_offline("directory.read", **{"class": "site"}, force=True)
_offline("directory.create", **{"class": "site"}, object={"name": "west"})
_offline("directory.delete", **_NOTHING)
_offline("directory.write", **_NOTHING, object={"name": "west"})


@_told
def comes_back(tell: Directed) -> None:
    """A directory that comes back, first without the manager's object, with other attributes."""
    tell.use()
    made = [tell("queues.create", path_name=f"HOST\\{name}", properties={})["format_name"] for name in "ab"]
    tell.turn("drops")
    tell("directory.read", **{"class": "site"})
    tell.later(MINUTE)
    tell.later(MINUTE)
    tell.turn("answers")
    tell.server.desk("drop", kind="queue_manager", identifier=HOST)
    tell.later(MINUTE)
    tell.own()
    tell.put("queue_manager", **{name: value for name, value in OWN.items() if name != "class"}, clustered=True)
    tell.server.desk("drop", kind="queue", identifier=HERE)
    for number, queue in enumerate(list(tell.server.desk("objects", kind="queue")["objects"])):
        tell.put("queue", **queue | {"label": f"label {number}", "quota": 9, "journaling": True})
    tell.later(MINUTE)
    tell.own()
    for name in made:
        tell("queues.get", format_name=name, properties=["PROPID_Q_LABEL", "PROPID_Q_QUOTA", "PROPID_Q_JOURNAL"])
    tell.turn("closed")
    tell("directory.read", **{"class": "site"})
    tell("directory.use", address=None)
    tell.own()


@_told
def events(tell: Directed) -> None:
    """Each event, with each result."""
    tell.use()
    _reads(tell)
    made = {"name": "west", "foreign_site": True, "primary_site_controller": "WEST"}
    for names in (None, ["name", "foreign_site"]):
        more = {} if names is None else {"attributes": names}
        found = tell("directory.create", **{"class": "site"}, object=made, **more)
        tell("directory.write", **{"class": "site"}, identifier=found.get("identifier", NOBODY), object=made, **more)
        tell("directory.delete", **{"class": "site"}, identifier=found.get("identifier", NOBODY))
    for kind, identifier, given in (("site", SOUTH, {"name": "south"}), ("site", NOBODY, {"name": "none"}),
                                    ("queue", FAR, {"label": "new"}), ("queue", NOBODY, {"label": "new"}),
                                    ("queue_manager", HOST, {"clustered": True})):  # fmt: skip
        tell("directory.write", **{"class": kind}, identifier=identifier, object=given)
        tell("directory.create", **{"class": kind}, object=given)
        tell("directory.delete", **{"class": kind}, identifier=identifier)
    tell("directory.create", **{"class": "queue"}, object={"path_name": "FAR\\new"})
    tell("directory.create", **{"class": "queue"}, object={"path_name": "FAR\\new"})
    tell("directory.read", **{"class": "enterprise"}, attributes=["security"])


@_told
def queries(tell: Directed) -> None:
    """A query with a filter and an order, and one of everything."""
    tell.use()
    managers: dict[str, Any] = {"class": "queue_manager"}
    wanted = [*_equals("clustered", False), {"attribute": "computer_name", "operator": "NOT-EQUALS", "value": "HOST"}]
    names = ["computer_name", "identifier"]
    order = [{"priority": 1, "ascending": False}, {"priority": 0, "ascending": True}]
    for more in ({"filter": wanted, "attributes": names, "order": order}, {}):
        query = tell("directory.begin", **managers, **more).get("query", "none")
        for _ in range(5):
            tell("directory.next", query=query)
        tell("directory.end", query=query)
        tell("directory.end", query=query)
    tell("directory.next", query="none")


@_told
def lies(tell: Directed) -> None:
    """Answers that do not have their form, or are of another object."""
    tell.use()
    for answer in ({"result": "Success", "object": {"name": 7}}, {"result": "Success"}, {"result": "Nonsense"},
                   {"result": "Success", "object": {"name": "north", "identifier": NORTH}},
                   {"result": "Success", "object": {"nothing": 1}}):  # fmt: skip
        tell.server.desk("lie", method="read", kind="site", answer=answer)
        tell("directory.read", **{"class": "site"}, filter=_equals("name", "south"))
        tell("directory.use", address=None)
        tell.use()
    tell.server.desk("lie", method="create", answer={"result": "Success", "identifier": "?"})
    tell("queues.create", path_name="HOST\\lie", properties={})
    tell.server.desk("lie", method="begin", answer={"result": "Success"})
    tell("directory.begin", **{"class": "site"})
    tell.turn("silent")
    tell.use(wait_ms=20)
    tell.own()


@_told
def public_queues(tell: Directed) -> None:
    """Public queues from creation to deletion, refused ones, and their descriptors."""
    tell.use()
    for name in ("HOST\\orders", "HOST\\prices", "HOST\\private$\\orders"):
        tell("queues.create", path_name=name, properties={"PROPID_Q_LABEL": "old", "PROPID_Q_JOURNAL": 1})
        direct = f"DIRECT=OS:{name}"
        tell("queues.get", format_name=direct, properties=["PROPID_Q_INSTANCE", "PROPID_Q_ADS_PATH"])
        tell("queues.set", format_name=direct, properties={"PROPID_Q_LABEL": "new"})
        tell("security.get", target={"type": "queue", "format_name": direct}, information=DACL)
    for _ in range(2):
        tell("queues.create", path_name="HOST\\gone", properties={})
        tell("queues.open", format_name="DIRECT=OS:HOST\\gone", access="receive")
    tell.server.desk("lie", method="delete", answer={"result": "GenericError"})
    tell.server.desk("lie", method="read", kind="computer", answer={"result": "ObjectNotFound"})
    tell("queues.create", path_name="HOST\\private$\\q", properties={})
    tell("security.get", target={"type": "queue", "format_name": "DIRECT=OS:HOST\\private$\\q"}, information=DACL)
    tell("queues.delete", format_name="DIRECT=OS:HOST\\orders")
    tell("queues.delete", format_name="DIRECT=OS:HOST\\prices")
    tell("queues.set", format_name="DIRECT=OS:HOST\\prices", properties={"PROPID_Q_LABEL": "newer"})


@_told
def over_a_kill(tell: Directed) -> None:
    """Public queues of a manager that is killed, of which one is not in the directory and one cannot be read there."""
    tell.use()
    unread = {"result": "ObjectNotFound"}
    tell.server.desk("lie", method="read", kind="queue", answer=unread)
    made = [tell("queues.create", path_name=f"HOST\\{name}", properties={"PROPID_Q_LABEL": name}) for name in "abc"]
    names = [each["format_name"] for each in made]
    for _ in range(2):
        tell("queues.open", format_name=names[0], access="receive", share="deny_receive")
    tell.turn("drops")
    tell("directory.read", **{"class": "site"})
    tell.turn("answers")
    of_a, of_b, _ = list(tell.server.desk("objects", kind="queue")["objects"])[-3:]
    tell.server.desk("drop", kind="queue", identifier=of_a["identifier"])
    tell.put("queue", **of_b | {"label": "another", "quota": 7})
    tell.later(MINUTE)
    for _ in range(2):
        for name in names:
            tell(
                "queues.get", format_name=name, properties=["PROPID_Q_INSTANCE", "PROPID_Q_LABEL", "PROPID_Q_ADS_PATH"]
            )
        tell.tell.talk = started_again(tell.tell.talk, kill=True)
        tell.own()
    for name, address in (("beside", tell.address), ("alone", None)):
        tell("directory.use", address=address)
        tell("queues.create", path_name=f"HOST\\private$\\{name}", properties={})
    alone = {"type": "queue", "format_name": "DIRECT=OS:HOST\\private$\\alone"}
    tell("security.get", target=alone, information=DACL)


@_told
def opened(tell: Directed) -> None:
    """Public names and lists that are opened."""
    tell.use()

    def opens(name: str, access: str = "send") -> None:
        tell("queues.open", format_name=name, access=access)

    found = {"result": "Success", "object": {"path_name": "FAR\\prices", "identifier": FAR}}
    for answers in ([found, {"result": "ObjectNotFound"}], []):
        for answer in answers:
            tell.server.desk("lie", method="read", kind="queue", answer=answer)
        opens(f"PUBLIC={FAR}")
    for name in (FAR, HERE, NOBODY):
        opens(f"PUBLIC={name}")
    for name in (f"DL={OUTER}", f"DL={INNER}", f"DL={NOBODY}", f"DL={INNER},DIRECT=OS:C\\x", f"DL={NOBODY},DL={INNER}"):
        opens(name)
        opens(name, "receive")
    for computer in "abc":
        tell("management.get", target={"type": "queue", "format_name": f"DIRECT=OS:{computer}\\x"}, properties=[2])


VALUES: dict[str, list[dict[str, Any]]] = {
    "queue": [{"path_name": "FAR\\q", "security": KEY, "hash_key": 3, "label_hash_key": 4, "name_suffix": "end"}],
    "queue_manager": [
        {"computer_name": "WORLD", "qualified_computer_name": "WORLD.local", "foreign_system": True,
         "queue_manager_quota": 5, "public_signing_key_list": KEY, "site_identifier_list": [NORTH, SOUTH],
         "clustered": True, "security": KEY,
         "out_routing_server_identifier_list": [GATE], "in_routing_server_identifier_list": [OTHER_GATE],
         "directory_server": True, "directory_server_type": kind, "routing_server": True, "remote_access_server": True,
         "operating_system_type": system}
        for kind, system in (("PrimarySiteController", "WinServer"), ("BackupSiteController", "WinEnt"))
    ] + [{"computer_name": "RAS", "remote_access_server": True, "directory_server": True}],
    "site": [{"name": "far", "intra_site_replication_interval": 2, "inter_site_replication_interval": 10,
              "site_gates": [GATE], "migrated_from_msmq10": True, "security": KEY}],
    "connected_network": [{"name": each, "protocol": each} for each in ("ip", "ipx", "foreign")],
    "enterprise": [{"name": "all", "default_time_to_live": 5, "version": 2},
                   {"weakened_security": True, "old_directory": True, "security": KEY}],
    "user": [{"security_identifier": "S-1-5-21-1-2-3-4", "certificate_digest_list": [DIGEST, DIGEST]}],
    "routing_link": [{"site1_identifier": NORTH, "site2_identifier": SOUTH, "actual_cost": 5, "description": "slow"}],
    "settings": [{"service": 8, "old_service": 1, "msmq10": True, "site_name": "far", "routing_server": True,
                  "supporting_server": True}],
    "mq_user": [{"security_identifier": "S-1-5-21-1-2-3-4", "certificate": CERTIFICATE, "security": KEY}],
    "computer": [{"sam_account": "FAR$", "dns_host_name": "far.local", "security_identifier": "S-1-5-21-1-2-3-5"}],
}  # fmt: skip


@_told
def properties(tell: Directed) -> None:
    """Every property of an object of each class, got; and set to what it was."""
    tell.use()
    for kind, objects in VALUES.items():
        for number, given in enumerate(objects):
            identifier = f"{number:08x}{NOBODY[8:]}"
            tell.put(kind, identifier=identifier, **given)
            at: dict[str, Any] = {"class": kind, "identifier": identifier}
            values = tell("directory.get", **at, properties=list(TABLE[kind])).get("values", [])
            tell("directory.read", **{"class": kind}, filter=_equals("identifier", identifier))
            for property_, value in zip(TABLE[kind], values, strict=False):
                tell("directory.set", **at, properties=[{"property": property_, "value": value}])
            tell("directory.get", **at, properties=[1])


@_told
def values(tell: Directed) -> None:
    """Values that a property does not take."""
    tell.use()
    tell.put("routing_link", identifier=LINK, site1_identifier=NORTH, site2_identifier=SOUTH)
    tell.put("enterprise", identifier=LINK, name="all")
    for kind, identifier, property_, vt, value in (
        *(("routing_link", LINK, 812, 19, cost) for cost in (0, 1, 999_999, 1_000_000)),
        *(("queue_manager", HOST, 219, 17, flag) for flag in (0, 1, 2)),
        ("queue_manager", HOST, 219, 19, 1),
        ("queue", FAR, 108, 31, "x" * 125),
        ("enterprise", LINK, 602, 17, 2),
        ("site", NOBODY, 301, 31, "none"),
    ):
        given = [{"property": property_, "value": {"vt": vt, "value": value}}]
        tell("directory.set", **{"class": kind}, identifier=identifier, properties=given)
