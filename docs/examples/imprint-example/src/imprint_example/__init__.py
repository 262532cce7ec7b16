"""One plugin of each kind for Imprint."""
