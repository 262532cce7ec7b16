"""Reading what Chinese sentences say, clause by clause, each with its subject restored."""
