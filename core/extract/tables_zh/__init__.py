"""Tables of what Chinese sentences say: rows of slots, and cues of kind and topic."""
