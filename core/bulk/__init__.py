"""One action on many memories, as a job that workers carry out."""
