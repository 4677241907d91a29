"""Layout tables as machine code: where every field of a packet is, many packets at a time. Needs the extra `columns`.

`shapes` says where keys lie, `walkers`, `lists` and `packets` emit the code that finds them, `table` that which fills
columns, `chunks` the loop over a chunk of packets. `frames` is what other emitted code (see `judge.columns`) is
written with. A layout the emitter does not know is an `UnknownShapeError` when code is emitted, never skipped.
"""
