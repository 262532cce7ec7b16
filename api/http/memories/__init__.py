"""The memories: reading and writing them, verdicts, disputes, jobs."""
