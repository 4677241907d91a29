"""The certificates of users: registered ones, those in personal stores, internal ones (MS-MQDMPR 3.1.1.15, 3.1.1.19).

All of them are DER in base64, and survive the process. An integrated manager has those that are registered in its
directory alone, as the attributes of a User.
"""

from __future__ import annotations

import base64
import datetime
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from conformance.embedded.directory_client import NO_OBJECT
from conformance.embedded.directory_objects import Attributes, equals
from conformance.embedded.entities import NULL_GUID, MqError
from conformance.embedded.integration import succeeded
from conformance.embedded.signing import private_key, public_key
from conformance.spec.constants.hresults import (
    MQ_ERROR_CANNOT_SIGN_DATA_EX,
    MQ_ERROR_CERTIFICATE_NOT_PROVIDED,
    MQ_ERROR_ILLEGAL_USER,
    MQ_ERROR_NO_INTERNAL_USER_CERT,
    MQ_INFORMATION_INTERNAL_USER_CERT_EXIST,
)

if TYPE_CHECKING:
    from conformance.embedded.manager import Manager

Json = Any
CERTIFICATES, DIGESTS, _PACKED = "certificates", "certificate_digest_list", "MQUSERSIGNCERTS"
KEY_BITS: Final = 1024
_BEGINS = datetime.datetime(1980, 1, 1)
_ENDS = datetime.datetime(9999, 1, 1)


@dataclass(frozen=True, slots=True)
class User:
    """A User of the directory (MS-MQDMPR 3.1.1.15). certificates: each an MQUSERSIGNCERT. digests: MD5 in base64."""

    sid: str
    certificates: list[dict[str, Json]]
    digests: list[str]


class Certificates:
    """The certificates of all users, by their security identifiers."""

    def __init__(self, manager: Manager) -> None:
        self.manager = manager
        self._kept: dict[str, dict[str, Json]] | None = None

    @property
    def kept(self) -> dict[str, dict[str, Json]]:
        """By SID: `personal` (pairs of certificate and key), `registered` (certificates), `internal` (such a pair)."""
        if self._kept is None:
            self._kept = json.loads(self.manager.store.text("certificates") or "{}")
        return self._kept

    def keep(self, sid: str, **changed: Json) -> None:
        """Change what a user has."""
        self.kept[sid] = {**self.kept.get(sid, {}), **changed}
        self.manager.store.set_text("certificates", json.dumps(self.kept))

    def forget(self) -> None:
        """Forget every certificate."""
        self._kept = None
        self.manager.store.set_text("certificates", None)

    # The directory.

    def registered(self, sid: str) -> list[str]:
        """Return User.Certificates: those registered here, and those the directory has been given.

        Of an integrated manager, those that it reads in its directory.
        """
        if self.manager.integration.integrated:
            try:
                return [each["certificate"] for each in self.user(sid).certificates]
            except MqError:
                return []
        own: list[str] = self.kept.get(sid, {}).get("registered", [])
        return [*own, *self.manager.directory.certificates(sid)]

    def told(self, sid: str) -> list[Json]:
        """Return the registered certificates as the protocol has them."""
        internal = self.internal(sid)
        return [
            {"certificate": each, "digest": self.digest(each), "internal": each == internal}
            for each in self.registered(sid)
        ]

    def digest(self, certificate: str) -> str:
        """Return MQUSERSIGNCERT.Digest (MS-MQMQ 2.2.22) in base64."""
        made = hashlib.md5(base64.b64decode(certificate), usedforsecurity=False).digest()
        return base64.b64encode(made).decode("ascii")

    def register(self, sid: str, certificate: str) -> None:
        """Register a certificate that a user brings. Raises MqError for one that is not well formed."""
        if self.manager.integration.integrated:
            user = self.user(sid)
            public_key(certificate)
            self.add(user, certificate)
            return
        public_key(certificate)
        self.keep(sid, registered=[*self.kept.get(sid, {}).get("registered", []), certificate])

    def user(self, sid: str) -> User:
        """Read a User in the directory (MC-MQAC 3.2.4.2.1). Raises MqError."""
        found = self.read(sid, [CERTIFICATES, DIGESTS])
        packed = found.get(CERTIFICATES)
        certificates = self.manager.structures.decode(_PACKED, packed)["certificates"] if packed else []
        return User(sid, certificates, found.get(DIGESTS, []))

    def read(self, sid: str, names: list[str]) -> Attributes:
        """Read attributes of a User in the directory. Raises MqError."""
        result, found = self.manager.integration.read("user", equals("security_identifier", sid), names)
        if result == NO_OBJECT:
            raise MqError(MQ_ERROR_ILLEGAL_USER)
        succeeded(result)
        return found

    def add(self, user: User, certificate: str) -> None:
        """Add a certificate to a User and write it to the directory. Raises MqError."""
        added = {"identifier": self.manager.new_identifier(), "certificate": certificate}
        self.write(User(user.sid, [*user.certificates, added], [*user.digests, self.digest(certificate)]))

    def write(self, user: User) -> None:
        """Write a User to the directory, which is asked for its identifier alone. Raises MqError."""
        given = [{name: each[name] for name in ("identifier", "certificate")} for each in user.certificates]
        packed = self.manager.structures.encode(_PACKED, {"certificates": given})
        changed = {CERTIFICATES: packed, DIGESTS: user.digests}
        identifier = self.read(user.sid, ["identifier"]).get("identifier", NULL_GUID)
        succeeded(self.manager.integration.write("user", identifier, changed))

    # Internal certificates.

    def internal(self, sid: str) -> str | None:
        """Return the internal certificate of a user."""
        pair = self.kept.get(sid, {}).get("internal")
        return None if pair is None else str(pair[0])

    def register_internal(self, sid: str, *, anew: bool) -> None:
        """Make and register an internal certificate. anew: in the place of one that is there.

        Raises MqError(MQ_INFORMATION_INTERNAL_USER_CERT_EXIST) if there is one that stays.
        """
        user = self.user(sid) if self.manager.integration.integrated else None
        present = self.internal(sid)
        if present is not None and not anew:
            raise MqError(MQ_INFORMATION_INTERNAL_USER_CERT_EXIST)
        if user is not None and present is not None:
            self.write(user)  # whether the user may register at all
            others = [each for each in user.certificates if each["digest"] != self.digest(present)]
            user = User(sid, others, user.digests)
        certificate, key = self.made(sid)
        if user is not None:
            self.keep(sid, internal=[certificate, key])
            self.add(user, certificate)
            return
        others = [each for each in self.kept.get(sid, {}).get("registered", []) if each != present]
        self.keep(sid, internal=[certificate, key], registered=[*others, certificate])

    def made(self, sid: str) -> tuple[str, str]:
        """Return a new X.509 certificate of a user and its key, which is always the same (RFC 3280)."""
        from cryptography import x509
        from cryptography.hazmat.primitives import hashes, serialization
        from cryptography.hazmat.primitives.asymmetric import rsa

        pair = self.kept.get(sid, {}).get("internal")
        key = rsa.generate_private_key(65537, KEY_BITS) if pair is None else private_key(pair[1])
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, f"MSMQ {sid}")])
        builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number(), _BEGINS, _ENDS)
        der = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.DER)
        form = (serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        return base64.b64encode(der).decode("ascii"), base64.b64encode(key.private_bytes(*form)).decode("ascii")

    # Personal stores.

    def fill(self, sid: str, personal: list[Json]) -> None:
        """Replace what the harness has put into the personal store of a user."""
        self.keep(sid, personal=[[each["certificate"], each["key"]] for each in personal])

    def for_signing(self, users: Iterable[str], certificate: str | None) -> tuple[str, str]:
        """Return the certificate that one of these users signs with, and its key. Raises MqError.

        certificate: the one wanted; None for the internal one of the first user.
        """
        own = [self.kept.get(sid, {}) for sid in users]
        if certificate is None:
            if "internal" not in own[0]:
                raise MqError(MQ_ERROR_NO_INTERNAL_USER_CERT)
            certificate = str(own[0]["internal"][0])
        if not certificate:
            raise MqError(MQ_ERROR_CERTIFICATE_NOT_PROVIDED)
        public_key(certificate)
        for each in own:
            for found, key in (*each.get("personal", ()), each.get("internal", ("", ""))):
                if found == certificate:
                    return found, key
        raise MqError(MQ_ERROR_CANNOT_SIGN_DATA_EX)
