"""Tests of `discreet.sheets`."""
