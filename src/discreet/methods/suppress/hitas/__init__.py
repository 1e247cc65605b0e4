"""HiTaS: sub-tables from above, each solved exactly where it is small."""
