"""Tests of `discreet.sheets.blocks`."""
