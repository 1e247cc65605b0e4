"""Patterns without a proof of cost: greedy, neighbourhoods, pruning, HiTaS."""
