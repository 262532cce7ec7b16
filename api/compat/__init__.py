"""Dialects of other memory services, translated into operations of Imprint; one prefix below `/compat` for each."""
