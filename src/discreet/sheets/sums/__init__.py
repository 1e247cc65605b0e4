"""Which labels of a sheet are sums of others: levels, totals, groups, shares of a total."""
