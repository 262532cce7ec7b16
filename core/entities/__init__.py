"""People and things under several names: "my mother" is Evelyn."""
