"""The network: addresses and what may be sent to them, ends of MS-MQQB sessions, pings, the connector `wire`, a proxy.

Everything that goes over a socket of this room is kept as pcapng, so that a capture judge says the same of it.
"""
