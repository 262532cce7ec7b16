"""Commands that publish, follow and replay events."""
