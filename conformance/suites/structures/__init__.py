"""Structures: what an implementation encodes is judged, what it decodes compared, what is malformed refused."""
