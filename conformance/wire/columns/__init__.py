"""Layout tables as machine code that locates every field of many packets. Needs the extra `columns`.

`shapes` defines the places of keys; `walkers`, `lists` and `packets` emit the code that locates them, `table` the code
that fills columns, `chunks` the loop over a chunk of packets: packets are decoded one by one, each into slots, and
judged from these eight at a time. `frames` writes code for one packet, `reads` code for eight (see `judge.columns`);
`lowering` and `wide` translate both to LLVM code. A layout unknown to the emitter raises `UnknownShapeError` when code
is emitted; it is never skipped.
"""
