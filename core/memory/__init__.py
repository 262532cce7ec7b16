"""Long-term memory: reads, the kinds of change, and the one writer."""
