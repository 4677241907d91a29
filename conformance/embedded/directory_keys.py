"""The public keys of the manager, one for each cryptographic provider (MS-MQDMPR 3.1.3, MS-MQMQ 2.2.1)."""

from __future__ import annotations

import base64
import struct
from typing import Final

from conformance.embedded.structures import Structures

BASE: Final = "Microsoft Base Cryptographic Provider v1.0"
ENHANCED: Final = "Microsoft Enhanced Cryptographic Provider v1.0"
AES: Final = "Microsoft Enhanced RSA and AES Cryptographic Provider"
_FULL, _AES = 1, 0x18  # PROV_RSA_FULL, PROV_RSA_AES
_HEAD: Final = struct.Struct("<BBHI4sII")
_PUBLIC_KEY, _VERSION, _EXCHANGE, _EXPONENT = 6, 2, 0xA400, 65537

# Moduli, little-endian: nobody decrypts with these keys, and to make new ones takes a second.
_SMALL: Final = "YcF6//jqVL9MBZN8Xw7u2qfujdrb0DxxGI+sE/CWjPRh+Y9RcD0RjLVk31qtYqKp23E5JKB4vH4qvyuKXCkHpQ=="
_LARGE: Final = (
    "U4n2xzSj7730EoPyEY+o+DCxVchoGlxDCgnCepfzOjzKH9YsB3uJKJkj5u7ygIirmX4nQpaUgwKncMYxvIJvpW+Ub2ucX7xYqwE5Wnw2"
    "sEMsEdeSwlrD4wQ3gvA4ivEW5eB0WXptf/l29wQW+J6JCeXUmpAd3UR/Nst5Z6Uxwsw="
)
_LARGEST: Final = (
    "2brB/rOPV6QLPS+KRpL5qk6zpZ1YyrmqxSjFRi7hU78m/+HrXdzWs539KUS/HZUCqbbOtnVxll63XwIwJ+BFswkBICIy2Sv4ZCBG3nmy"
    "AzYTF3HDX1P4St6uPZD5XP9BIvcG8B+Hw3a9YlBSFy85+cnoKYQqfVBWBGyeqrre1MY="
)
PROVIDERS: Final = ((BASE, _FULL, _SMALL), (ENHANCED, _FULL, _LARGE), (AES, _AES, _LARGEST))


def blob(modulus: str) -> str:
    """Return a BLOBHEADER and an RSAPUBKEY with its modulus, in base64."""
    number = base64.b64decode(modulus)
    head = _HEAD.pack(_PUBLIC_KEY, _VERSION, 0, _EXCHANGE, b"RSA1", 8 * len(number), _EXPONENT)
    return base64.b64encode(head + number).decode("ascii")


def key_list(structures: Structures, providers: tuple[tuple[str, int, str], ...] = PROVIDERS) -> str:
    """Return an MQDSPUBLICKEYS with a key of each provider, in base64."""
    keys = [
        {"ul_provider_type": kind, "s_provider_name": name, "a_buf": blob(modulus)} for name, kind, modulus in providers
    ]
    return structures.encode("MQDSPUBLICKEYS", {"a_public_keys": keys})
