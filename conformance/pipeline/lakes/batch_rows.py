"""The rows of one file of `batches`, as a reader needs them."""

from __future__ import annotations

from conformance.pipeline.inside import MAX_FILE, UnfitError
from conformance.pipeline.lakes.store import LocalStore, Store
from conformance.pipeline.lakes.tables import BATCHES, Listed, told
from conformance.pipeline.lakes.target import BATCH


def batch_rows(store: Store, one: Listed) -> list[tuple[int, str, str]]:
    """Return the number, the name and the entry of each batch. Raises PipelineError."""
    from pyarrow import parquet

    with told(store, BATCHES):
        if isinstance(store, LocalStore):
            store.check(one.place)
        with parquet.ParquetFile(str(store.path(one.place)), filesystem=store.arrow) as file:
            footer = file.metadata
            size = sum(footer.row_group(at).total_byte_size for at in range(footer.num_row_groups))
            if size > 4 * MAX_FILE:
                raise UnfitError(f"has a file of {size:,} bytes, at most {4 * MAX_FILE:,} are read")
            found = file.read(["number", BATCH, "entry"]).to_pylist()
    return [(row["number"], row[BATCH], row["entry"]) for row in found]
