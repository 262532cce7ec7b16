"""Units, rolling summaries and key messages of a session."""
