"""The embedded queue manager on the network: sessions, acknowledgments and pings of MS-MQQB over TCP and UDP.

`python -m conformance.embedded.network` runs it as a process. Everything happens on one thread, in the order of
arrival; sockets are in `server`, and the other modules know only connections that take bytes and a scheduler.
"""
