"""The doors: HTTP, the command line, and the stack that runs on one machine."""
