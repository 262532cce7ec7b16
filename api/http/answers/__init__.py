"""What the operations below `/v1` answer: one module for each router."""
