"""What files written back have in common (edits, notices, XML copied by lists), and files of text, HTML and Parquet."""
