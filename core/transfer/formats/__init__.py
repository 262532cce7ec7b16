"""Formats of other services: each module turns objects of one service's export into records. Pure."""
