"""Corpora: captures and run records as tables, judged on Spark. Needs the extra `spark`; nothing else imports this room."""
