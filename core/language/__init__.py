"""Words, sentences, dates and spelling, with a folder for each language (`en`, `zh`, `de`). Pure."""
