"""Published tables read back from files, as rows of codes and numbers: one file for each format."""
