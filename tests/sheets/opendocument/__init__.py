"""Tests of `discreet.sheets.opendocument`."""
