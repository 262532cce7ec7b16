"""The command line: one module a group of commands, all over the same HTTP door as everyone else's client."""
