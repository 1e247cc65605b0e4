"""Tests of `discreet.sheets.excel`."""
