"""Packets: encoded ones are judged, decoded ones are compared with the message, malformed ones must be refused."""
