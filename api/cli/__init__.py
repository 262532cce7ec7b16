"""The command line, one module per group of commands; a client of the HTTP API like any other."""
