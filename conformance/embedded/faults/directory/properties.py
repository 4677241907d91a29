"""Faults of properties of directory objects (MS-MQMQ 2.3.1 to 2.3.10)."""

from __future__ import annotations

import uuid
from typing import Final

from conformance.embedded.directory_objects import SERVICES
from conformance.embedded.directory_properties import DirectoryProperties
from conformance.embedded.entities import MqError
from conformance.embedded.faults.base import fault
from conformance.embedded.management import variant_type
from conformance.spec.constants.hresults import MQ_ERROR_ILLEGAL_PROPID
from conformance.spec.constants.properties import PROPERTIES

_VALUES: Final = "MQMQ-"


def _word(name):
    return name.lower().replace("_", "-")


def _id(name, of=None):
    """Return the requirement of a property, or another of its section."""
    return f"{_VALUES}{PROPERTIES[name].section}.{of or _word(name)}"


# Another variant type, another number, or none.

for _name, _like in (
    ("PROPID_Q_HASHKEY", "PROPID_S_INTERVAL1"),
    ("PROPID_Q_NAME_SUFFIX", "PROPID_Q_SECURITY"),
    ("PROPID_QM_FOREIGN", "PROPID_QM_OS"),
    ("PROPID_QM_CREATE_TIME", "PROPID_QM_OS"),
    ("PROPID_QM_SITE_IDS", "PROPID_QM_SITE_ID"),
    ("PROPID_S_INTERVAL2", "PROPID_QM_OS"),
    ("PROPID_S_NT4_STUB", "PROPID_S_FOREIGN"),
    ("PROPID_CN_PROTOCOLID", "PROPID_QM_OS"),
    ("PROPID_E_VERSION", "PROPID_E_LONG_LIVE"),
    ("PROPID_U_SID", "PROPID_CN_NAME"),
    ("PROPID_L_ACTUAL_COST", "PROPID_QM_CREATE_TIME"),
    ("PROPID_SET_NT4", "PROPID_S_NT4_STUB"),
    ("PROPID_COM_SID", "PROPID_CN_NAME"),
    ("PROPID_MQU_SIGN_CERT", "PROPID_QM_ENCRYPTION_PK"),
):

    def _variant(plain, self, name, value, of=_name, like=_like):
        told = plain(name, value)
        return told | {"vt": variant_type(like)} if name == of and value is not None else told

    fault(f"{_name.lower().replace('_', '-')}-has-another-type", DirectoryProperties.variant, _id(_name),
          says=f"{_name} has the variant type of {_like}.")(_variant)  # fmt: skip


def _all(names):
    return tuple(f"PROPID_{each}" for each in names.split())


def _typed(named, names, like, says):
    """Register a fault: several properties have the variant type of another one."""

    def variant(plain, self, name, value):
        told = plain(name, value)
        return told | {"vt": variant_type(like)} if name in _all(names) and value is not None else told

    fault(named, DirectoryProperties.variant, *map(_id, _all(names)[:5]), says=says)(variant)


for _named, _names, _like, _says in (
    ("sequence-numbers-are-texts", "Q_SEQNUM QM_SEQNUM CN_SEQNUM E_SEQNUM U_SEQNUM L_SEQNUM", "PROPID_CN_NAME",
     "Sequence numbers of objects have the type of texts."),
    ("certificates-are-texts", "U_SIGN_CERT COM_SIGN_CERT", "PROPID_CN_NAME", "Certificates have the type of texts."),
    ("identifiers-of-accounts-are-texts", "MQU_SID", "PROPID_CN_NAME", "PROPID_MQU_SID has the type of texts."),
    ("services-of-managers-are-long", "QM_SERVICE_ROUTING QM_SERVICE_DSSERVER QM_SERVICE_DEPCLIENTS"
     " QM_GROUP_IN_CLUSTER", "PROPID_QM_OS", "Flags of a manager's services have 32 bits."),
    ("services-of-settings-are-long", "SET_SERVICE_ROUTING SET_SERVICE_DSSERVER SET_SERVICE_DEPCLIENTS",
     "PROPID_QM_OS", "Flags of services of the settings have 32 bits."),
    ("services-are-short", "QM_SERVICE SET_SERVICE SET_OLDSERVICE E_NAMESTYLE", "PROPID_S_NT4_STUB",
     "The services of managers, and the style of names, have 16 bits."),
    ("numbers-are-signed", "QM_QUOTA QM_HASHKEY QM_OS COM_ACCOUNT_CONTROL", "PROPID_QM_CREATE_TIME",
     "Numbers of managers and computers have a sign."),
    ("change-of-a-manager-is-unsigned", "QM_MODIFY_TIME", "PROPID_QM_OS", "PROPID_QM_MODIFY_TIME has no sign."),
    ("lists-are-single", "QM_CNS L_GATES", "PROPID_QM_SITE_ID", "Lists of networks and of gates have no vector."),
):  # fmt: skip
    _typed(_named, _names, _like, _says)


def _unnumbered(named, names, says):
    """Register a fault: several properties are not known by their numbers."""

    def row(plain, self, kind, number):
        if number in [PROPERTIES[each].value for each in _all(names)]:
            raise MqError(MQ_ERROR_ILLEGAL_PROPID)
        return plain(kind, number)

    fault(named, DirectoryProperties.row, *map(_id, _all(names)[:5]), says=says)(row)


for _named, _names, _says in (
    ("partitions-are-unknown", "Q_PARTITIONID QM_PARTITIONID CN_PARTITIONID E_PARTITIONID U_PARTITIONID L_PARTITIONID"
     " SET_PARTITIONID", "The partition of an object is no property."),
    ("identifiers-are-unknown", "QM_MACHINE_ID CN_GUID E_ID U_ID L_ID MQU_ID COM_ID", "Identifiers are no properties."),
    ("digests-are-unknown", "U_DIGEST MQU_DIGEST COM_DIGEST", "Digests of certificates are no properties."),
    ("name-of-settings-is-unknown", "SET_NAME", "PROPID_SET_NAME is no property."),
):  # fmt: skip
    _unnumbered(_named, _names, _says)


def _valueless(named, names, says):
    """Register a fault: several properties have no value."""

    def value(plain, self, kind, name, source, found):
        return None if name in _all(names) else plain(kind, name, source, found)

    fault(named, DirectoryProperties.value, *map(_id, _all(names)[:5]), says=says)(value)


for _named, _names, _says in (
    ("descriptors-have-no-value", "QM_OBJ_SECURITY QM_SECURITY Q_SECURITY S_SECURITY CN_SECURITY E_SECURITY",
     "Security descriptors of objects have no value."),
    ("full-paths-have-no-value", "QM_FULL_PATH L_FULL_PATH SET_FULL_PATH COM_FULL_PATH", "Full paths have no value."),
    ("names-have-no-value", "QM_PATHNAME CN_NAME E_NAME E_PECNAME COM_SAM_ACCOUNT", "Names of objects have no value."),
):  # fmt: skip
    _valueless(_named, _names, _says)


def _in_place_of(name, source, *breaks, says, named):
    """Register a fault: a property shows another attribute, or nothing."""

    def value(plain, self, kind, asked, at, found):
        return plain(kind, asked, source if asked == name else at, found)

    fault(named, DirectoryProperties.value, *breaks, says=says)(value)


for _name, _source, _says in (
    ("PROPID_Q_OBJ_SECURITY", "-", "has no value"),
    ("PROPID_Q_LABEL_HASHKEY", "hash_key", "is that of the name"),
    ("PROPID_Q_FULL_PATH", "directory_path", "is an LDAP URL"),
    ("PROPID_QM_INFRS", "out_routing_server_identifier_list", "has the outgoing servers"),
    ("PROPID_QM_OUTFRS", "in_routing_server_identifier_list", "has the incoming servers"),
    ("PROPID_QM_JOURNAL_QUOTA", "queue_manager_quota", "is that of all messages"),
    ("PROPID_QM_ENCRYPT_PKS", "public_signing_key_list", "has the signing keys"),
    ("PROPID_QM_PATHNAME_DNS", "computer_name", "is the NetBIOS name"),
    ("PROPID_S_INTERVAL1", "inter_site_replication_interval", "is that between sites"),
    ("PROPID_S_GATES", "-", "has no value"),
    ("PROPID_S_FULL_NAME", "name", "is the plain name"),
    ("PROPID_E_LONG_LIVE", "-", "has no value"),
    ("PROPID_E_CSP_NAME", "name", "is the name of the enterprise"),
    ("PROPID_L_NEIGHBOR2", "site1_identifier", "is the first site"),
    ("PROPID_L_COST", "-", "has no value"),
    ("PROPID_L_DESCRIPTION", "full_path", "is the distinguished name"),
    ("PROPID_SET_QM_ID", "identifier", "is the identifier of the settings"),
    ("PROPID_SET_SITENAME", "full_path", "is the distinguished name"),
    ("PROPID_SET_OLDSERVICE", "service", "is the service of today"),
    ("PROPID_COM_DNS_HOSTNAME", "sam_account", "is the name of the account"),
    ("PROPID_MQU_SECURITY", "-", "has no value"),
    ("PROPID_QM_SIGN_PKS", "public_encryption_key_list", "has the keys of encryption"),
    ("PROPID_L_NEIGHBOR1", "site2_identifier", "is the second site"),
):
    _in_place_of(_name, _source, _id(_name), says=f"{_name} {_says}.", named=f"{_word(_name)}-is-another")


# Values.


def _shows(name, wrong, *words, named, says):
    """Register a fault of the numbers of a property. wrong: those shown in place of others; words: ends of `breaks`."""

    def variant(plain, self, asked, value):
        return plain(asked, wrong.get(value, value) if asked == name else value)

    fault(named, DirectoryProperties.variant, *(_id(name, word) for word in words), says=says)(variant)


_FLAG: Final = "value-no value-yes"
_SERVICE: Final = "service-none service-srv service-bsc service-psc service-pec"

# Each value is shown as the next of these, the last one as the first; words of the demands that the values have.
for _numbers, _rows in (
    ((0, 1), {
        "PROPID_Q_JOURNAL": "mq-journal-none mq-journal",
        "PROPID_Q_AUTHENTICATE": "mq-authenticate-none mq-authenticate",
        "PROPID_Q_TRANSACTION": "mq-transactional-none mq-transactional",
        "PROPID_QM_FOREIGN": "msmq-machine foreign-machine",
        "PROPID_QM_SERVICE_ROUTING": _FLAG,
        "PROPID_QM_SERVICE_DSSERVER": "propid-qm-service-dsserver",
        "PROPID_QM_SERVICE_DEPCLIENTS": "propid-qm-service-depclients",
        "PROPID_QM_GROUP_IN_CLUSTER": "msmq-group-not-in-cluster msmq-group-in-cluster",
        "PROPID_S_NT4_STUB": _FLAG,
        "PROPID_S_FOREIGN": _FLAG,
        "PROPID_SET_NT4": _FLAG,
        "PROPID_SET_SERVICE_ROUTING": _FLAG,
        "PROPID_SET_SERVICE_DSSERVER": _FLAG,
        "PROPID_SET_SERVICE_DEPCLIENTS": _FLAG,
    }),
    ((0, 1, 2), {
        "PROPID_Q_PRIV_LEVEL": "mq-priv-level-none mq-priv-level-optional mq-priv-level-body",
        "PROPID_E_NAMESTYLE": "weakened-security-off weakened-security-on",
    }),
    ((0, 0x100, 0x200, 0x300, 0x400, 0x500), {
        "PROPID_QM_OS": "msmq-os-none msmq-os-foreign msmq-os-95 msmq-os-ntw msmq-os-nts",
    }),
    ((1, 3, 5), {"PROPID_CN_PROTOCOLID": "ip-address-type ipx-address-type foreign-address-type"}),
    ((*SERVICES, 0x10), {"PROPID_QM_SERVICE": _SERVICE}),
    (SERVICES, {
        "PROPID_SET_SERVICE": _SERVICE,
        "PROPID_SET_OLDSERVICE": _SERVICE,
    }),
):  # fmt: skip
    for _name, _words in _rows.items():
        _shows(_name, dict(zip(_numbers, (*_numbers[1:], _numbers[0]), strict=True)), *_words.split(),
               named=f"{_word(_name)}-is-the-next",
               says=f"{_name} has for each value the next one.")  # fmt: skip

_shows("PROPID_QM_OS", {0x400: 0x500, 0x500: 0x400}, "msmq-os-nts", "msmq-os-nte",
       named="enterprise-server-is-a-server", says="Both kinds of servers of PROPID_QM_OS change places.")  # fmt: skip

# Numbers of no value.

_shows("PROPID_QM_OS", {code << 8: code for code in range(1, 6)}, "values",
       named="systems-are-counted", says="PROPID_QM_OS counts the operating systems from 1 to 5.")  # fmt: skip
_shows("PROPID_CN_PROTOCOLID", {1: 0, 3: 1, 5: 2}, "values", "ipx-address-type",
       named="networks-are-counted", says="PROPID_CN_PROTOCOLID counts the protocols from 0.")  # fmt: skip
_shows("PROPID_Q_PRIV_LEVEL", {code: 1 << code for code in range(3)}, "values", "mq-priv-level-none",
       "mq-priv-level-optional",
       named="privacy-levels-are-bits", says="PROPID_Q_PRIV_LEVEL has a bit for each level.")  # fmt: skip
for _name in ("PROPID_SET_SERVICE", "PROPID_SET_OLDSERVICE"):
    _shows(_name, {code: code | 0x20 for code in SERVICES}, "values",
           named=f"{_word(_name)}-has-a-bit",
           says=f"{_name} has another bit, whatever the service is.")  # fmt: skip


def _letters(of, *names):
    """Register a fault: flags of a class are letters."""

    def variant(plain, self, asked, value):
        return plain(asked, {0: ord("N"), 1: ord("Y")}.get(value, value) if asked in names else value)

    fault(f"flags-of-{of}-are-letters", DirectoryProperties.variant, *(_id(each, "values") for each in names),
          says=f"Flags of {of} are the codes of N and Y.")(variant)  # fmt: skip


_letters("queues", "PROPID_Q_JOURNAL", "PROPID_Q_AUTHENTICATE", "PROPID_Q_TRANSACTION")
_letters("managers", "PROPID_QM_FOREIGN", "PROPID_QM_SERVICE_ROUTING", "PROPID_QM_GROUP_IN_CLUSTER")
_letters("sites", "PROPID_S_NT4_STUB", "PROPID_S_FOREIGN")
_letters("enterprises", "PROPID_E_NAMESTYLE")
_letters("settings", "PROPID_SET_NT4", "PROPID_SET_SERVICE_ROUTING", "PROPID_SET_SERVICE_DSSERVER",
         "PROPID_SET_SERVICE_DEPCLIENTS")  # fmt: skip


@fault("digests-are-in-network-order", DirectoryProperties.shown, "MQMQ-2.3.6.5.md5", "MQMQ-2.3.9.3.md5",
       "MQMQ-2.3.10.7.md5", "MQMQ-2.3.6.5.propid-u-digest", "MQMQ-2.3.9.3.propid-mqu-digest")  # fmt: skip
def digests_are_in_network_order(plain, self, name, type_, value):
    """The bytes of a digest are those of its text, from the left."""
    told = plain(name, type_, value)
    return [str(uuid.UUID(bytes=uuid.UUID(each).bytes_le)) for each in told] if type_ == "digests" else told


@fault("remote-access-is-no-service", DirectoryProperties.service, _id("PROPID_QM_SERVICE"),
       "MQMQ-2.3.2.9.service-ras")  # fmt: skip
def remote_access_is_no_service(plain, self, found, argument):
    """PROPID_QM_SERVICE does not tell a server of remote access."""
    return plain(found | {"remote_access_server": False}, argument)


@fault("settings-have-another-name", DirectoryProperties.constant, "MQMQ-2.3.8.1.constant",
       "MQMQ-2.3.8.1.propid-set-name")  # fmt: skip
def settings_have_another_name(plain, self, found, argument):
    """PROPID_SET_NAME is another text."""
    told = plain(found, argument)
    return told if isinstance(told, int) else "msmq"


@fault("last-digest-is-left-out", DirectoryProperties.shown, "MQMQ-2.3.6.5.propid-u-digest")
def last_digest_is_left_out(plain, self, name, type_, value):
    """The last of several digests is not shown."""
    told = plain(name, type_, value)
    return told[:-1] if type_ == "digests" and len(told) > 1 else told


@fault("second-site-is-the-site", DirectoryProperties.first, "MQMQ-2.3.2.1.propid-qm-site-id")
def second_site_is_the_site(plain, self, found, argument):
    """PROPID_QM_SITE_ID is the last site of a computer."""
    return plain(found | {argument: found.get(argument, [])[-1:]}, argument)


@fault("link-costs-a-million", DirectoryProperties.attribute, "MQMQ-2.3.7.12.range",
       "MQDMPR-3.1.1.8.actual-cost-range")  # fmt: skip
def link_costs_a_million(plain, self, kind, name, source, variant):
    """A link can be given a cost of more than 999999."""
    if source == "actual_cost" and isinstance(variant.get("value"), int) and variant["value"] > 999_999:
        return {source: variant["value"]}
    return plain(kind, name, source, variant)


@fault("link-costs-nothing", DirectoryProperties.attribute, "MQMQ-2.3.7.12.range")
def link_costs_nothing(plain, self, kind, name, source, variant):
    """A link can be given a cost of 0."""
    return {source: 1} if source == "actual_cost" and variant.get("value") == 0 else plain(kind, name, source, variant)


@fault("default-of-security-is-no-value", DirectoryProperties.taken,
       _id("PROPID_E_NAMESTYLE", "weakened-security-default"))  # fmt: skip
def default_of_security_is_no_value(plain, self, name, type_, value):
    """PROPID_E_NAMESTYLE cannot be set to the default of the implementation."""
    return None if name == "PROPID_E_NAMESTYLE" and value == 2 else plain(name, type_, value)
