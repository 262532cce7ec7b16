"""From events to dispatches: router and bus consumer."""
