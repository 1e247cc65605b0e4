"""Layouts after real publications, each drawn from numbers that are known, with what must be read from it.

A layout is a function with the decorator ``@layout``: it returns drafts of sheets, into which it puts texts and
numbers; every number is put with its codes, so that the draft knows what a reader must find and where.
"""
