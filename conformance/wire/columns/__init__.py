"""Layout tables as machine code: where every field of a packet is, many packets at a time. Needs the extra `columns`.

`shapes` says where keys lie, `walkers`, `lists` and `packets` emit the code that finds them, `table` that which fills
columns, `chunks` the loop over a chunk of packets: they are decoded one by one, each into slots, and judged from these
eight at a time. `frames` is what code for one packet is written with, `reads` what code for eight is (see
`judge.columns`); `lowering` and `wide` make LLVM code of both. A layout the emitter does not know is an
`UnknownShapeError` when code is emitted, never skipped.
"""
