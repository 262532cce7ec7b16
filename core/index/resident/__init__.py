"""An owner's index rows cached in the process."""
