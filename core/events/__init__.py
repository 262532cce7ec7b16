"""The event log: parsing, appending, publishing, doorbell."""
