"""Files that are right, of every kind that is read; ``fuzz.py`` damages them, tests of readers use some of them."""

from __future__ import annotations

import io

import discreet as dc
from fuzz_damage import SIGN

RECORDS = b"id,area,sex,pay\n" + b"".join(
    b"p%d,%s,%s,%d\n" % (k, b"NSEW"[k % 4 : k % 4 + 1], b"fm"[k % 2 : k % 2 + 1], SIGN + k) for k in range(24)
)
CODEBOOK = b"""title = "People"
unit = "id"
[[dimension]]
name = "area"
codes = ["N", "S", "E", "W"]
total = "All"
labels = { N = "North" }
[[dimension]]
name = "sex"
codes = ["f", "m"]
[[magnitude]]
name = "pay"
decimals = 0
"""
HRC = b"A\n@N\n@S\nB\n@E\n@W\n"
TREE = b"code,parent,label\nN,A,North\nS,A,\nE,B,\nW,B,\nA,all,\nB,all,\nall,,\n"
POLICY = b"""title = "Ours"
notes = ["a note"]
[query]
max_dimensions = 2
max_cells = 100
forbidden = [["area", "sex"]]
[table]
min_population = 5
[risk]
t1 = 0.05
t2 = 0.9
weights = [0.1, 0.8, 0.1]
[guard]
action = "warn"
[[rule]]
rule = "threshold"
n = 3
[[method]]
name = "suppress"
"""
PROGRAMME = b"""[programme]
name = "A year"
data = "people.csv"
codebook = "people.toml"
output = "out"
[defaults]
method = "suppress"
rule = "threshold(n=3)"
[[table]]
name = "a"
by = ["area", "sex"]
[[table]]
name = "sex-in-{area}"
by = ["sex"]
for_each = { area = "area" }
"""
CELLS = b"area,sex,count\nN,f,918273\nN,m,2\nS,f,918274\nS,m,7\nW,f,1\nW,m,918275\n"
RELEASE = b"""area,sex,count,status
Total,Total,9182739,
Total,f,9182734,
Total,m,5,
N,Total,9182733,
N,f,,c
N,m,,c
S,Total,6,
S,f,,c
S,m,,c
"""
MARKS = b"area,sex,mark\nN,f,s\nS,,u\nW,m,z\n"
LEVELS = b"area,sex,below,above\nN,f,918273,3\nS,m,1,918273\nW,f,,\n"
PTABLE = dc.PTable.design(2, 1.0).write()
JJ = b"""0
9
0 20 20 s 0 40 0 0 0
1 11 11 s 0 22 0 0 0
2 9 9 s 0 18 0 0 0
3 10 10 s 0 20 0 0 0
4 5 5 u 0 20 2 2 0
5 5 5 x 0 20 0 0 0
6 10 10 s 0 20 0 0 0
7 6 6 x 0 20 0 0 0
8 4 4 x 0 20 0 0 0
6
0 3 : 0 (-1) 1 (1) 2 (1)
0 3 : 3 (-1) 4 (1) 5 (1)
0 3 : 6 (-1) 7 (1) 8 (1)
0 3 : 0 (-1) 3 (1) 6 (1)
0 3 : 1 (-1) 4 (1) 7 (1)
0 3 : 2 (-1) 5 (1) 8 (1)
"""
FIXED = b"""Branch 1 3 "999"
  <RECODEABLE>
  <HIERARCHICAL>
  <HIERLEVELS> 1 2 0 0
  <DISTANCE> 1 2 3
Area 4 2 99
  <RECODABLE>
  <TOTCODE> "All"
  <CODELIST> "area.cdl"
  <HIERARCHICAL>
  <HIERCODELIST> "area.hrc"
  <HIERLEADSTRING> "@"
Firm 6 2
  <HOLDING>
Weight 8 4
  <WEIGHT>
  <DECIMALS> 1
Pay 12 7 9999999
  <NUMERIC>
  <DECIMALS> 2
Ask 19 1
  <REQUEST> "1" "2"
"""
FIXED_RECORDS = b"""A01 1 1 2.0 918273
A01 2 1 1.0  4.251
A02 1 2 1.5 918273
B0399 3 1.0     70
B03 3 4 1.0     82
"""
TAB_RDA = b"""\
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
TAB = b"""\
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
HST = b"N;f;u\nS;m;s\nTotal;Total;p\nW;f;c;10\nN;m;pl;918273;3\nS;f;ab;0;999999\n"
RULE = b"(few_contributors(n=3) | p_percent(p=10)) & threshold(n=20) | dominance(n=1, k=75)"
RULE_TOML = b'any = [{rule = "threshold", n = 3}, {rule = "pq", p = 10, q = 50}]\n'
QUERY = b'{"variables": {"area": "area"}, "where": {"sex": ["f"]}, "measure": "count"}'
RECORD = b"""{"data": "", "digest": "0", "outcome": "released", "policy": "x", "query": {"variables": ["sex"]},
"rule": "", "when": "2026-01-01T00:00:00+00:00", "who": "ada"}""".replace(b"\n", b" ")


def parquet() -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    out = io.BytesIO()
    made = {"area": list("NSEW") * 5, "sex": list("fm") * 10, "count": [SIGN + k for k in range(20)]}
    pq.write_table(pa.table(made), out)
    return out.getvalue()


def _small() -> dc.Table:
    dims = [dc.Dimension.flat("area", ["N", "S", "W"]), dc.Dimension.flat("sex", ["f", "m"])]
    return dc.Table.of([[SIGN, 2], [SIGN + 1, 7], [1, SIGN + 2]], dims)


def _firms() -> dc.Table:
    columns = {"area": ["N", "S", "W"] * 4, "sex": ["f", "m"] * 6, "pay": [SIGN + k for k in range(12)]}
    import pandas as pd

    data = dc.Microdata.of(pd.DataFrame(columns), dimensions=["area", "sex"], magnitudes=["pay"])
    return dc.tabulate(data, by=["area", "sex"], value="pay")


SMALL, PAY = _small(), _firms()
