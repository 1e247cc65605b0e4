"""The attacker's subproblem: does a pattern protect, and what is the cheapest move for a cell?"""
