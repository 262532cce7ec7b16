"""Router and bus consumer: turn events into dispatches."""
