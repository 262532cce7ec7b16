"""Webhooks, mail and other notifications to the outside."""
