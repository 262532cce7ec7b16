"""People and things under several names: "my mother" is Evelyn, 晓雯 is 陆晓雯."""
