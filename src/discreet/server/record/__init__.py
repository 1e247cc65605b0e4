"""What is kept between requests: the store and its schema, lines of the record, limits."""
