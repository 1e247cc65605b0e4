"""Where the tables of a sheet stand: cells as read, kinds of rows, header, stub and body, labels, numbers."""
