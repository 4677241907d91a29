"""Queue names by the grammar of the documents: ABNF to parsers, values, generators."""
