"""Faults of a manager with a directory (MS-MQDMPR 3.1.1.17, 3.1.3, 3.1.6, 3.1.7.1.3 to 3.1.7.1.25, 3.1.7.3.8)."""

from __future__ import annotations

import base64
from contextlib import suppress
from typing import Any, Final

from conformance.embedded import directory_objects as objects
from conformance.embedded.directory_client import (
    END,
    EXISTS,
    FAILED,
    NO_ATTRIBUTE,
    NO_OBJECT,
    NOT_CONNECTED,
    SUCCESS,
    DirectoryClient,
)
from conformance.embedded.directory_keys import BASE, PROVIDERS, key_list
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault, kebab
from conformance.embedded.integration import DEFAULTS, NOTIFIES, Integration
from conformance.embedded.queues import Queues
from conformance.embedded.security import MACHINE
from conformance.spec.constants.hresults import MQ_ERROR_QUEUE_NOT_FOUND

_EVENT, _START, _RESULT = "MQDMPR-3.1.7.1.", "MQDMPR-3.1.3.", "MQDMPR-3.1.1.17.directory-"
_EVENTS: Final = {
    "create": ("18", "creation"),
    "delete": ("19", "deletion"),
    "read": ("20", "read"),
    "write": ("24", "write"),
}


# Offline.


def _stays_online(method):
    def stays_online(plain, self, *args, **named):
        was = self.offline
        answer = plain(*args, **named)
        self.offline = was
        return answer

    return stays_online


def _starts_no_timer(method):
    def starts_no_timer(plain, self, *args, **named):
        had = "online" in self._timers
        answer = plain(*args, **named)
        if not had and "online" in self._timers:
            self._timers.pop("online").cancel()
        return answer

    return starts_no_timer


def _answers(method, seen, told):
    def answers(plain, self, *args, **named):
        answer = plain(*args, **named)
        if isinstance(answer, str):
            return told if answer == seen else answer
        return (told, *answer[1:]) if answer[0] == seen else answer

    return answers


for _method, (_number, _noun) in _EVENTS.items():
    fault(
        f"{_noun}-that-reaches-nobody-stays-online",
        getattr(Integration, _method),
        f"{_EVENT}{_number}.goes-offline",
        says=f"A {_noun} that does not reach the directory leaves the manager online.",
    )(_stays_online(_method))
    fault(
        f"{_noun}-that-reaches-nobody-starts-no-timer",
        getattr(Integration, _method),
        f"{_EVENT}{_number}.online-timer",
        says=f"After a {_noun} that does not reach the directory, nobody looks for it.",
    )(_starts_no_timer(_method))
    fault(f"{_noun}-that-reaches-nobody-is-an-error", getattr(Integration, _method),
          f"{_EVENT}{_number}.not-connected-status", f"{_RESULT}not-connected",
          says=f"A {_noun} that does not reach the directory answers GenericError.",
          )(_answers(_method, NOT_CONNECTED, FAILED))  # fmt: skip

_FIRST: Final[dict[str, dict[str, Any]]] = {
    "write-of-nothing-succeeds": {
        "first_seen_as": ("MQAC-3.2.4.2.1.update-directory-user-directory-follows",),
        "because": "An object that writes to what is gone succeeds where it has to fail.",
    }
}

for _name, _method, _seen, _told, _breaks, _says in (
    ("object-that-exists-is-an-error", "create", EXISTS, FAILED,
     (f"{_RESULT}object-already-exists", f"{_EVENT}18.directory-status", f"{_EVENT}18.reached"),
     "The creation of an object that exists is answered with GenericError."),
    ("deletion-of-nothing-succeeds", "delete", NO_OBJECT, SUCCESS,
     (f"{_RESULT}object-not-found", f"{_EVENT}19.directory-status", f"{_EVENT}19.reached"),
     "The deletion of an object that is not there is answered with Success."),
    ("write-of-nothing-succeeds", "write", NO_OBJECT, SUCCESS,
     (f"{_RESULT}object-not-found", f"{_EVENT}24.directory-status", f"{_EVENT}24.reached"),
     "A write to an object that is not there is answered with Success."),
    ("absent-attribute-is-absent-object", "read", NO_ATTRIBUTE, NO_OBJECT,
     (f"{_RESULT}attribute-not-found", f"{_EVENT}20.directory-status", f"{_START}enterprise-attribute-not-found"),
     "A read of an attribute that is not set is answered with ObjectNotFound."),
    ("end-of-a-query-is-absent-object", "next", END, NO_OBJECT, (f"{_RESULT}end-of-data", f"{_EVENT}22.delegated"),
     "Behind the last object of a query comes ObjectNotFound."),
):  # fmt: skip
    fault(_name, getattr(Integration, _method), *_breaks, says=_says, **_FIRST.get(_name, {}))(
        _answers(_method, _seen, _told)
    )


@fault("forced-read-goes-offline", Integration.read, f"{_EVENT}20.reached")
def forced_read_goes_offline(plain, self, kind, wanted, names=None, *, force=False):
    """A forced read that does not reach the directory takes the manager offline."""
    answer = plain(kind, wanted, names, force=force)
    if force and answer[0] == NOT_CONNECTED:
        self.went_offline()
    return answer


_NEVER_BACK: Final[dict[str, Any]] = {
    "first_seen_as": tuple(f"{_EVENT}{number}.online-timer" for number, _ in _EVENTS.values()),
    "because": "A check that does not find the directory looks like one that is not made.",
}


@fault("forced-read-stays-away-offline", Integration.read, f"{_EVENT}20.online", f"{_EVENT}25.own-object-read",
       **_NEVER_BACK)  # fmt: skip
def forced_read_stays_away_offline(plain, self, kind, wanted, names=None, *, force=False):
    """A forced read does not ask the directory while the manager is offline."""
    return plain(kind, wanted, names)


def _asks_offline(kinds):
    def asks(plain, self, kind, wanted, names=None, *, force=False):
        return plain(kind, wanted, names, force=force or (self.offline and kind in kinds))

    return asks


_OTHERS = tuple(sorted({*objects.CLASSES} - {"queue", "queue_manager"}))  # in order, for its digest
fault(
    "offline-read-asks",
    Integration.read,
    f"{_EVENT}20.offline",
    f"{_EVENT}20.offline-ends",
    f"{_EVENT}20.offline-not-connected",
    says="While offline, a read of what is neither a queue nor a manager asks the directory.",
)(_asks_offline(_OTHERS))
fault("offline-read-of-a-queue-asks", Integration.read, f"{_EVENT}20.offline", f"{_EVENT}20.offline-queue-ends",
      says="While offline, a read of a queue asks the directory.")(_asks_offline({"queue"}))  # fmt: skip
fault("offline-read-of-a-manager-asks", Integration.read, f"{_EVENT}20.offline", f"{_EVENT}20.offline-own-ends",
      says="While offline, a read of a manager asks the directory.")(_asks_offline({"queue_manager"}))  # fmt: skip


@fault("offline-site-is-not-found", Integration.read_own, f"{_EVENT}20.offline-not-connected")
def offline_site_is_not_found(plain, self, kind, wanted, names):
    """While offline, a read of what the manager does not know answers ObjectNotFound."""
    result, found = plain(kind, wanted, names)
    return (NO_OBJECT if result == NOT_CONNECTED else result), found


@fault("offline-unknown-queue-is-not-connected", Integration.read_own, f"{_EVENT}20.offline-queue-not-found")
def offline_unknown_queue_is_not_connected(plain, self, kind, wanted, names):
    """While offline, a read of a queue that is not here answers DirectoryNotConnected."""
    result, found = plain(kind, wanted, names)
    return (NOT_CONNECTED if result == NO_OBJECT else result), found


@fault("offline-queue-needs-one-expression", Integration.read_own, f"{_EVENT}20.offline-queue-filter",
       f"{_EVENT}20.offline-queue-returned")  # fmt: skip
def offline_queue_needs_one_expression(plain, self, kind, wanted, names):
    """While offline, only the first expression of a filter counts for queues."""
    return plain(kind, wanted[:1] if kind == "queue" and wanted else wanted, names)


@fault("offline-queue-has-only-a-path", Integration.read_own, f"{_EVENT}20.offline-queue-returned")
def offline_queue_has_only_a_path(plain, self, kind, wanted, names):
    """While offline, a queue that is read has a path name and nothing else."""
    return plain(kind, wanted, ["path_name"] if kind == "queue" else names)


@fault("offline-any-manager-is-this-one", Integration.read_own, f"{_EVENT}20.offline-own-object",
       f"{_EVENT}20.offline-not-connected")  # fmt: skip
def offline_any_manager_is_this_one(plain, self, kind, wanted, names):
    """While offline, a read of any manager gives this one."""
    return plain(kind, None if kind == "queue_manager" else wanted, names)


@fault("offline-manager-has-defaults", Integration.read_own, f"{_EVENT}20.offline-own-returned")
def offline_manager_has_defaults(plain, self, kind, wanted, names):
    """While offline, the manager's own object has the attributes of a new one."""
    result, found = plain(kind, wanted, names)
    return result, found | objects.only(dict(DEFAULTS), found) if kind == "queue_manager" else found


@fault("no-directory-keeps-it-offline", Integration.use, "MQDMPR-3.1.1.1.directory-offline-without-directory")
def no_directory_keeps_it_offline(plain, self, address, **named):
    """A manager that was offline says so after its directory is taken away."""
    was = self.offline
    plain(address, **named)
    self.offline = self.offline or (was and address is None)


# Coming back.


@fault("directory-is-looked-for-in-two-minutes", Integration.start_timer, "MQDMPR-3.1.2.5.one-minute", **_NEVER_BACK)
def directory_is_looked_for_in_two_minutes(plain, self, name, duration_ms, action):
    """The manager looks for its directory after two minutes."""
    plain(name, duration_ms * (2 if name == "online" else 1), action)


@fault("sites-are-read-daily", Integration.start_timer, "MQDMPR-3.1.2.1.twelve-hours")
def sites_are_read_daily(plain, self, name, duration_ms, action):
    """The sites are read again after a day."""
    plain(name, duration_ms * (2 if name == "sites" else 1), action)


@fault("gates-are-read-daily", Integration.start_timer, "MQDMPR-3.1.2.2.one-hour")
def gates_are_read_daily(plain, self, name, duration_ms, action):
    """The site gates are read again after a day."""
    plain(name, duration_ms * (24 if name == "gates" else 1), action)


@fault("directory-is-looked-for-once", Integration.check_online, f"{_EVENT}25.checks-again",
       f"{_EVENT}25.reads-own-object")  # fmt: skip
def directory_is_looked_for_once(plain, self):
    """A check that does not find the directory is the last one."""
    plain()
    if self.offline and "online" in self._timers:
        self._timers.pop("online").cancel()


@fault("absent-object-is-enough-to-be-back", Integration.check_online, f"{_EVENT}25.own-object-not-read")
def absent_object_is_enough_to_be_back(plain, self):
    """A directory that answers is back, even one without the manager's object."""
    if self.read("queue_manager", self.own_filter(), force=True)[0] != NOT_CONNECTED:
        self.offline = False
    plain()


@fault("manager-stays-offline", Integration.check_online, f"{_EVENT}25.goes-online")
def manager_stays_offline(plain, self):
    """A manager that was offline stays so when its directory is back."""
    plain()
    self.offline = True


@fault("manager-comes-back-as-it-was", Integration.take_own, f"{_EVENT}25.own-attributes")
def manager_comes_back_as_it_was(plain, self, found):
    """When the directory is back, the manager's attributes stay as they were."""
    if not self.offline:
        plain(found)


@fault("only-the-last-queue-is-read-again", Integration.public_queues, f"{_EVENT}25.reads-public-queues")
def only_the_last_queue_is_read_again(plain, self):
    """When the directory is back, one public queue is read."""
    return plain()[-1:]


@fault("queues-come-back-as-they-were", Integration.take_queue, f"{_EVENT}25.queue-attributes-updated")
def queues_come_back_as_they_were(plain, self, queue, found):
    """When the directory is back, public queues keep their attributes."""


@fault("queues-come-back-with-their-label", Integration.take_queue, f"{_EVENT}25.queue-attributes-updated")
def queues_come_back_with_their_label(plain, self, queue, found):
    """When the directory is back, public queues take their label and nothing else."""
    plain(queue, objects.only(found, ["label"]))


# Results and answers.


@fault("silence-is-an-error", DirectoryClient.ask, f"{_RESULT}not-connected", f"{_EVENT}20.not-connected-status")
def silence_is_an_error(plain, self, method, params):
    """A directory that nobody can reach counts as one that answers GenericError."""
    answer = plain(method, params)
    return {"result": FAILED} if answer["result"] == NOT_CONNECTED else answer


@fault("object-of-wrong-types-is-taken", Integration.checked, f"{_RESULT}generic-error")
def object_of_wrong_types_is_taken(plain, self, answer, kind, wanted, names):
    """An object whose attributes do not have their types is taken as it is."""
    result, found = plain(answer, kind, wanted, names)
    return (
        (SUCCESS, answer["object"]) if result == FAILED and isinstance(answer.get("object"), dict) else (result, found)
    )


@fault("another-object-is-taken", Integration.checked, f"{_EVENT}20.returned-matches-filter")
def another_object_is_taken(plain, self, answer, kind, wanted, names):
    """An object that does not satisfy the filter is taken."""
    return plain(answer, kind, None, names)


def _asked(method, change, *breaks, name, says, kind=None, **declared):
    """Register a fault that asks the directory for something else. change: of the parameters; None asks nothing."""

    def ask(plain, self, asked, **params):
        if asked != method or (kind is not None and params.get("class_") != kind):
            return plain(asked, **params)
        changed = change(self, dict(params))
        return {"result": SUCCESS} if changed is None else plain(asked, **changed)

    fault(name, Integration.ask, *breaks, says=says, **declared)(ask)


def _filter(count):
    return lambda self, params: params | {"filter": (params.get("filter") or [])[:count] or None}


_asked("read", _filter(1), f"{_EVENT}20.filter-first", f"{_EVENT}20.returned-matches-filter",
       name="read-needs-one-expression",
       says="Only the first expression of a filter reaches the directory.")  # fmt: skip
_asked("begin", _filter(1), f"{_EVENT}21.filter-each", name="query-needs-one-expression",
       says="Only the first expression of the filter of a query reaches the directory.")  # fmt: skip
_asked("begin", _filter(0), f"{_EVENT}21.filter-each", f"{_EVENT}21.delegated", name="query-has-no-filter",
       says="The filter of a query does not reach the directory.")  # fmt: skip
_asked("begin", lambda self, params: params | {"order": None}, f"{_EVENT}21.delegated", name="query-has-no-order",
       says="The order of a query does not reach the directory.")  # fmt: skip
_asked("begin", lambda self, params: params | {"attributes": None, "order": None}, f"{_EVENT}21.delegated",
       name="query-has-every-attribute", says="A query asks for all attributes.")  # fmt: skip
_asked("end", lambda self, params: None, f"{_EVENT}23.delegated", name="query-is-not-ended",
       says="The end of a query does not reach the directory.")  # fmt: skip
_asked("read", lambda self, params: params | {"attributes": None}, f"{_START}read-enterprise", kind="enterprise",
       name="enterprise-is-read-whole", says="All attributes of the enterprise are read.")  # fmt: skip
_asked("read", lambda self, params: params | {"filter": None}, f"{_START}read-site", f"{_START}for-each-site",
       kind="site", name="first-site-is-read", says="The first site is read, whatever its identifier.")  # fmt: skip


def _last_left_out(self, params):
    given = dict(params["object"])
    if len(given) > 1:
        given.popitem()
    return params | {"object": given}


_asked("create", _last_left_out, f"{_EVENT}18.created", name="creation-leaves-the-last-attribute-out",
       first_seen_as=("MQDMPR-3.1.1.6.security",),
       because="What is left out is an attribute of an object of some class.",
       says="The last of several attributes of a new object does not reach the directory.")  # fmt: skip
_asked("write", _last_left_out, f"{_EVENT}24.written", name="write-leaves-the-last-attribute-out",
       says="The last of several attributes that are written does not reach the directory.")  # fmt: skip


@fault("creation-has-every-attribute", Integration.create, f"{_EVENT}18.created")
def creation_has_every_attribute(plain, self, kind, given, names=None):
    """A new object has all attributes, not only those that were named."""
    return plain(kind, given)


@fault("write-has-every-attribute", Integration.write, f"{_EVENT}24.written")
def write_has_every_attribute(plain, self, kind, identifier, given, names=None, path=None):
    """A write has all attributes, not only those that were named."""
    return plain(kind, identifier, given, path=path)


@fault("object-gets-another-identifier", Integration.create, f"{_EVENT}18.object-guid",
       first_seen_as=("MQDMPR-3.1.1.6.name",),
       because="An object is not found again by an identifier that it does not have.")  # fmt: skip
def object_gets_another_identifier(plain, self, kind, given, names=None):
    """A creation answers an identifier of the manager."""
    result, identifier = plain(kind, given, names)
    return result, identifier and self.manager.new_identifier()


# Change notifications.

for _operation, _demand in (
    ("QueueCreation", "18.change-notification"),
    ("QueueDeletion", "19.change-notification"),
    ("QueueUpdate", "24.queue-notification"),
    ("QueueManagerUpdate", "24.queue-manager-notification"),
):
    _asked("changed", lambda self, params, silent=_operation: None if params["operation"] == silent else params,
           _EVENT + _demand, name=f"{kebab(_operation)}-is-not-announced", says=f"Nobody is told of {_operation}.",
           )  # fmt: skip


@fault("every-creation-is-announced", Integration.create, f"{_EVENT}18.public-queue")
def every_creation_is_announced(plain, self, kind, given, names=None):
    """The creation of any object is announced as that of a queue."""
    if kind != "queue":
        self.notify("QueueCreation", None, None)
    return plain(kind, given, names)


@fault("every-deletion-is-announced", Integration.delete, f"{_EVENT}19.public-queue")
def every_deletion_is_announced(plain, self, kind, identifier, path_name=None):
    """The deletion of any object is announced as that of a queue."""
    if kind != "queue":
        self.notify("QueueDeletion", identifier, None)
    return plain(kind, identifier, path_name)


@fault("failed-write-is-announced", Integration.write, f"{_EVENT}24.announced-on-success")
def failed_write_is_announced(plain, self, kind, identifier, given, names=None, path=None):
    """A write that the directory refuses is announced."""
    result = plain(kind, identifier, given, names, path)
    if result not in (SUCCESS, NOT_CONNECTED) and kind == "queue":
        self.notify("QueueUpdate", identifier, path)
    return result


# Initialization.


@fault("start-does-not-initialize", Integration.started, f"{_START}if-directory-integrated",
       f"{_START}read-queue-manager")  # fmt: skip
def start_does_not_initialize(plain, self):
    """A manager that starts again does not ask its directory."""
    self.initialize = lambda *, provisioning: None
    plain()
    del self.initialize


@fault("integration-ends-with-the-process", Integration.started, "MQDMPR-3.1.1.1.directory-integrated",
       first_seen_as=(f"{_START}read-queue-manager",),
       because="A manager without a directory does not read its object there.")  # fmt: skip
def integration_ends_with_the_process(plain, self):
    """A manager that starts again has no directory."""


@fault("own-attributes-end-with-the-process", Integration.change_own, "MQDMPR-3.1.1.directory-survives")
def own_attributes_end_with_the_process(plain, self, found, *, instead=False):
    """The attributes that the manager took from its directory end with the process."""
    plain(found, instead=instead)
    self.manager.store.set_text("directory_own", None)


@fault("own-attributes-are-lost-at-the-start", Integration.started, "MQDMPR-3.1.1.directory-survives")
def own_attributes_are_lost_at_the_start(plain, self):
    """A manager that starts again has the attributes of a new one."""
    plain()
    self.change_own({}, instead=True)


@fault("new-manager-needs-its-object", Integration.initialize, f"{_START}continue", f"{_START}queue-manager-not-found")
def new_manager_needs_its_object(plain, self, *, provisioning):
    """A manager that begins its life stops when the directory does not have its object."""
    if provisioning:
        self.provision()
        if self.read("queue_manager", self.own_filter())[0] == NO_OBJECT:
            return
    plain(provisioning=provisioning)


@fault("own-object-changes-nothing", Integration.take_own, f"{_START}update-queue-manager", f"{_START}synchronize",
       first_seen_as=("MQDMPR-3.1.1.1.create-time",),
       because="What is not taken is one of the attributes of the manager.")  # fmt: skip
def own_object_changes_nothing(plain, self, found):
    """The manager keeps its attributes, whatever its object in the directory has."""
    plain(objects.only(found, ["site_identifier_list"]))


@fault("second-site-is-not-read", Integration.add_site, f"{_START}for-each-site")
def second_site_is_not_read(plain, self, identifier):
    """Only the first site that is found is read."""
    if not self.sites:
        plain(identifier)


@fault("absent-site-is-added", Integration.add_site, f"{_START}site-found")
def absent_site_is_added(plain, self, identifier):
    """A site that the directory does not have is a site of the manager."""
    had = len(self.sites)
    plain(identifier)
    if len(self.sites) == had:
        self.sites.append({"identifier": identifier})
        self.gates.append([])


@fault("enterprise-is-not-kept", Integration.take_enterprise, f"{_START}enterprise", f"{_START}enterprise-found")
def enterprise_is_not_kept(plain, self, result, found):
    """An enterprise that the directory has is not kept."""
    if result != SUCCESS:
        plain(result, found)


@fault("unsaid-notification-makes-no-enterprise", Integration.take_enterprise, f"{_START}enterprise-made",
       f"{_START}enterprise-attribute-not-found", f"{_START}new-enterprise")  # fmt: skip
def unsaid_notification_makes_no_enterprise(plain, self, result, found):
    """An enterprise that does not say whether it notifies counts as none."""
    if result != NO_ATTRIBUTE:
        plain(result, found)


@fault("new-enterprise-does-not-notify", Integration.take_enterprise, f"{_START}new-enterprise",
       first_seen_as=(f"{_START}enterprise-attribute-not-found",),
       because="The enterprise that is made shows which way was gone.")  # fmt: skip
def new_enterprise_does_not_notify(plain, self, result, found):
    """An enterprise that does not say whether it notifies counts as one that does not."""
    plain(result, found)
    if result == NO_ATTRIBUTE:
        self.enterprise = {NOTIFIES: False}


@fault("configured-site-is-forgotten", Integration.provision, f"{_START}site-identifier")
def configured_site_is_forgotten(plain, self):
    """A manager that begins its life does not take the site that its owner has configured."""
    self.site = None
    plain()


def _keys(name, says, *breaks, providers):
    def keys(plain, self):
        return key_list(self.manager.structures, providers)

    fault(name, Integration.keys, *(_START + each for each in breaks), says=says)(keys)


(_BASE, _ENHANCED, _AES) = PROVIDERS
_keys("aes-has-no-key", "The manager has no keys for the provider with AES.", "encryption-key-for-each-provider",
      "signing-key-for-each-provider", providers=PROVIDERS[:2])  # fmt: skip
_keys("base-key-is-long", "The keys of the base provider have 1024 bits.", "encryption-key-size", "signing-key-size",
      providers=((BASE, _BASE[1], _ENHANCED[2]), _ENHANCED, _AES))  # fmt: skip
_keys("enhanced-key-is-short", "The keys of the enhanced provider have 512 bits.", "encryption-key-size",
      "signing-key-size", providers=(_BASE, (*_ENHANCED[:2], _BASE[2]), _AES))  # fmt: skip
_keys("modulus-is-even", "The modulus of the AES key is even.", "encryption-key-valid", "signing-key-valid",
      providers=(_BASE, _ENHANCED, (*_AES[:2], base64.b64encode(bytes(127) + b"\x80").decode())))  # fmt: skip


@fault("manager-signs-with-nothing", Integration.provision, f"{_START}signing-keys",
       "MQDMPR-3.1.1.1.signing-key-list")  # fmt: skip
def manager_signs_with_nothing(plain, self):
    """A manager that begins its life has no signing keys."""
    plain()
    self.change_own({"public_signing_key_list": ""})


# Sites and gates.


@fault("second-site-is-not-updated", Integration.update_sites, "MQDMPR-3.1.6.1.for-each-site")
def second_site_is_not_updated(plain, self):
    """Only the first site is read again."""
    sites, gates = self.sites, self.gates
    self.sites, self.gates = sites[:1], gates[:1]
    plain()
    self.sites, self.gates = self.sites + sites[1:], self.gates + gates[1:]


@fault("site-stays-as-it-was", Integration.update_sites, "MQDMPR-3.1.6.1.update-site", "MQDMPR-3.1.6.1.site-found")
def site_stays_as_it_was(plain, self):
    """A site that is read again does not change."""
    before = list(self.sites)
    plain()
    self.sites = before


@fault("second-gate-is-not-updated", Integration.update_gates, "MQDMPR-3.1.6.2.for-each-gate",
       first_seen_as=("MQDMPR-3.1.6.2.for-each-site",),
       because="A gate that is not read looks like one of a site that is left out.")  # fmt: skip
def second_gate_is_not_updated(plain, self):
    """Only the first gate of each site is read again."""
    gates = self.gates
    self.gates = [each[:1] for each in gates]
    plain()
    self.gates = [changed + each[1:] for changed, each in zip(self.gates, gates, strict=True)]


@fault("gates-of-one-site-are-updated", Integration.update_gates, "MQDMPR-3.1.6.2.for-each-site")
def gates_of_one_site_are_updated(plain, self):
    """Only the gates of the first site are read again."""
    gates = self.gates
    self.gates = gates[:1]
    plain()
    self.gates = self.gates + gates[1:]


@fault("gate-stays-as-it-was", Integration.update_gates, "MQDMPR-3.1.6.2.update-gate", "MQDMPR-3.1.6.2.gate-found")
def gate_stays_as_it_was(plain, self):
    """A gate that is read again does not change."""
    before = [list(each) for each in self.gates]
    plain()
    self.gates = before


# Public queues.

_MADE, _GONE, _OPENED = f"{_EVENT}3.", f"{_EVENT}4.", f"{_EVENT}5."


@fault("public-queue-is-not-published", Integration.publish, "MQDMPR-3.1.1.2.queue-type-public",
       f"{_MADE}directory-object",
       f"{_MADE}directory-object-created")  # fmt: skip
def public_queue_is_not_published(plain, self, path, properties):
    """A public queue does not come into the directory."""


@fault("public-queue-has-its-own-identifier", Integration.publish, f"{_MADE}directory-identifier",
       f"{_MADE}identifier-set",
       first_seen_as=(f"{_EVENT}20.offline-queue-returned",),
       because="A read while offline shows the identifier that the queue has.")  # fmt: skip
def public_queue_has_its_own_identifier(plain, self, path, properties):
    """A public queue has an identifier of the manager, not that of the directory."""
    own = properties["PROPID_Q_INSTANCE"]
    plain(path, properties)
    properties["PROPID_Q_INSTANCE"] = own


@fault(
    "public-queue-has-no-paths", Integration.publish, f"{_MADE}directory-paths",
    first_seen_as=("MQDMPR-3.1.7.1.20.offline-queue-returned",),
    because="the paths of a queue show where a manager without connection reads it, and it reads its own queue",
)  # fmt: skip
def public_queue_has_no_paths(plain, self, path, properties):
    """A public queue does not take its paths from the directory."""
    plain(path, properties)
    properties.pop("full_path", None), properties.pop("directory_path", None)


@fault("refused-public-queue-is-made", Integration.publish, f"{_MADE}directory-failure")
def refused_public_queue_is_made(plain, self, path, properties):
    """A public queue that the directory refuses is created."""
    try:
        plain(path, properties)
    except MqError:
        return


@fault("refused-public-queue-stays", Queues.create, f"{_MADE}directory-failure-ends")
def refused_public_queue_stays(plain, self, path_name, given):
    """A public queue that the directory refuses is here, though its creation fails."""
    try:
        return plain(path_name, given)
    except MqError:
        client, self.manager.integration.client = self.manager.integration.client, None
        with suppress(MqError):
            plain(path_name, given)
        self.manager.integration.client = client
        raise


@fault("deleted-queue-stays-published", Integration.withdraw, f"{_GONE}directory-object",
       f"{_GONE}directory-object-deleted")  # fmt: skip
def deleted_queue_stays_published(plain, self, queue):
    """A public queue that is deleted stays in the directory."""


@fault("refused-deletion-succeeds", Integration.withdraw, f"{_GONE}directory-failure",
       f"{_GONE}directory-failure-returned")  # fmt: skip
def refused_deletion_succeeds(plain, self, queue):
    """A deletion that the directory refuses succeeds."""
    try:
        plain(queue)
    except MqError:
        return


@fault("properties-stay-here", Integration.write_queue, "MQDMPR-3.1.1.2.public-attributes-in-directory",
       "MQAC-3.10.4.1.30.generate-write-directory-arguments")  # fmt: skip
def properties_stay_here(plain, self, queue, properties):
    """Properties of a public queue are not written to the directory."""


def _second(result):
    """Return a look-up whose second read is not what the directory says: its result is this, None for no read."""

    def look_up(plain, self, identifier):
        reads, read = [], self.read

        def counted(kind, wanted, names=None, **named):
            reads.append(kind)
            if len(reads) < 2:
                return read(kind, wanted, names, **named)
            return (result or (read(kind, wanted, names, **named)[0] and SUCCESS)), {}

        self.read = counted
        try:
            plain(identifier)
        finally:
            del self.read

    return look_up


fault("second-look-need-not-find", Integration.look_up, f"{_OPENED}outgoing-not-found",
      f"{_OPENED}outgoing-not-found-code", f"{_OPENED}outgoing-not-found-ends",
      says="A public queue that the second look does not find is opened.")(_second(None))  # fmt: skip


@fault("unknown-public-name-is-not-found", Integration.look_up, f"{_OPENED}public-not-found-code")
def unknown_public_name_is_not_found(plain, self, identifier):
    """A public name that the directory does not know fails as a queue that is not there."""
    try:
        plain(identifier)
    except MqError:
        raise MqError(MQ_ERROR_QUEUE_NOT_FOUND) from None


@fault("public-queue-placed-here-is-opened", Integration.look_up, f"{_OPENED}public-local-not-found",
       f"{_OPENED}public-local-not-found-code", f"{_OPENED}public-local-not-found-ends")  # fmt: skip
def public_queue_placed_here_is_opened(plain, self, identifier):
    """A public queue that only the directory places on this computer is opened."""
    try:
        plain(identifier)
    except MqError as failure:
        if failure.status != MQ_ERROR_QUEUE_NOT_FOUND:
            raise


@fault(
    "offline-opens-any-public-name", Integration.look_up, f"{_OPENED}public-look-up-failed",
    first_seen_as=(f"{_OPENED}multiple-element-failed-element",),
    because="an element that nobody finds is opened, and the name that has it fails no more",
)  # fmt: skip
def offline_opens_any_public_name(plain, self, identifier):
    """While offline, any public name can be opened for sending."""
    if not self.offline:
        plain(identifier)


# Distribution lists, and the computer's account.

_EXPAND: Final = "MQDMPR-3.1.7.3.8."


@fault("list-in-a-list-is-left-out", Integration.resolved, f"{_EXPAND}each-element", f"{_EXPAND}list-element")
def list_in_a_list_is_left_out(plain, self, name):
    """A distribution list in a distribution list is left out."""
    return [each for each in plain(name) if not each.upper().startswith("DL=")]


@fault("last-member-is-left-out", Integration.resolved, f"{_EXPAND}list-replaced")
def last_member_is_left_out(plain, self, name):
    """The last of several members of a distribution list gets no messages."""
    members = plain(name)
    return members[:-1] if len(members) > 1 else members


@fault("unresolved-list-is-left-out", Integration.expanded, f"{_EXPAND}list-failed",
       f"{_OPENED}distribution-list-failure")  # fmt: skip
def unresolved_list_is_left_out(plain, self, names):
    """A distribution list that cannot be resolved is left out."""
    try:
        return plain(names)
    except MqError:
        return [name for name in names if not name.upper().startswith("DL=")] or ["DIRECT=OS:OTHER\\private$\\nobody"]


@fault("account-is-not-read", Integration.machine_sid, f"{_MADE}1.machine-sid-read", f"{_MADE}1.directory-mode")
def account_is_not_read(plain, self):
    """A new queue's descriptor has an entry for an account of the computer that was never read."""
    return MACHINE


@fault("unread-account-has-an-entry", Integration.machine_sid, f"{_MADE}1.machine-sid-unread")
def unread_account_has_an_entry(plain, self):
    """A new queue's descriptor has an entry for the computer, though its account cannot be read."""
    return plain() or MACHINE
