"""Export of what a user's memory holds, and import of it and of what other services export."""
