"""Faults of the directory's events, of what is known offline, and of the start (MS-MQDMPR 3.1.3, 3.1.6, 3.1.7.1.18)."""

from __future__ import annotations

import base64

from conformance.embedded.directory_client import END, FAILED, NO_OBJECT, NOT_CONNECTED, SUCCESS, DirectoryClient
from conformance.embedded.directory_keys import PROVIDERS, key_list
from conformance.embedded.faults.base import also, fault
from conformance.embedded.integration import GATES_MS, SITES_MS, Integration

_EVENT, _START, _RESULT = "MQDMPR-3.1.7.1.", "MQDMPR-3.1.3.", "MQDMPR-3.1.1.17.directory-"


# Events.


@fault("read-without-filter-gives-the-last", Integration.ask, f"{_EVENT}20.null-filter-first")
def read_without_filter_gives_the_last(plain, self, method, **params):
    """A read without a filter gives the last object of the class."""
    if method != "read" or params.get("filter"):
        return plain(method, **params)
    found = plain(method, **params)
    query = plain("begin", class_=params["class_"], filter=None, attributes=params.get("attributes")).get("query", "")
    while (following := plain("next", query=query))["result"] == SUCCESS:
        found = following
    plain("end", query=query)
    return found


@fault("query-without-filter-gives-one", Integration.next, f"{_EVENT}21.null-filter-all")
def query_without_filter_gives_one(plain, self, query):
    """A query without a filter ends behind its first object."""
    seen = self.__dict__.setdefault("seen_of", set())
    if (query, "bare") in seen and query in seen:
        return END, {}
    seen.add(query)
    return plain(query)


@also("query-without-filter-gives-one", Integration.begin)
def _begins_bare(plain, self, kind, wanted, names, order):
    result, query = plain(kind, wanted, names, order)
    if not wanted:
        self.__dict__.setdefault("seen_of", set()).add((query, "bare"))
    return result, query


@fault("error-is-an-absent-object", DirectoryClient.ask, f"{_RESULT}generic-error")
def error_is_an_absent_object(plain, self, method, params):
    """GenericError of the directory is told as ObjectNotFound."""
    answer = plain(method, params)
    return answer | {"result": NO_OBJECT} if answer["result"] == FAILED else answer


@fault("written-object-is-an-error", Integration.write, f"{_RESULT}success", f"{_EVENT}24.directory-status",
       f"{_EVENT}24.reached")  # fmt: skip
def written_object_is_an_error(plain, self, kind, identifier, given, names=None, path=None):
    """A write that the directory has done is told as GenericError."""
    result = plain(kind, identifier, given, names, path)
    return FAILED if result == SUCCESS else result


@fault("creation-that-reaches-nobody-succeeds", Integration.create, f"{_EVENT}18.not-connected",
       f"{_RESULT}not-connected")  # fmt: skip
def creation_that_reaches_nobody_succeeds(plain, self, kind, given, names=None):
    """A creation that does not reach the directory succeeds."""
    result, identifier = plain(kind, given, names)
    return (SUCCESS, self.manager.new_identifier()) if result == NOT_CONNECTED else (result, identifier)


def _succeeds():
    def succeeds(plain, self, *args, **named):
        result = plain(*args, **named)
        return SUCCESS if result == NOT_CONNECTED else result

    return succeeds


fault("deletion-that-reaches-nobody-succeeds", Integration.delete, f"{_EVENT}19.not-connected",
      f"{_RESULT}not-connected",
      says="A deletion that does not reach the directory succeeds.")(_succeeds())  # fmt: skip
fault("write-that-reaches-nobody-succeeds", Integration.write, f"{_EVENT}24.not-connected",
      f"{_RESULT}not-connected",
      says="A write that does not reach the directory succeeds.")(_succeeds())  # fmt: skip


@fault("deletion-stays-here", Integration.delete, f"{_EVENT}19.deleted")
def deletion_stays_here(plain, self, kind, identifier, path_name=None):
    """A deletion succeeds, and the object stays in the directory."""
    return SUCCESS if self.read(kind, [{"attribute": "identifier", "operator": "EQUALS", "value": identifier}]
                                )[0] == SUCCESS else plain(kind, identifier, path_name)  # fmt: skip


def _announces(name, operation, *demands, says):
    def write(plain, self, kind, identifier, given, names=None, path=None):
        result = plain(kind, identifier, given, names, path)
        if result == SUCCESS and kind not in ("queue", "queue_manager"):
            self.notify(operation, identifier, None)
        return result

    fault(name, Integration.write, *(f"{_EVENT}24.{each}" for each in demands), says=says)(write)


_announces("every-write-is-of-a-queue", "QueueUpdate", "public-queue",
           says="A write of any object is told as a queue's.")  # fmt: skip
_announces("every-write-is-of-a-manager", "QueueManagerUpdate", "queue-manager-object", "public-queue",
           says="A write of any object is told as a manager's.")  # fmt: skip


# Offline.


def _unread(name, kind, result, *demands, says):
    def read_own(plain, self, of, wanted, names):
        answer = plain(of, wanted, names)
        return (result, {}) if of == kind and answer[0] == SUCCESS else answer

    fault(name, Integration.read_own, *(f"{_EVENT}20.{each}" for each in demands), says=says)(read_own)


_unread("offline-own-object-is-not-connected", "queue_manager", NOT_CONNECTED, "offline-own-object",
        "offline-own-status", says="While offline, the manager's own object cannot be read.")  # fmt: skip
_unread("offline-known-queue-is-not-found", "queue", NO_OBJECT, "offline-queue", "offline-queue-status",
        says="While offline, no queue of the manager can be read.")  # fmt: skip


@fault("offline-unknown-queue-asks", Integration.read_own, f"{_EVENT}20.offline-queue-not-found-ends",
       f"{_EVENT}20.offline")  # fmt: skip
def offline_unknown_queue_asks(plain, self, kind, wanted, names):
    """While offline, a read of a queue that is not here asks the directory."""
    answer = plain(kind, wanted, names)
    return self.read(kind, wanted, names, force=True) if kind == "queue" and answer[0] == NO_OBJECT else answer


@fault("offline-queue-is-the-last", Integration.queues, f"{_EVENT}20.offline-queue-filter", f"{_EVENT}20.filter-first",
       f"{_EVENT}20.offline-queue-returned")  # fmt: skip
def offline_queue_is_the_last(plain, self):
    """While offline, the last queue that fits the filter is read."""
    return reversed(list(plain())) if self.offline else plain()


@fault("unread-queue-loses-its-label", Integration.check_online, f"{_EVENT}25.queue-read")
def unread_queue_loses_its_label(plain, self):
    """When the directory is back, a public queue that it does not have loses its label."""
    read = self.read

    def emptied(kind, wanted, names=None, **named):
        answer = read(kind, wanted, names, **named)
        return (SUCCESS, {"label": ""}) if kind == "queue" and answer[0] != SUCCESS else answer

    self.read = emptied
    try:
        plain()
    finally:
        del self.read


@fault("offline-own-object-is-empty", Integration.read_own, f"{_EVENT}20.offline-own-returned")
def offline_own_object_is_empty(plain, self, kind, wanted, names):
    """While offline, the manager's own object has no attributes."""
    result, found = plain(kind, wanted, names)
    return result, {} if kind == "queue_manager" else found


@fault("read-that-reaches-nobody-succeeds", Integration.read, f"{_EVENT}20.not-connected",
       f"{_EVENT}20.not-connected-status", f"{_RESULT}not-connected")  # fmt: skip
def read_that_reaches_nobody_succeeds(plain, self, kind, wanted, names=None, *, force=False):
    """A read that does not reach the directory finds an object without attributes."""
    was = self.offline
    answer = plain(kind, wanted, names, force=force)
    return (SUCCESS, {}) if answer[0] == NOT_CONNECTED and not was and not force else answer


@fault("directory-is-looked-for-in-half-a-minute", Integration.start_timer, "MQDMPR-3.1.2.5.one-minute")
def directory_is_looked_for_in_half_a_minute(plain, self, name, duration_ms, action):
    """The manager looks for its directory after half a minute."""
    plain(name, duration_ms // (2 if name == "online" else 1), action)


# The start, and what comes again.


@fault("sites-are-not-read-again", Integration.update_sites, "MQDMPR-3.1.6.1.read-site")
def sites_are_not_read_again(plain, self):
    """The sites are not read again."""
    self.start_timer("sites", SITES_MS, self.update_sites)


@fault("gates-are-not-read-again", Integration.update_gates, "MQDMPR-3.1.6.2.read-gate",
       "MQDMPR-3.1.6.2.for-each-gate")  # fmt: skip
def gates_are_not_read_again(plain, self):
    """The gates are not read again."""
    self.start_timer("gates", GATES_MS, self.update_gates)


@fault("manager-says-that-it-has-no-directory", Integration.seen, "MQDMPR-3.1.1.1.directory-integrated")
def manager_says_that_it_has_no_directory(plain, self):
    """A manager with a directory says that it has none."""
    return plain() | {"integrated": False}


@fault("manager-says-that-it-is-offline", Integration.seen, "MQDMPR-3.1.1.1.directory-offline",
       first_seen_as=tuple(f"{_EVENT}{number}.reached" for number in ("18", "19", "20", "24")),
       because="Whether an event reached the directory shows in what the manager says.")  # fmt: skip
def manager_says_that_it_is_offline(plain, self):
    """A manager with a directory says that it is offline."""
    told = plain()
    return told | {"offline": told["offline"] or told["integrated"]}


@fault("manager-without-directory-is-offline", Integration.seen,
       "MQDMPR-3.1.1.1.directory-offline-without-directory")  # fmt: skip
def manager_without_directory_is_offline(plain, self):
    """A manager without a directory says that it is offline."""
    told = plain()
    return told | {"offline": told["offline"] or not told["integrated"]}


@fault("site-is-not-added", Integration.add_site, f"{_START}add-site", f"{_START}site-found")
def site_is_not_added(plain, self, identifier):
    """A site that is read is no site of the manager."""
    plain(identifier)
    self.sites, self.gates = [], []


@fault("manager-begins-anew", Integration.started, "MQDMPR-3.1.1.identifier-constant",
       "MQDMPR-3.1.1.directory-survives")  # fmt: skip
def manager_begins_anew(plain, self):
    """A manager that starts again has another identifier."""
    plain()
    self.anew = self.integrated


@also("manager-begins-anew", Integration.own)
def _own_anew(plain, self):
    return plain() | ({"identifier": self.manager.new_identifier()} if getattr(self, "anew", False) else {})


@fault("manager-encrypts-with-nothing", Integration.provision, f"{_START}encryption-keys")
def manager_encrypts_with_nothing(plain, self):
    """A manager that begins its life has no keys of encryption."""
    plain()
    self.change_own({"public_encryption_key_list": ""})


def _providers(name, says, *demands, providers):
    def keys(plain, self):
        return key_list(self.manager.structures, providers)

    fault(name, Integration.keys, *(_START + each for each in demands), says=says)(keys)


_SHORT = tuple((each.partition(" Crypto")[0], kind, key) for each, kind, key in PROVIDERS)
_providers("providers-have-short-names", "The names of providers end with their first words.",
           "encryption-key-provider-name", "signing-key-provider-name",
           providers=_SHORT)  # fmt: skip
_providers("providers-have-one-type", "Each provider is of the type PROV_RSA_FULL.",
           "encryption-key-fields", "signing-key-fields",
           providers=tuple((name, 1, key) for name, _, key in PROVIDERS))  # fmt: skip


def _signs(name, says, *demands, providers):
    def provision(plain, self):
        plain()
        self.change_own({"public_signing_key_list": key_list(self.manager.structures, providers)})

    fault(name, Integration.provision, *(_START + each for each in demands), says=says)(provision)


(_BASE, _ENHANCED, _AES) = PROVIDERS
_signs("aes-signs-nothing", "The manager has no signing key of the provider with AES.",
       "signing-key-for-each-provider", providers=PROVIDERS[:2])  # fmt: skip
_signs("signing-providers-have-short-names", "The names of providers of signing keys end with their first words.",
       "signing-key-provider-name", providers=_SHORT)  # fmt: skip
_signs("base-signing-key-is-long", "The signing key of the base provider has 1024 bits.", "signing-key-size",
       providers=((*_BASE[:2], _ENHANCED[2]), _ENHANCED, _AES))  # fmt: skip
_signs("signing-modulus-is-even", "The modulus of the signing key with AES is even.", "signing-key-valid",
       providers=(_BASE, _ENHANCED, (*_AES[:2], base64.b64encode(bytes(127) + b"\x80").decode())))  # fmt: skip
