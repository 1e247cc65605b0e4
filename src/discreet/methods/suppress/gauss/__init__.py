"""Secondary suppression by Gaussian elimination."""
