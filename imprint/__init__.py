"""Public Python interface: what packages that extend Imprint import."""
