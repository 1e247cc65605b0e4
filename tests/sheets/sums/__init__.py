"""Tests of `discreet.sheets.sums`."""
