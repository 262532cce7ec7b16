"""Commands that search, build contexts and keep documents."""
