"""Commands about memories."""
