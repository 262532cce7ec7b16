"""Tables of what English sentences say: rows of slots by what they are about, and cues of kind and topic."""
