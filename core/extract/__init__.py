"""From what people say to statements worth keeping."""
