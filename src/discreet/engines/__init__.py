"""Where records are counted: one protocol, DuckDB in this process or any database that Ibis speaks to."""
