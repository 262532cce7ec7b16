"""From candidates to changes: screen, compare, judge."""
