"""Recipes that offices publish: methods one after the other, under the name they are known by."""
