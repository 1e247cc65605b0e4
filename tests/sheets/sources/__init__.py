"""Tests of `discreet.sheets.sources`."""
