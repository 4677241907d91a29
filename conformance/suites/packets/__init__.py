"""Packets: what an implementation encodes is judged, what it decodes is compared, what is malformed must be refused."""
