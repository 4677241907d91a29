"""Stories of public queues that are open, guarded, offline or seen by both of their names.

MS-MQDMPR 3.1.1.2, 3.1.7.1.3 to 3.1.7.1.7, 3.1.7.1.18, 3.1.7.1.25; MS-MQMQ 2.2.24.
"""

from __future__ import annotations

import base64
import itertools
from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.model import rights
from conformance.model.descriptors import ALLOW, DACL, DENY, GROUP, OWNER, Descriptor, DescriptorError, Entry, decoded
from conformance.model.descriptors import encoded as bytes_of
from conformance.model.rights import ANONYMOUS, EVERYBODY, QUEUE_RIGHTS
from conformance.suites.directory.scene import NOWHERE, ONLINE_MS, Scene, asks, ids, part_of, plain, same
from conformance.suites.security.scene import OPENS, QUEUE_OF, queue_target, right_id
from conformance.suites.story_table import Untold

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.verdict import Json

_MAKES, _DELETES, _OPENS = "MQDMPR-3.1.7.1.3.", "MQDMPR-3.1.7.1.4.", "MQDMPR-3.1.7.1.5."
_ONLINE, _PUBLIC = "MQDMPR-3.1.7.1.25.", "MQDMPR-3.1.1.2.public-attributes-in-directory"
_NEAR_SECONDS: Final = 1
_LATER_MS: Final = 100_000
NAMES: Final = ("public", "path")
CHANGED: Final[Mapping[str, tuple[str, Json, Json, bool]]] = MappingProxyType(
    {
        "PROPID_Q_LABEL": ("label", "changed", "changed", True),
        "PROPID_Q_TYPE": ("type", NOWHERE, NOWHERE, True),
        "PROPID_Q_JOURNAL": ("journaling", True, 1, True),
        "PROPID_Q_QUOTA": ("quota", 4000, 4000, True),
        "PROPID_Q_JOURNAL_QUOTA": ("journal_quota", 3000, 3000, True),
        "PROPID_Q_AUTHENTICATE": ("authentication", True, 1, False),
        "PROPID_Q_PRIV_LEVEL": ("privacy_level", "Body", 2, False),
        "PROPID_Q_BASEPRIORITY": ("base_priority", 5, 5, True),
        "PROPID_Q_MULTICAST_ADDRESS": ("multicast_address", "234.1.1.1:8001", "234.1.1.1:8001", True),
    }
)
"""Properties: attribute, another value of it, what the property shows then, whether the queue takes plain messages."""


class Queue:
    """A public queue: its identifier, and its names. Raises Untold where there is none."""

    def __init__(self, scene: Scene, word: str = "orders", caller: str | None = None, **properties: Json) -> None:
        """Create it."""
        self.scene, self.path = scene, f"{scene.mq.hello.computer}\\{word}"
        params: dict[str, Any] = {"path_name": self.path, **({"properties": properties} if properties else {})}
        self.made = scene.call("create a public queue", "queues.create", caller, **params)
        self.identifier = str(self.held().get("identifier", ""))
        if not self.made.ok or not self.identifier:
            raise Untold("no public queue could be created")
        self.names = {"public": f"PUBLIC={self.identifier}", "path": f"DIRECT=OS:{self.path}"}

    def held(self) -> Mapping[str, Json]:
        """Return its object in the directory."""
        return next((each for each in self.scene.objects("queue") if same(each, {"path_name": self.path})), {})

    def opened(self, access: str, way: str = "public", suffix: str = "", **more: Json) -> Result:
        """Open it by one of its names."""
        name = self.names[way] + suffix
        params: dict[str, Any] = {"format_name": name, "access": access, **more}
        return self.scene.call(f"open {name} for {access}", "queues.open", **params)

    def handle(self, access: str, way: str = "public", suffix: str = "") -> Json:
        """Return a handle. Raises Untold."""
        answer = self.opened(access, way, suffix)
        if not answer.ok:
            raise Untold("the public queue cannot be opened")
        return answer.values["queue"]

    def got(self, *names: str, way: str = "public") -> Mapping[str, Json]:
        """Return properties, as far as the driver tells them."""
        known = [each for each in names if self.scene.mq.hello.takes("properties", each)]
        params: dict[str, Any] = {"format_name": self.names[way], "properties": known}
        return self.scene.call("read the queue", "queues.get", **params).values.get("properties") or {}


def _send(scene: Scene, handle: Json, label: str) -> Result:
    return scene.call(f"send {label}", "messages.send", queue=handle, message={"label": label})


def _received(scene: Scene, handle: Json) -> Json:
    answer = scene.call("receive", "messages.receive", queue=handle, timeout_ms=0)
    return answer.values["message"].get("label") if answer.ok else f"status {answer.status}"


def open_and_online(scene: Scene, name: str) -> None:
    """The directory comes back with another value of an attribute: the queue has it, and its handles are as before."""
    attribute, value, shows, takes = CHANGED[name]
    scene.mq.need("properties", name)
    scene.used()
    queue = Queue(scene)
    sender, reader = queue.handle("send"), queue.handle("receive", "path")
    _send(scene, sender, "before")
    with scene.away():
        scene.call("read a site", "directory.read", **{"class": "site"})
        scene.enter("queue", **{**queue.held(), attribute: value})
    scene.passes(ONLINE_MS)
    if scene.own()["offline"] is not False:
        raise Untold("the manager did not come online")
    demand = f"{_ONLINE}queue-attributes-updated"
    for way in NAMES:
        found = queue.got(name, way=way)
        scene.shows((demand, _PUBLIC), same(found, {name: shows}), {name: shows}, dict(found))
    if takes:
        _send(scene, sender, "after")
    wanted = ["before", "after"] if takes else ["before"]
    got = [_received(scene, reader) for _ in wanted]
    scene.shows(demand, got == wanted, list(wanted), list(got))


_SHARING: Final[Mapping[tuple[str, str, str, str], str]] = MappingProxyType(
    {
        ("receive", "deny_receive", "receive", "deny_none"): "exclusive-then-receive",
        ("receive", "deny_receive", "receive", "deny_receive"): "exclusive-then-exclusive",
        ("receive", "deny_none", "receive", "deny_receive"): "receive-then-exclusive",
        ("peek", "deny_receive", "receive", "deny_none"): "exclusive-peek-then-receive",
    }
)
"""Two opens, each with access and share mode, of which the second is refused."""


def shared(scene: Scene, first: str, second: str) -> None:
    """An exclusive handle that one name gave keeps the queue from who opens it by a name."""
    scene.used()
    handles = 0
    for number, ((access, share, other, mode), word) in enumerate(_SHARING.items()):
        queue = Queue(scene, f"orders{number}")
        if not queue.opened(access, first, share=share).ok:
            continue
        handles += 1
        refused = queue.opened(other, second, share=mode)
        scene.shows(f"{_OPENS}{word}", not refused.ok, {"opened": False}, {"status": refused.status})
        if share == "deny_receive" and access == "receive":
            sends = queue.opened("send", second)
            scene.shows(f"{_OPENS}exclusive-then-send", sends.ok, {"opened": True}, {"status": sends.status})
    if not handles:
        raise Untold("no queue could be opened")


def offline(scene: Scene, *, back: bool) -> None:
    """Offline, a queue is entered, changed and deleted in the directory all the same, as soon as that answers again."""
    scene.used()
    old = Queue(scene, "old")
    scene.turn("closed")
    scene.call("read a site", "directory.read", **{"class": "site"})
    if scene.own()["offline"] is not True:
        raise Untold("the manager is not offline")
    if not back:
        private = scene.call("create a private queue", "queues.create", path_name=scene.path_name())
        demand = "MQDMPR-3.1.1.2.queue-type-private"
        scene.shows(demand, private.ok, {"created": True}, {"status": private.status})
        for way in NAMES:
            opened = old.opened("receive", way)
            scene.shows(f"{_MAKES}openable", opened.ok, {"opened": True}, {"status": opened.status})
        return
    scene.turn("answers")
    scene.asked()
    new = scene.call("create a public queue", "queues.create", path_name=f"{scene.mq.hello.computer}\\new")
    requests = scene.asked()
    wanted = {"path_name": f"{scene.mq.hello.computer}\\new"}
    found = asks(requests, "create", "queue")
    carried = found is not None and same(found["params"]["object"], wanted)
    scene.shows(f"{_MAKES}directory-object-created", carried and new.ok, dict(wanted), plain(requests))
    queue = Queue(scene, "newer")
    got = queue.got("PROPID_Q_ADS_PATH", "PROPID_Q_INSTANCE")
    right = {"PROPID_Q_INSTANCE": queue.identifier}
    scene.shows(f"{_MAKES}directory-identifier", same(got, right), right, part_of(got, right))
    scene.asked()
    gone = scene.call("delete the queue", "queues.delete", format_name=old.names["public"])
    requests = scene.asked()
    deleted = asks(requests, "delete", "queue", identifier=old.identifier)
    demand = f"{_DELETES}directory-object-deleted"
    scene.shows(demand, deleted is not None and gone.ok, {"delete": old.identifier}, plain(requests))


def _descriptor(data: Json) -> Descriptor:
    try:
        return decoded(base64.b64decode(str(data or "")))
    except DescriptorError:
        return Descriptor()


def supplied(scene: Scene, information: int) -> None:
    """A public queue that is created with parts of a descriptor has them, and its object in the directory has."""
    scene.mq.need("properties", "PROPID_Q_SECURITY")
    scene.used()
    other = scene.one("a domain user", lambda user: user.domain_user and not user.guest)
    dacl = (Entry(DENY, rights.WRITE_MESSAGE, other.sid), Entry(ALLOW, QUEUE_RIGHTS["queue-generic-all"], EVERYBODY))
    given = Descriptor(other.sid, other.sid, dacl).only(information)
    queue = Queue(scene, PROPID_Q_SECURITY=base64.b64encode(bytes_of(given)).decode())
    found = scene.descriptor(queue_target(queue.names["public"]), OWNER | DACL)
    stored = _descriptor(queue.held().get("security"))
    parts = {"supplied-owner": (OWNER, "owner"), "supplied-dacl": (DACL, "dacl")}
    for word, (bit, part) in parts.items():
        for shown in (found, stored) if information & bit else ():
            wanted, actual = getattr(given, part), getattr(shown, part)
            demands = (f"{_MAKES}1.{word}", f"{_MAKES}attribute-security")
            scene.shows(demands, wanted == actual, {part: str(wanted)}, {part: str(actual)})
    if not information & DACL:
        scene.shows(f"{_MAKES}1.default-dacl", bool(found.dacl), "a default DACL", str(found.dacl))
    if not information & OWNER:
        owners = (scene.owner, ANONYMOUS)  # the second of a user outside a domain: the driver does not tell which it is
        scene.shows(f"{_MAKES}1.caller-owner", found.owner in owners, list(owners), found.owner)
    same_parts = (stored.owner, stored.dacl) == (found.owner, found.dacl)
    scene.shows(_PUBLIC, same_parts, str(found), str(stored))


def guarded(scene: Scene, order: str, way: str) -> None:
    """Entries of a public queue count in their order, by whichever name it is opened."""
    scene.used()
    user = scene.one("a domain user", lambda user: user.domain_user and not user.guest)
    queue = Queue(scene)
    masks = rights.WRITE_MESSAGE | rights.PEEK_MESSAGE | rights.RECEIVE_MESSAGE
    entries = {"deny": Entry(DENY, masks, user.sid), "allow": Entry(ALLOW, masks, EVERYBODY)}
    dacl = tuple(entries[word] for word in order.split("-"))
    descriptor = Descriptor(scene.owner, None, dacl)
    scene.given(queue_target(queue.names["public"]), descriptor, DACL)
    shown = scene.descriptor(queue_target(queue.names["path"]), DACL)
    scene.shows("MQDMPR-3.1.1.2.security", shown.dacl == dacl, str(dacl), str(shown.dacl))
    for name in (queue.names[way], queue.names["public"].upper()):
        scene.judge_acts(OPENS, name, descriptor, user, QUEUE_OF)


def journal(scene: Scene, way: str) -> None:
    """A received message is in the journal by both names, and a purge through one handle empties it for all."""
    scene.mq.need("properties", "PROPID_Q_JOURNAL")
    scene.used()
    queue = Queue(scene, PROPID_Q_JOURNAL=1)
    sender, reader, journal_reader = (
        queue.handle("send", way),
        queue.handle("receive"),
        queue.handle("receive", way, ";JOURNAL"),
    )
    for label in "abc":
        _send(scene, sender, label)
    _received(scene, reader)
    got = _received(scene, journal_reader)
    scene.shows(f"{_MAKES}attribute-journaling", got == "a", "a", got)
    purged = scene.call("purge the queue", "queues.purge", queue=reader)
    if purged.ok:
        left = _received(scene, queue.handle("receive", way))
        scene.shows("MQDMPR-3.1.7.1.7.available-deleted", left not in ("b", "c"), "no message", left)
    _send(scene, sender, "d")
    got = _received(scene, reader)
    scene.shows("MQDMPR-3.1.7.1.7.available-deleted", got == "d", "d", got)


def deleted(scene: Scene, way: str) -> None:
    """A public queue that is open is deleted here and in the directory, and its handles read nothing any more."""
    scene.used()
    queue = Queue(scene)
    sender, reader = queue.handle("send"), queue.handle("receive", "path")
    _send(scene, sender, "a")
    scene.asked()
    gone = scene.call("delete the queue", "queues.delete", format_name=queue.names[way])
    requests = scene.asked()
    found = asks(requests, "delete", "queue", identifier=queue.identifier)
    scene.shows(f"{_DELETES}success", gone.ok, {"deleted": True}, {"status": gone.status})
    scene.shows(
        f"{_DELETES}directory-object", found is not None and not queue.held(), {"delete": "queue"}, plain(requests)
    )
    got = _received(scene, reader)
    scene.shows(f"{_DELETES}handle-invalidated", got != "a", "no message", got)
    for name in NAMES:
        opened = queue.opened("receive", name)
        scene.shows(f"{_DELETES}removed", not opened.ok, {"opened": False}, {"status": opened.status})
    again = Queue(scene)
    demand = "MQDMPR-3.1.1.identifier-unique"
    scene.shows(demand, again.identifier != queue.identifier, "another identifier", again.identifier)
    left = _received(scene, again.handle("receive"))
    scene.shows(f"{_DELETES}messages-deleted", left != "a", "no message", left)


def _now(scene: Scene) -> int:
    return int(scene.call("the time", "clock.now").values["time_ms"]) // 1000


def _timed(scene: Scene, queue: Queue, word: str, moment: int, demand: str) -> None:
    """Judge a time of a queue: the moment, or what the directory says, which may have another clock."""
    name = f"PROPID_Q_{word.upper()}"
    shown = queue.got(name).get(name)
    near = [moment, queue.held().get(word)]
    right = isinstance(shown, int) and any(abs(shown - int(each or 0)) <= _NEAR_SECONDS for each in near)
    if shown is not None:
        scene.shows(demand, right, list(near), shown)


def derived(scene: Scene) -> None:
    """Names and identifiers of a new public queue are those of its path name, its computer and the directory."""
    scene.used()
    for word in ("orders", "orders 2"):
        queue = Queue(scene, word)
        names = {"PROPID_Q_PATHNAME": queue.path, "PROPID_Q_QMID": scene.guid, "PROPID_Q_INSTANCE": queue.identifier}
        demands = (f"{_MAKES}attribute-pathname", "MQMQ-2.3.1.15.propid-q-qmid", f"{_MAKES}directory-identifier")
        for demand, (name, value) in zip(demands, names.items(), strict=True):
            found = queue.got(name)
            if found:
                scene.shows(demand, same(found, {name: value}), {name: value}, dict(found))
        qualified = queue.got("PROPID_Q_PATHNAME_DNS").get("PROPID_Q_PATHNAME_DNS")
        if isinstance(qualified, str):
            computer, _, rest = qualified.partition("\\")
            full = computer.lower().startswith(f"{scene.mq.hello.computer}.".lower()) and rest == word
            scene.shows(f"{_MAKES}qualified-pathname", full, "a full computer name and the name", qualified)


def times(scene: Scene) -> None:
    """A public queue has the time of its creation, and that of its last change."""
    scene.used()
    scene.passes(_LATER_MS)
    made = _now(scene)
    queue = Queue(scene)
    _timed(scene, queue, "create_time", made, f"{_MAKES}create-time")
    _timed(scene, queue, "modify_time", made, f"{_MAKES}modify-time")
    scene.passes(_LATER_MS)
    params: dict[str, Any] = {"format_name": queue.names["path"], "properties": {"PROPID_Q_LABEL": "new"}}
    if scene.call("set the label", "queues.set", **params).ok:
        _timed(scene, queue, "modify_time", made + _LATER_MS // 1000, "MQDMPR-3.1.1.2.modify-time")
        _timed(scene, queue, "create_time", made, f"{_MAKES}create-time")


_PARTS: Final[Mapping[str, int]] = MappingProxyType({"owner": OWNER, "group": GROUP, "dacl": DACL})
_SUPPLIED: Final[Mapping[str, int]] = MappingProxyType(
    {
        "-".join(words): sum(_PARTS[word] for word in words)
        for length in (1, 2, 3)
        for words in itertools.combinations(_PARTS, length)
    }
)
_RIGHTS: Final = (rights.WRITE_MESSAGE, rights.PEEK_MESSAGE, rights.RECEIVE_MESSAGE)
_CLAIMS: Final[Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "online": (f"{_ONLINE}queue-attributes-updated", _PUBLIC),
        "shared": ids(_OPENS, " ".join((*_SHARING.values(), "exclusive-then-send"))),
        "supplied": (
            *ids(_MAKES, "1.supplied-owner 1.supplied-dacl 1.default-dacl 1.caller-owner attribute-security"),
            _PUBLIC,
        ),
        "guarded": ("MQDMPR-3.1.1.2.security", *(QUEUE_OF + right_id(QUEUE_OF, each) for each in _RIGHTS)),
        "journal": (f"{_MAKES}attribute-journaling", "MQDMPR-3.1.7.1.7.available-deleted"),
        "deleted": (
            *ids(_DELETES, "success directory-object handle-invalidated removed messages-deleted"),
            "MQDMPR-3.1.1.identifier-unique",
        ),
        "offline": (
            *ids(_MAKES, "openable directory-object-created directory-identifier"),
            *(f"{_DELETES}directory-object-deleted", "MQDMPR-3.1.1.2.queue-type-private"),
        ),
        "derived": (
            *ids(_MAKES, "attribute-pathname directory-identifier qualified-pathname"),
            "MQMQ-2.3.1.15.propid-q-qmid",
        ),
        "times": (*ids(_MAKES, "create-time modify-time"), "MQDMPR-3.1.1.2.modify-time"),
    }
)


def claims_of(name: str) -> tuple[str, ...]:
    """Return the ids of the requirements that a story can show."""
    return _CLAIMS[name.split("-")[1]]


STORIES: Final[Mapping[str, Callable[[Scene], None]]] = MappingProxyType(
    {
        **{f"public-online-{name}": partial(open_and_online, name=name) for name in CHANGED},
        **{
            f"public-shared-{first}-{second}": partial(shared, first=first, second=second)
            for first, second in itertools.product(NAMES, NAMES)
        },
        **{f"public-offline-{'back' if back else 'away'}": partial(offline, back=back) for back in (True, False)},
        **{f"public-supplied-{word}": partial(supplied, information=bits) for word, bits in _SUPPLIED.items()},
        **{
            f"public-guarded-{order}-{way}": partial(guarded, order=order, way=way)
            for order in ("deny-allow", "allow-deny")
            for way in NAMES
        },
        **{f"public-journal-{way}": partial(journal, way=way) for way in NAMES},
        **{f"public-deleted-{way}": partial(deleted, way=way) for way in NAMES},
        "public-derived": derived,
        "public-times": times,
    }
)
