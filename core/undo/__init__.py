"""Taking a change back."""
