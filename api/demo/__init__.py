"""The conversation that `imprint demo` publishes: one person, eight sessions, nine months, two languages."""
