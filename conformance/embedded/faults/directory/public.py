"""Faults of public queues, lists and accounts of a manager with a directory (MS-MQDMPR 3.1.1.2, 3.1.7.1.3 to .5)."""

from __future__ import annotations

from conformance.embedded import directory_objects as objects
from conformance.embedded.directory_client import FAILED, NOT_CONNECTED
from conformance.embedded.directory_objects import equals
from conformance.embedded.directory_properties import DirectoryProperties
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import also, fault
from conformance.embedded.integration import Integration, is_list
from conformance.embedded.queues import SETTABLE, Queues
from conformance.embedded.security import Security
from conformance.spec.constants.hresults import (
    MQ_ERROR_DS_ERROR,
    MQ_ERROR_ILLEGAL_PROPERTY_VALUE,
    MQ_ERROR_QUEUE_NOT_FOUND,
    MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION,
)

_QUEUE, _MADE, _GONE, _OPENED, _EXPAND = (f"MQDMPR-3.1.{each}." for each in ("1.2", "7.1.3", "7.1.4", "7.1.5", "7.3.8"))


# Their objects.


@fault("paths-change-places", Integration.publish, f"{_QUEUE}directory-path", f"{_QUEUE}full-path",
       f"{_MADE}directory-paths", first_seen_as=("MQDMPR-3.1.7.1.20.offline-queue-returned",),
       because="the paths of a queue show where a manager without connection reads it, and it reads its own queue",
       )  # fmt: skip
def paths_change_places(plain, self, path, properties):
    """A public queue takes FullPath for DirectoryPath, and the other way round."""
    plain(path, properties)
    properties |= {"full_path": properties.get("directory_path", ""), "directory_path": properties.get("full_path", "")}


@fault("unread-paths-are-made-up", Integration.publish, f"{_MADE}paths-set", f"{_MADE}full-path-empty")
def unread_paths_are_made_up(plain, self, path, properties):
    """A public queue whose object cannot be read has paths of the manager."""
    plain(path, properties)
    made = f"CN={path.partition(chr(92))[2]},CN=msmq,CN={self.manager.computer}"
    properties.setdefault("full_path", made)
    properties.setdefault("directory_path", f"LDAP://{made}")


@fault("private-queue-is-published", Queues.create, f"{_QUEUE}queue-type-private")
def private_queue_is_published(plain, self, path_name, given):
    """A private queue comes into the directory too."""
    made = plain(path_name, given)
    queue = self.find_local(made)
    if queue is not None and queue.kind == "private" and self.manager.integration.integrated:
        self.manager.integration.publish(queue.path, dict(queue.properties))
    return made


@fault("other-queue-is-private", Queues.create, f"{_MADE}public-type", f"{_MADE}skip-directory-default",
       f"{_QUEUE}queue-type-public")  # fmt: skip
def other_queue_is_private(plain, self, path_name, given):
    """A manager with a directory makes private queues alone."""
    computer, _, queue = path_name.partition("\\")
    alone = self.manager.integration.integrated and "$" not in queue
    return plain(f"{computer}\\private$\\{queue}" if alone else path_name, given)


@fault(
    "deletion-skips-the-directory", Integration.withdraw, f"{_GONE}skip-directory-default", f"{_GONE}directory-object"
)
def deletion_skips_the_directory(plain, self, queue):
    """A public queue that an application deletes leaves its object empty in the directory."""
    if self.integrated and queue.kind == "public":
        self.write("queue", queue.properties["PROPID_Q_INSTANCE"], {"label": ""})


def _published_without(attribute, *demands, says):
    def of_queue(plain, self, path, properties):
        return {name: value for name, value in plain(path, properties).items() if name != attribute}

    fault(f"queue-is-published-without-{attribute.replace('_', '-')}", Integration.of_queue, *demands, says=says)(
        of_queue
    )


_published_without("journal_quota", f"{_MADE}attribute-journal-quota",
                   says="The journal quota of a public queue stays here.")  # fmt: skip
_published_without("security", f"{_MADE}attribute-security", f"{_MADE}1.supplied-owner",
                   says="The descriptor of a public queue stays here.")  # fmt: skip


@fault("queue-has-no-dns-name", Integration.of_queue, f"{_QUEUE}qualified-pathname", f"{_QUEUE}qualified-pathname-fqdn")
def queue_has_no_dns_name(plain, self, path, properties):
    """The qualified path name of a public queue is its path name."""
    return plain(path, properties) | {"qualified_path_name": path}


# Over the end of a process.


@fault("queue-is-stored-before-its-object", Queues.create, "MQDMPR-3.1.1.identifier-constant",
       f"{_MADE}identifier-set", "MQDMPR-3.1.1.directory-survives")  # fmt: skip
def queue_is_stored_before_its_object(plain, self, path_name, given):
    """The identifier that the directory gave a queue ends with the process."""
    integration = self.manager.integration
    taken: dict[str, str] = {}
    publish = integration.publish

    def published(path, properties):
        own = properties["PROPID_Q_INSTANCE"]
        publish(path, properties)
        taken.update(own=own, given=properties["PROPID_Q_INSTANCE"])
        properties["PROPID_Q_INSTANCE"] = own

    integration.publish = published
    try:
        made = plain(path_name, given)
    finally:
        del integration.publish
    queue = self.find_local(made)
    if taken and queue is not None:
        queue.properties["PROPID_Q_INSTANCE"] = taken["given"]
        self._by_guid[taken["given"].lower()] = self._by_guid.pop(taken["own"].lower())
    return made


@fault("attributes-of-a-queue-end-with-the-process", Integration.take_queue, "MQDMPR-3.1.1.directory-survives")
def attributes_of_a_queue_end_with_the_process(plain, self, queue, found):
    """The attributes that a public queue took from the directory end with the process."""
    queue.properties |= objects.properties_of(found)


# Opened.


@fault("public-names-are-not-looked-up", Integration.look_up, f"{_OPENED}public-looked-up",
       f"{_OPENED}public-not-found", f"{_OPENED}public-object", f"{_OPENED}public-look-up-failed")  # fmt: skip
def public_names_are_not_looked_up(plain, self, identifier):
    """Any public name can be opened for sending: nobody asks the directory."""


@fault("unknown-public-name-is-opened", Integration.look_up, f"{_OPENED}public-not-found")
def unknown_public_name_is_opened(plain, self, identifier):
    """A public name that the directory does not know can be opened for sending."""
    try:
        plain(identifier)
    except MqError as failure:
        if failure.status != MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION:
            raise


def _by_label(number, demand, says):
    def look_up(plain, self, identifier):
        reads, read = [], self.read

        def asked(kind, wanted, names=None, **named):
            reads.append(kind)
            return read(kind, equals("label", identifier) if len(reads) == number else wanted, names, **named)

        self.read = asked
        try:
            plain(identifier)
        finally:
            del self.read

    fault(f"{'first' if number == 1 else 'second'}-look-is-for-a-label", Integration.look_up, *demand, says=says)(
        look_up
    )


_by_label(1, (f"{_OPENED}public-identifier", f"{_OPENED}public-object", f"{_OPENED}public-looked-up"),
          "A public queue is looked up by its label.")  # fmt: skip
_by_label(2, (f"{_OPENED}outgoing-public-identifier", f"{_OPENED}outgoing-public-found", f"{_OPENED}public-looked-up"),
          "The base priority of a public queue is looked up by its label.")  # fmt: skip


@fault("public-queue-is-shared-under-a-directory", Queues.excluded, f"{_OPENED}exclusive-then-exclusive",
       f"{_OPENED}exclusive-then-receive")  # fmt: skip
def public_queue_is_shared_under_a_directory(plain, self, queue, access, share):
    """A public queue of a manager with a directory can be read by several handles that deny it."""
    return not (queue.kind == "public" and self.manager.integration.integrated) and plain(queue, access, share)


def _refused_as(name, method, seen, told, *demands, says):
    """Register a fault: a status of a refusal is another one."""

    def refused(plain, self, *args):
        try:
            return plain(*args)
        except MqError as failure:
            raise MqError(told if failure.status == seen else failure.status) from None

    fault(name, method, *demands, says=says)(refused)


_refused_as("public-queue-placed-here-is-unsupported", Integration.look_up, MQ_ERROR_QUEUE_NOT_FOUND,
            MQ_ERROR_UNSUPPORTED_FORMATNAME_OPERATION, f"{_OPENED}public-local-not-found-code",
            f"{_OPENED}outgoing-not-found-code",
            says="A public queue that is not where it should be is refused as an unsupported name.")  # fmt: skip
_refused_as("refused-deletion-has-another-status", Integration.withdraw, MQ_ERROR_DS_ERROR, MQ_ERROR_QUEUE_NOT_FOUND,
            f"{_GONE}directory-failure-returned",
            says="A deletion that the directory refuses is one of a queue that is not there.")  # fmt: skip


@fault("look-up-that-fails-opens", Integration.look_up, f"{_OPENED}public-look-up-failed",
       f"{_OPENED}public-not-found")  # fmt: skip
def look_up_that_fails_opens(plain, self, identifier):
    """A public name can be opened if the directory has an error."""
    if self.read("queue", equals("identifier", identifier))[0] not in (FAILED, NOT_CONNECTED):
        plain(identifier)


# Values that are set.


@fault("flags-are-set-as-their-contrary", DirectoryProperties.taken, "MQMQ-2.3.2.18.propid-qm-foreign",
       "MQMQ-2.3.2.24.propid-qm-service-routing", "MQMQ-2.3.3.11.propid-s-foreign", "MQMQ-2.3.5.2.propid-e-namestyle",
       "MQMQ-2.3.8.8.propid-set-service-routing")  # fmt: skip
def flags_are_set_as_their_contrary(plain, self, name, type_, value):
    """A flag that is set in the directory becomes its contrary."""
    taken = plain(name, type_, value)
    return not taken if isinstance(taken, bool) else taken


@fault("queue-takes-any-value", DirectoryProperties.attribute, "MQMQ-2.3.1.8.label-maximum")
def queue_takes_any_value(plain, self, kind, name, source, variant):
    """A property of a queue that is set in the directory can be out of its range."""
    try:
        return plain(kind, name, source, variant)
    except MqError as failure:
        value = variant.get("value")
        if failure.status != MQ_ERROR_ILLEGAL_PROPERTY_VALUE or kind != "queue" or name not in SETTABLE:
            raise
        if not objects.fits(kind, {source: value}):
            raise
        return {source: value}


# Lists.


@fault("list-opens-its-first-member", Integration.expanded, f"{_EXPAND}list-replaced", f"{_OPENED}expanded",
       f"{_OPENED}expanded-replaces", f"{_EXPAND}joined", f"{_EXPAND}joined-status")  # fmt: skip
def list_opens_its_first_member(plain, self, names):
    """A distribution list opens the first of its members."""
    given = list(names)
    found = plain(given)
    return found[:1] if any(map(is_list, given)) else found


@fault("first-element-is-expanded-alone", Integration.expanded, f"{_EXPAND}work-list", f"{_EXPAND}each-element",
       f"{_EXPAND}list-element")  # fmt: skip
def first_element_is_expanded_alone(plain, self, names):
    """The first of several elements is opened, and no other one."""
    return plain(list(names)[:1])


@fault("list-is-not-resolved", Integration.resolved, f"{_EXPAND}list-resolved", f"{_EXPAND}list-replaced",
       f"{_EXPAND}list-element", f"{_OPENED}expanded")  # fmt: skip
def list_is_not_resolved(plain, self, name):
    """A distribution list opens a queue of its identifier, and nobody asks for its members."""
    return [f"PUBLIC={name[3:]}"]


# The computer's account.


@fault("account-is-of-another-computer", Integration.machine_sid, f"{_MADE}1.machine-sid-set")
def account_is_of_another_computer(plain, self):
    """A new queue's descriptor has an entry for the account behind that of the computer."""
    sid = plain()
    head, _, last = (sid or "").rpartition("-")
    return sid and f"{head}-{int(last) + 1}"


@fault("account-stays-without-a-directory", Integration.machine_sid, f"{_MADE}1.directory-mode")
def account_stays_without_a_directory(plain, self):
    """A manager whose directory is taken away has the account that it read there."""
    self.manager.security.account = found = plain()
    return found


@also("account-stays-without-a-directory", Security.default)
def _keeps_account(plain, self, creator, supplied):
    if not self.manager.integration.integrated:
        self.machine = getattr(self, "account", None) or self.machine
    return plain(creator, supplied)
