"""Judge corpora of captures and run records on Spark and store them as tables (extra `spark`). Only `cli` uses it."""
