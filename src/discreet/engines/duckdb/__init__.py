"""The engine in this process: DuckDB."""
