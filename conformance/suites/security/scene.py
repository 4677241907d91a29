"""The users, queues and calls of a story about rights, and the verdicts on what a user may do."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from conformance.harness.guarded_client import lacking, refusals
from conformance.harness.playback import NotStored
from conformance.model import rights
from conformance.model.descriptors import (
    ALLOW,
    DACL,
    EVERY_PART,
    GROUP,
    OWNER,
    Descriptor,
    DescriptorError,
    Entry,
    decoded,
    encoded,
)
from conformance.model.rights import User, allowed, granted
from conformance.suites.story_table import Untold
from conformance.verdict import Json, Outcome, Verdict

if TYPE_CHECKING:
    from conformance.adapter.client import Result
    from conformance.harness.port import Port
    from conformance.harness.recorder import Recorder

QUEUE_OF, MACHINE_OF = "MQMQ-2.2.24.mqsec-", "MQMQ-2.2.23.mqsec-"
MACHINE: Final[Mapping[str, Json]] = MappingProxyType({"type": "machine"})
_NUMBERS: Final = 256  # of private queues that are looked at
_CONNECTED: Final = 4  # PROPID_MGMT_MSMQ_CONNECTED, MS-MQMQ 2.3.11.4


@dataclass(frozen=True, slots=True)
class Act:
    """A call that needs rights. words: what it does. wanted: the rights. make: makes it as the user of this SID.

    opens: it opens a queue, and what is done with the handle may be what a right is for (R-MQMQ-right-checked-at).
    administers: MS-MQMR 3 lets a manager ask that the caller is an administrator besides.
    """

    words: str
    wanted: int
    make: Callable[[Scene, str, str | None], Result]
    opens: bool = False
    administers: bool = False


def queue_target(format_name: str) -> dict[str, Json]:
    """Return the target of `security.get` and `security.set` for a queue."""
    return {"type": "queue", "format_name": format_name}


def private_name(mq: Port, path_name: str, behind: int = 0) -> str | None:
    """Return the private format name of a queue; None where the manager does not take it, or it is not found.

    behind: the number after which it is looked for.
    """
    manager = mq.hello.queue_manager
    if manager is None or not mq.hello.takes("format_names", "private"):
        return None
    for number in range(behind + 1, behind + _NUMBERS + 1):
        name = f"PRIVATE={manager}\\{number:08x}"
        answer = mq.call("queues.get", format_name=name, properties=["PROPID_Q_PATHNAME"])
        found = answer.values.get("properties", {}).get("PROPID_Q_PATHNAME") if answer.ok else None
        if isinstance(found, str) and found.lower() == path_name.lower():
            return name
    return None


class Scene:
    """A manager, the users that its driver declares, and a counter of queues."""

    def __init__(self, mq: Port, judge: Recorder) -> None:
        declared = mq.hello.security or {}
        self.mq, self.judge = mq, judge
        self.machine: str | None = declared.get("machine")
        self.srmp = bool(declared.get("srmp", False))
        self._owner = declared.get("self")
        self.users = tuple(user for user in map(_user, declared.get("callers", ())) if user.sid != self._owner)
        self._queues = 0

    @property
    def owner(self) -> str:
        """The user of calls without `as`, who may do everything. Raises Untold for a driver that declares no users."""
        if self._owner is None:
            raise Untold("the driver declares no users in hello.security")
        return str(self._owner)

    def one(self, kind: str, holds: Callable[[User], bool]) -> User:
        """Return the first user, other than the one of calls without `as`, of whom this holds. Raises Untold."""
        found = next(filter(holds, self.users), None)
        if found is None:
            raise Untold(f"the driver declares no user who is {kind}")
        return found

    def plain(self) -> User:
        """Return a user without privileges, a domain user if there is one."""
        with suppress(Untold):
            return self.one(
                "a plain domain user", lambda user: user.domain_user and not (user.guest or user.privileges)
            )
        return self.one("without privileges", lambda user: not user.privileges)

    def call(self, words: str, method: str, /, caller: str | None = None, **params: Any) -> Result:
        """Make a call as a user, and tell it."""
        if not self.mq.offers(method):
            raise Untold(f"the driver does not offer {method}")
        answer = self.mq.call(method, **params, **({} if caller is None else {"as": caller}))
        who = "" if caller is None else f" as {self.called(caller)}"
        told: dict[str, Json] = {"method": method, **params, **({} if caller is None else {"as": caller})}
        self.judge.step(f"{words}{who}", told, {"status": answer.status, **answer.values})
        return answer

    def called(self, sid: str) -> str:
        """Return a SID with a word on who that is."""
        user = next((user for user in self.users if user.sid == sid), User(sid))
        words = [word for word, so in (("guest", user.guest), ("member of groups", user.groups)) if so]
        return f"{sid} ({', '.join(words)})" if words else sid

    def queue(self, caller: str | None = None, **properties: Json) -> str:
        """Create a queue and return its format name. Raises Untold if it cannot be created."""
        created = self.created(caller, **properties)
        if not created.ok:
            raise Untold("no queue could be created")
        return str(created.values["format_name"])

    def created(self, caller: str | None = None, **properties: Json) -> Result:
        """Create a queue of a new name."""
        self.mq.need("properties", *properties)
        params: dict[str, Json] = {"path_name": self.path_name()}
        if properties:
            params["properties"] = properties
        return self.call("create a queue", "queues.create", caller, **params)

    def path_name(self) -> str:
        """Return a name that no queue has."""
        self._queues += 1
        word = "" if self.mq.offers("reset") else f"{self.mq.unique()}-"
        return f"{self.mq.hello.computer}\\private$\\mqconform-rights-{word}{self._queues}"

    def put(
        self, target: Mapping[str, Json], descriptor: Descriptor, information: int, caller: str | None = None
    ) -> Result:
        """Set parts of a descriptor."""
        return self.put_bytes(words_of(descriptor, information), target, encoded(descriptor), information, caller)

    def put_bytes(
        self, words: str, target: Mapping[str, Json], data: bytes, information: int, caller: str | None = None
    ) -> Result:
        """Set parts of a descriptor that is given as bytes. words: what these are."""
        params = {"target": dict(target), "information": information, "descriptor": base64.b64encode(data).decode()}
        return self.call(f"set {words} of {_named(target)}", "security.set", caller, **params)

    def given(self, target: Mapping[str, Json], descriptor: Descriptor, information: int) -> None:
        """Set parts of a descriptor as the owner of everything. Raises Untold if that fails."""
        if not self.put(target, descriptor, information).ok:
            raise Untold("the descriptor could not be set")

    def got(self, target: Mapping[str, Json], information: int = EVERY_PART, **more: Any) -> Result:
        """Read parts of a descriptor."""
        words = f"read {parts_of(information)} of {_named(target)}"
        return self.call(words, "security.get", target=dict(target), information=information, **more)

    def descriptor(
        self, target: Mapping[str, Json], information: int = EVERY_PART, formats: tuple[str, ...] = ()
    ) -> Descriptor:
        """Return parts of a descriptor. Records verdicts on its format. formats: requirements on the format."""
        answer = self.got(target, information)
        self.expect("MQMP-3.1.4.7.get", answer.ok, {"read": True}, {"status": answer.status})
        found, wrong = Descriptor(), ""
        try:
            found = decoded(base64.b64decode(answer.values.get("descriptor", "")))
        except DescriptorError as error:
            wrong = str(error)
        for demand in ("MQMP-3.1.4.7.self-relative", *formats):
            self.expect(demand, not wrong, "a self-relative descriptor", wrong or "a self-relative descriptor")
        return found

    def descriptor_in_parts(self, target: Mapping[str, Json], formats: tuple[str, ...] = ()) -> Descriptor:
        """Return a descriptor that is read part by part, so that no reading of several bits matters."""
        whole = Descriptor()
        for bit in PART_IDS:
            whole = whole.merged(self.descriptor(target, bit, formats), bit)
        return whole

    def expect(
        self, demand: str, holds: bool, expected: Json, actual: Json, readings: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """Record a verdict."""
        outcome = Outcome.PASS if holds else Outcome.FAIL
        self.judge.record(Verdict(demand, outcome, demand.rpartition(".")[2], expected, actual, readings))

    def same(
        self, demand: str, what: str, wanted: Json, found: Json, readings: tuple[tuple[str, str], ...] = ()
    ) -> None:
        """Record a verdict on a value that has to be this one. what: its name."""
        self.expect(demand, wanted == found, {what: wanted}, {what: found}, readings)

    @contextmanager
    def machine_kept(self) -> Iterator[None]:
        """Restore the manager's descriptor at the end."""
        before = self.descriptor_in_parts(MACHINE)
        try:
            yield
        finally:
            with suppress(NotStored):  # a recording that ends with a failure has no later calls
                for bit in PART_IDS:
                    if bit == DACL or before.part(bit) is not None:
                        self.put(MACHINE, before, bit)

    @contextmanager
    def machine_as(self, *entries: Entry) -> Iterator[Descriptor]:
        """Give the manager a DACL, owned by the owner of everything, and restore what it had before."""
        new = Descriptor(self.owner, None, entries)
        with self.machine_kept():
            self.given(MACHINE, new, OWNER)
            self.given(MACHINE, new, DACL)
            yield new

    def judge_acts(
        self,
        acts: tuple[Act, ...],
        name: str,
        descriptor: Descriptor,
        user: User,
        prefix: str,
        also: tuple[str, ...] = (),
        *,
        combined: bool = False,
    ) -> None:
        """Make the calls as a user and judge each by the access check. name: the queue's format name, or empty.

        prefix: begins the ids of the requirements on the rights. also: the requirements that each call is about; they
        are blamed before the single right where the user has a combined one.
        """
        may = granted(descriptor, user.token)
        for act in acts:
            if act.wanted not in (rights.DELETE, rights.TAKE_OWNERSHIP) and not self._works(act, name):
                continue
            expected = allowed(descriptor, user.token, act.wanted)
            done = act.make(self, name, user.sid).ok
            if act.administers and expected and not done:
                continue
            if act.opens and done and not expected and "each-call" in self.judge.readings[rights.CHECKED_AT]:
                continue
            missing = act.wanted & ~may
            demand = prefix + right_id(prefix, act.wanted if expected else missing & -missing)
            for each in (*also, demand) if combined else (demand, *also):
                self.expect(each, done is expected, {act.words: expected}, {act.words: done})
            if done and act.wanted == rights.TAKE_OWNERSHIP:
                self.put(MACHINE if prefix == MACHINE_OF else queue_target(name), descriptor, OWNER)

    def _works(self, act: Act, name: str) -> bool:
        """Tell whether a call succeeds for the owner of everything: else it fails for another reason than rights."""
        try:
            return act.make(self, name, None).ok
        except Untold:
            return False
        except refusals() as refusal:
            if lacking(refusal) is None:
                raise
            return False


PART_IDS: Final[Mapping[int, str]] = MappingProxyType(
    {
        bit: f"MQMQ-2.2.3.{word}-security-information"
        for bit, word in zip((1, 2, 4, 8), ("owner", "group", "dacl", "sacl"), strict=True)
    }
)


def right_id(prefix: str, right: int) -> str:
    """Return the last word of the id of a right, which is one bit or a combined value."""
    table = rights.MACHINE_RIGHTS if prefix == MACHINE_OF else rights.QUEUE_RIGHTS
    return next(word for word, value in table.items() if value == right)


def rights_judged(prefix: str, acts: tuple[Act, ...]) -> tuple[str, ...]:
    """Return the ids of the requirements on rights that `judge_acts` blames for these calls: of each, and its bits."""
    table = rights.MACHINE_RIGHTS if prefix == MACHINE_OF else rights.QUEUE_RIGHTS
    wanted = {act.wanted for act in acts}
    bits = {value for value in table.values() if value.bit_count() == 1 and any(value & each for each in wanted)}
    return tuple(f"{prefix}{word}" for word, value in table.items() if value in wanted | bits)


def parts_of(information: int) -> str:
    """Return the parts that SECURITY_INFORMATION selects, in words."""
    words = [word for bit, word in zip(PART_IDS, ("owner", "group", "DACL", "SACL"), strict=True) if information & bit]
    return ", ".join(words) or "no part"


def words_of(descriptor: Descriptor, information: int) -> str:
    """Return parts of a descriptor in words: a DACL with its entries, as far as there are few."""
    entries = descriptor.dacl or ()
    if information != DACL or len(entries) > 4:
        return parts_of(information)
    if descriptor.dacl is None:
        return "an absent DACL"
    kinds = {0: "allow", 1: "deny"}
    told = [
        f"{kinds.get(entry.kind, entry.kind)} {entry.sid} {entry.mask:#x} (flags {entry.flags:#x})" for entry in entries
    ]
    return f"the DACL [{', '.join(told)}]"


def plain_json(descriptor: Descriptor) -> Json:
    """Return a descriptor as JSON."""
    return asdict(descriptor)


def allow(sid: str, mask: int) -> Entry:
    """Return an allowing entry."""
    return Entry(ALLOW, mask, sid)


def _user(raw: Mapping[str, Json]) -> User:
    return User(
        str(raw["sid"]),
        frozenset(raw.get("groups", ())),
        bool(raw.get("domain_user", False)),
        bool(raw.get("guest", False)),
        frozenset(raw.get("privileges", ())),
    )


def _named(target: Mapping[str, Json]) -> str:
    return "the manager" if target["type"] == "machine" else str(target["format_name"])


def _opens(access: str, suffix: str = "") -> Callable[[Scene, str, str | None], Result]:
    def make(scene: Scene, name: str, caller: str | None) -> Result:
        scene.mq.need("access", access)
        if suffix:
            scene.mq.need("format_names", "journal" if suffix == ";JOURNAL" and name else "dead_letter")
        whole = (name or f"DIRECT=OS:{scene.mq.hello.computer}\\SYSTEM$") + suffix
        opened = scene.call(f"open {whole} with {access}", "queues.open", caller, format_name=whole, access=access)
        if opened.ok and scene.mq.offers("queues.close"):
            scene.mq.call("queues.close", queue=opened.values["queue"])
        return opened

    return make


def _reads(information: int) -> Callable[[Scene, str, str | None], Result]:
    return lambda scene, name, caller: scene.got(
        queue_target(name) if name else MACHINE, information, **({} if caller is None else {"caller": caller})
    )


def _writes(information: int) -> Callable[[Scene, str, str | None], Result]:
    def make(scene: Scene, name: str, caller: str | None) -> Result:
        target = queue_target(name) if name else MACHINE
        if information == OWNER:
            return scene.put(target, Descriptor(caller), OWNER, caller)
        found = scene.got(target, information)
        data = base64.b64decode(found.values.get("descriptor", ""))
        return scene.put_bytes(f"the same {parts_of(information)}", target, data, information, caller)

    return make


def _label(scene: Scene, name: str, caller: str | None, *, new: bool) -> Result:
    scene.mq.need("properties", "PROPID_Q_LABEL")
    properties: Json = {"PROPID_Q_LABEL": "rights"} if new else ["PROPID_Q_LABEL"]
    verb, method = ("set", "queues.set") if new else ("read", "queues.get")
    return scene.call(f"{verb} the label of {name}", method, caller, format_name=name, properties=properties)


def _creates(scene: Scene, _: str, caller: str | None, *, here: bool = False) -> Result:
    """Create a queue; the answer is that of a look at it where it is there although that was refused."""
    path = scene.path_name()
    name = f"DIRECT=OS:{path}"
    if here:
        path = f".{path[path.index(chr(92)) :]}"
    made = scene.call(f"create {path}", "queues.create", caller, path_name=path)
    found = made if made.ok else scene.got(queue_target(name), OWNER)
    if found.ok and scene.mq.offers("queues.delete"):
        scene.mq.call("queues.delete", format_name=name)
    return found if found.ok else made


def _manages(scene: Scene, _: str, caller: str | None) -> Result:
    words, target = "read whether the manager is connected", dict(MACHINE)
    return scene.call(words, "management.get", caller, target=target, properties=[_CONNECTED])


def _connects(scene: Scene, _: str, caller: str | None) -> Result:
    return scene.call("connect the manager", "management.act", caller, target=dict(MACHINE), action="CONNECT")


QUEUE_ACTS: Final = (
    Act("open to send", rights.WRITE_MESSAGE, _opens("send"), opens=True),
    Act("open to peek", rights.PEEK_MESSAGE, _opens("peek"), opens=True),
    Act("open to receive", rights.RECEIVE_MESSAGE, _opens("receive"), opens=True),
    Act("open the journal to peek", rights.PEEK_MESSAGE, _opens("peek", ";JOURNAL"), opens=True),
    Act("open the journal to receive", rights.RECEIVE_JOURNAL_MESSAGE, _opens("receive", ";JOURNAL"), opens=True),
    Act("read a property", rights.GET_PROPERTIES, lambda *to: _label(*to, new=False)),
    Act("set a property", rights.SET_PROPERTIES, lambda *to: _label(*to, new=True)),
    Act("read the owner", rights.GET_PERMISSIONS, _reads(OWNER)),
    Act("read the group", rights.GET_PERMISSIONS, _reads(GROUP)),
    Act("read the DACL", rights.GET_PERMISSIONS, _reads(DACL)),
    Act("set the DACL", rights.CHANGE_PERMISSIONS, _writes(DACL)),
    Act("take ownership", rights.TAKE_OWNERSHIP, _writes(OWNER)),
    Act(
        "delete",
        rights.DELETE,
        lambda scene, name, caller: scene.call(f"delete {name}", "queues.delete", caller, format_name=name),
    ),
)
"""Calls on a queue, in the order in which they are made: the last ones change owner and queue."""
OPENS: Final = QUEUE_ACTS[:3]
MACHINE_ACTS: Final = (
    Act("create a queue", rights.CREATE_QUEUE, _creates),
    Act("create a queue of this computer", rights.CREATE_QUEUE, partial(_creates, here=True)),
    Act("peek at dead letters", rights.PEEK_DEAD_LETTER, _opens("peek", ";DEADLETTER"), opens=True),
    Act(
        "receive dead letters",
        rights.PEEK_DEAD_LETTER | rights.DELETE_DEAD_LETTER,
        _opens("receive", ";DEADLETTER"),
        opens=True,
    ),
    Act(
        "receive transactional dead letters",
        rights.PEEK_DEAD_LETTER | rights.DELETE_DEAD_LETTER,
        _opens("receive", ";DEADXACT"),
        opens=True,
    ),
    Act("peek at the journal", rights.PEEK_JOURNAL, _opens("peek", ";JOURNAL"), opens=True),
    Act(
        "receive from the journal",
        rights.PEEK_JOURNAL | rights.DELETE_JOURNAL,
        _opens("receive", ";JOURNAL"),
        opens=True,
    ),
    Act("read management properties", rights.GET_PROPERTIES, _manages, administers=True),
    Act("act on the manager", rights.SET_PROPERTIES, _connects, administers=True),
    Act("read the owner", rights.GET_PERMISSIONS, _reads(OWNER)),
    Act("read the DACL", rights.GET_PERMISSIONS, _reads(DACL)),
    Act("set the DACL", rights.CHANGE_PERMISSIONS, _writes(DACL)),
    Act("take ownership", rights.TAKE_OWNERSHIP, _writes(OWNER)),
)
"""Calls on the manager."""
