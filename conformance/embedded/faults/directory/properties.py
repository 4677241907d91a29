"""Faults of properties of directory objects (MS-MQMQ 2.3.1 to 2.3.10)."""

from __future__ import annotations

from typing import Final

from conformance.embedded.directory_properties import CODES, DirectoryProperties
from conformance.embedded.faults.base import fault
from conformance.embedded.management import variant_type
from conformance.spec.constants.properties import PROPERTIES

_VALUES: Final = "MQMQ-"


def _id(name, of=None):
    """Return the requirement of a property, or another of its section."""
    word = of or name.lower().replace("_", "-")
    return f"{_VALUES}{PROPERTIES[name].section}.{word}"


# Another variant type, and another number.

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
):
    _in_place_of(
        _name, _source, _id(_name), says=f"{_name} {_says}.", named=f"{_name.lower().replace('_', '-')}-is-another"
    )


# Values.


def _shows(name, wrong, *breaks, named, says):
    """Register a fault of the values of a property. wrong: those shown in place of others."""

    def shown(plain, self, asked, type_, value):
        told = plain(asked, type_, value)
        return wrong.get(told, told) if asked == name else told

    fault(named, DirectoryProperties.shown, *breaks, says=says)(shown)


_shows("PROPID_QM_OS", {0x400: 0x500, 0x500: 0x400}, _id("PROPID_QM_OS", "msmq-os-nts"),
       _id("PROPID_QM_OS", "msmq-os-nte"),
       named="enterprise-server-is-a-server", says="Both kinds of servers of PROPID_QM_OS change places.")  # fmt: skip
_shows("PROPID_QM_OS", {0: 0x100}, _id("PROPID_QM_OS", "msmq-os-none"),
       named="unknown-system-is-foreign", says="An unknown operating system is shown as a foreign one.")  # fmt: skip
_shows("PROPID_CN_PROTOCOLID", {3: 2}, _id("PROPID_CN_PROTOCOLID", "ipx-address-type"),
       _id("PROPID_CN_PROTOCOLID", "values"), named="ipx-is-two", says="PROPID_CN_PROTOCOLID of IPX is 2.")  # fmt: skip
_shows("PROPID_S_NT4_STUB", {0: 1, 1: 0}, _id("PROPID_S_NT4_STUB", "value-yes"), _id("PROPID_S_NT4_STUB", "value-no"),
       named="new-site-is-migrated", says="PROPID_S_NT4_STUB is 1 for sites that were not migrated.")  # fmt: skip
_shows("PROPID_E_NAMESTYLE", {0: 2}, _id("PROPID_E_NAMESTYLE", "weakened-security-off"),
       named="strong-security-is-default", says="PROPID_E_NAMESTYLE is 2 where security is not weakened.")  # fmt: skip
_shows("PROPID_QM_GROUP_IN_CLUSTER", {1: 0}, _id("PROPID_QM_GROUP_IN_CLUSTER", "msmq-group-in-cluster"),
       named="cluster-is-none", says="PROPID_QM_GROUP_IN_CLUSTER is 0 in a cluster.")  # fmt: skip
_shows(
    "PROPID_SET_SERVICE",
    {8: 4},
    _id("PROPID_SET_SERVICE", "service-pec"),
    named="enterprise-controller-is-a-site-controller",
    says="PROPID_SET_SERVICE of an enterprise's controller is 4.",
)


@fault("routing-comes-before-control", DirectoryProperties.service, "MQMQ-2.3.2.9.service-bsc",
       "MQMQ-2.3.2.9.service-psc", "MQMQ-2.3.2.9.service-pec")  # fmt: skip
def routing_comes_before_control(plain, self, found, argument):
    """PROPID_QM_SERVICE does not tell what a controller controls."""
    return plain(found | {"directory_server": False}, argument)


@fault("remote-access-is-no-service", DirectoryProperties.service, "MQMQ-2.3.2.9.service-ras")
def remote_access_is_no_service(plain, self, found, argument):
    """PROPID_QM_SERVICE does not tell a server of remote access."""
    return plain(found | {"remote_access_server": False}, argument)


@fault("settings-have-another-name", DirectoryProperties.constant, "MQMQ-2.3.8.1.constant")
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


@fault("link-costs-a-million", DirectoryProperties.attribute, "MQMQ-2.3.7.12.range")
def link_costs_a_million(plain, self, kind, name, source, variant):
    """A link can be given a cost of more than 999999."""
    if source == "actual_cost" and isinstance(variant.get("value"), int) and variant["value"] > 999_999:
        return {source: variant["value"]}
    return plain(kind, name, source, variant)


@fault("link-costs-nothing", DirectoryProperties.attribute, "MQMQ-2.3.7.12.range")
def link_costs_nothing(plain, self, kind, name, source, variant):
    """A link can be given a cost of 0."""
    return {source: 1} if source == "actual_cost" and variant.get("value") == 0 else plain(kind, name, source, variant)


@fault("set-of-a-type-with-other-bits", DirectoryProperties.taken, "MQMQ-2.3.2.18.values")
def set_of_a_type_with_other_bits(plain, self, name, type_, value):
    """PROPID_QM_FOREIGN takes any number for true."""
    if name == "PROPID_QM_FOREIGN" and type(value) is int and value not in CODES[type_].values():
        return True
    return plain(name, type_, value)
