"""Lakes: the port, its two formats, and where their files are stored."""
