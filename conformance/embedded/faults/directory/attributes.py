"""Faults of attributes that are read from the directory (MS-MQDMPR 3.1.1.1, 3.1.1.6 to 3.1.1.8, 3.1.1.15)."""

from __future__ import annotations

import base64
import operator
from typing import Final

from conformance.embedded.faults.base import fault
from conformance.embedded.integration import Integration

_OF: Final = {
    "queue_manager": "MQDMPR-3.1.1.1.",
    "enterprise": "MQDMPR-3.1.1.6.",
    "site": "MQDMPR-3.1.1.7.",
    "routing_link": "MQDMPR-3.1.1.8.",
    "user": "MQDMPR-3.1.1.15.",
}


def _read_as(name, change, of, says):
    """Register a fault: attributes are read as other values. of: (class, attribute, demand) of each."""

    def checked(plain, self, answer, kind, wanted, names):
        result, found = plain(answer, kind, wanted, names)
        mine = [attribute for each, attribute, _ in of if each == kind and attribute in found]
        return result, found | {attribute: change(found[attribute]) for attribute in mine}

    demands = [_OF[kind] + demand for kind, _, demand in of]
    fault(name, Integration.checked, *demands[:5], says=says)(checked)


for _name, _change, _of, _says in (
    ("full-paths-are-read-as-nothing", lambda value: "", tuple(
        (each, "full_path", "full-path") for each in ("queue_manager", "site", "routing_link")),
     "Full paths of objects are read as empty texts."),
    ("keys-are-read-as-nothing", lambda value: "", (
        ("queue_manager", "public_encryption_key_list", "encryption-key-list"),
        ("queue_manager", "public_signing_key_list", "signing-key-list"),
        ("site", "public_signing_key_list", "public-signing-key-list"),
        ("site", "security", "security")), "Keys, and descriptors of sites, are read as empty."),
    ("flags-of-managers-are-read-turned", operator.not_, (
        ("queue_manager", "directory_server", "directory-server"),), "directory_server is read as its contrary."),
    ("flags-of-enterprises-are-read-turned", operator.not_, (
        ("enterprise", "non_ldap_capable_queue_manager_notification", "non-ldap-notification"),
        ("enterprise", "old_directory", "old-directory"),
        ("enterprise", "weakened_security", "weakened-security")), "Flags of enterprises are read as their contrary."),
    ("flags-of-sites-are-read-turned", operator.not_, (
        ("site", "foreign_site", "foreign-site"),
        ("site", "migrated_from_msmq10", "migrated-from-msmq10")), "Flags of sites are read as their contrary."),
    ("lists-are-read-without-their-first", operator.itemgetter(slice(1, None)), (
        ("queue_manager", "in_routing_server_identifier_list", "in-routing-server-list"),
        ("queue_manager", "out_routing_server_identifier_list", "out-routing-server-list"),
        ("queue_manager", "site_identifier_list", "site-identifier-list"),
        ("user", "certificate_digest_list", "certificate-digest-list")), "The first of several is not read."),
    ("intervals-are-read-in-milliseconds", lambda value: value * 1000 % 65_000, (
        ("site", "inter_site_replication_interval", "inter-site-replication-interval"),
        ("site", "intra_site_replication_interval", "intra-site-replication-interval"),
        ("enterprise", "default_time_to_live", "default-time-to-live")), "Times of sites are read in milliseconds."),
    ("change-is-read-a-second-late", lambda value: value + 1, (
        ("queue_manager", "modify_time", "modify-time"),), "modify_time of a manager is read as a second later."),
    ("both-ends-of-a-link-are-one-site", lambda value: "7b6e4d6f-7a1f-4c3b-9a57-6f5b2f3f9a10", (
        ("routing_link", "site1_identifier", "site1-identifier"),
        ("routing_link", "site2_identifier", "site2-identifier")), "Both sites of a link are read as the same one."),
    ("controller-is-read-with-its-domain", lambda value: f"{value}.local", (
        ("site", "primary_site_controller", "primary-site-controller"),),
     "primary_site_controller is read as a DNS name."),
    ("every-server-is-read-as-another", lambda value: "Other", (
        ("queue_manager", "directory_server_type", "directory-server-type"),
        ("queue_manager", "directory_server_type", "directory-server-type-values")),
     "directory_server_type is read as another word."),
    ("links-are-read-too-expensive", lambda value: value + 1_000_000, (
        ("routing_link", "actual_cost", "actual-cost"),
        ("routing_link", "actual_cost", "actual-cost-range")), "actual_cost is read as a number that is too great."),
    ("migration-is-read-turned", operator.not_, (("site", "migrated_from_msmq10", "migrated-from-msmq10"),),
     "migrated_from_msmq10 is read as its contrary."),
    ("age-of-a-directory-is-read-turned", operator.not_, (("enterprise", "old_directory", "old-directory"),),
     "old_directory is read as its contrary."),
    ("notification-is-read-turned", operator.not_, (
        ("enterprise", "non_ldap_capable_queue_manager_notification", "non-ldap-notification"),),
     "Whether managers without LDAP are notified is read as its contrary."),
    ("descriptor-of-a-site-is-read-as-nothing", lambda value: "", (("site", "security", "security"),),
     "The descriptor of a site is read as empty."),
    ("signing-keys-are-read-as-nothing", lambda value: "", (
        ("queue_manager", "public_signing_key_list", "signing-key-list"),),
     "The signing keys of a manager are read as empty."),
    ("incoming-servers-are-read-without-their-first", operator.itemgetter(slice(1, None)), (
        ("queue_manager", "in_routing_server_identifier_list", "in-routing-server-list"),),
     "The first server of incoming messages is not read."),
    ("interval-between-sites-is-read-in-milliseconds", lambda value: value * 1000 % 65_000, (
        ("site", "inter_site_replication_interval", "inter-site-replication-interval"),),
     "The interval of replication between sites is read in milliseconds."),
    ("second-site-of-a-link-is-read-as-another", lambda value: "7b6e4d6f-7a1f-4c3b-9a57-6f5b2f3f9a10", (
        ("routing_link", "site2_identifier", "site2-identifier"),), "The second site of a link is read as another."),
):  # fmt: skip
    _read_as(_name, _change, _of, _says)


@fault("digests-are-cut", Integration.checked, f"{_OF['user']}digest-length",
       f"{_OF['user']}certificate-digest-list")  # fmt: skip
def digests_are_cut(plain, self, answer, of, wanted, names):
    """Digests are read without their last byte."""
    result, found = plain(answer, of, wanted, names)
    cut = [base64.b64encode(base64.b64decode(each)[:15]).decode() for each in found.get("certificate_digest_list", ())]
    return result, found | ({"certificate_digest_list": cut} if cut else {})
