"""Finding what matters now: a lexical arm and a vector arm over messages and memories, fused into one ranking."""
