"""Corpora: captures and run records as tables, judged on Spark (extra `spark`). Nothing but `cli` imports this room."""
