"""Tests of files of tables written back in their own layout."""
