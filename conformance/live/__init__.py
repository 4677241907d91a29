"""Judging while the traffic goes on: what `serve`, `proxy` and `wire` do, as functions.

The traffic, the judge and the server that `serve` starts are three processes. `passing` moves bytes and makes of them
the blocks of a capture; `judge` hands these to a process (`judging`) that reads them as any capture.
"""
