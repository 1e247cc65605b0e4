"""Files of tau-ARGUS as its manual has them."""

from __future__ import annotations

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


TAB_RDA = """\
  <SEPARATOR> ";"
  <SAFE> "OK"
Sex "9"
  <RECODEABLE>
  <TOTCODE> "T"
Area
  <RECODEABLE>
Pay
  <NUMERIC>
  <DECIMALS> 1
Pay_Shadow
  <NUMERIC> <SHADOW>
Cost
  <NUMERIC> <COSTVAR>
Freq
  <FREQUENCY>
Top1
  <MAXSCORE>
Top2
  <MAXSCORE>
State
  <STATUS>
Low
  <NUMERIC> <LOWERPL>
High
  <NUMERIC> <UPPERPL>
"""


TAB = """\
"T";"Total";12,5;12,5;1;4;5,0;4,0;OK;0;0
"T";"a";9,0;9,0;1;2;5,0;4,0;S;0;0
"T";"b";3,5;3,5;1;2;3,0;0,5;OK;0;0
"f";"Total";8,5;8,5;1;3;5,0;3,0;P;0;0
"f";"a";5,0;5,0;7;1;5,0;.;U;1,5;2
"f";"b";3,5;3,5;1;2;3,0;0,5;M;0;0
"m";"Total";4,0;4,0;1;1;4,0;0;S;0;0
"m";"a";4,0;4,0;1;1;4,0;0;U;0;0
"m";"b";0,0;0,0;1;0;0;0;E;0;0
"""
