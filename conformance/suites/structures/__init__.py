"""Structures: encoded ones are judged, decoded ones are compared with the value, malformed ones must be refused."""
