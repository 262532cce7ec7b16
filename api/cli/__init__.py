"""The command line: commands by subject, and the machinery they share; a client of the HTTP API like any other."""
