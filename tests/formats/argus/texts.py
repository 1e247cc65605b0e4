"""Files of tau-ARGUS as its manual has them."""

from __future__ import annotations

from tests.scripts import script

FIXED = """\
Branch 1 3 "999"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 2 0 0
  <DISTANCE> 1 2 3
Area 4 2 99
  <RECODABLE>
  <TOTCODE> "All"
  <CODELIST> "C:\\office\\AREA.CDL"
  <HIERARCHICAL>
  <HIERCODELIST> "area.hrc"
  <HIERLEADSTRING> "@"
Firm 6 2
  <HOLDING>
Weight 8 4
  <WEIGHT>
  <DECIMALS> 1
Pay 12 6 999999
  <NUMERIC>
  <DECIMALS> 2
Ask 18 1
  <REQUEST> "1" "2"
"""


RECORDS = """\
A01 1 1 2.0 10.500
A01 2 1 1.0  4.251
A02 1 2 1.5   100
B0399 3 1.0     70
B03 3 4 1.0     82
"""


AREA_HRC = "N\n@ 1\n@ 2\nS\n@ 3\n"


AREA_CDL = " 1,One\r\n 2,Two\r\nN,North\r\n\r\n"


FREE = '<SEPARATOR> ","\nSex 1\n<RECODABLE>\nPay 5\n<RECODABLE>\n<NUMERIC>\n'


_FILES = script("fuzz_files")
TAB_RDA: str = _FILES.TAB_RDA.decode()
TAB: str = _FILES.TAB.decode()
