"""Sheets with totals named by their group, levels in words, notes between rows, labels behind the numbers."""

from __future__ import annotations

LAYOUTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "totals named by group": (
        """
Pupils by sector
 | Primary |  |  | Secondary |  |  | Special
Authority | With support | Without | All primary | With support | Without | All secondary | All special
Scotland | 1214 | 2402 | 3616 | 1004 | 2017 | 3021 | 64
Aberdeen | 301 | 703 | 1004 | 288 | 590 | 878 | 14
Argyll | 112 | 311 | 423 | 4 | 77 | 81 | 3
Eilean Siar | 1 | 88 | 89 | 12 | 50 | 62 | 0
Glasgow | 800 | 1300 | 2100 | 700 | 1300 | 2000 | 47
""",
        (
            "B4:H4=B5:H5+B6:H6+B7:H7+B8:H8",
            "D4:D8=B4:B8+C4:C8",
            "G4:G8=E4:E8+F4:F8",
        ),
        "",
    ),
    "totals named behind": (
        """
 | Men |  |  | Women
Age | Single | Married | Men, all | Single | Married | Women, all
16-24 | 30 | 4 | 34 | 25 | 9 | 34
25-64 | 41 | 50 | 91 | 33 | 61 | 94
65+ | 12 | 20 | 32 | 3 | 31 | 34
All ages | 83 | 74 | 157 | 61 | 101 | 162
""",
        (
            "D3:D6=B3:B6+C3:C6",
            "G3:G6=E3:E6+F3:F6",
            "B6:G6=B3:G3+B4:G4+B5:G5",
        ),
        "",
    ),
    "level in words": (
        """
time_period | geographic_level | country_name | region_code | region_name | sex | pupil_count | perm_excl
202223 | National | England |  |  | Total | 4100 | 37
202223 | National | England |  |  | Boys | 2100 | 30
202223 | National | England |  |  | Girls | 2000 | 7
202223 | Regional | England | E12000001 | North East | Total | 1600 | 16
202223 | Regional | England | E12000001 | North East | Boys | 810 | 14
202223 | Regional | England | E12000001 | North East | Girls | 790 | 2
202223 | Regional | England | E12000002 | North West | Total | 2500 | 21
202223 | Regional | England | E12000002 | North West | Boys | 1290 | 16
202223 | Regional | England | E12000002 | North West | Girls | 1210 | 5
""",
        (
            "G2:H2=G3:H3+G4:H4",
            "G5:H5=G6:H6+G7:H7",
            "G8:H8=G9:H9+G10:H10",
            "G2:H4=G5:H7+G8:H10",
        ),
        "",
    ),
    "notes between": (
        """
Area | Placed | Waiting | All
North | 31 | 9 | 40
Note: North excludes the city
City | 77 | 2 | 79
Figures for the coast are provisional
Coast | 18 | 14 | 32
All areas | 126 | 25 | 151
""",
        (
            "D2:D2=B2:B2+C2:C2",
            "D4:D4=B4:B4+C4:C4",
            "D6:D7=B6:B7+C6:C7",
            "B7:D7=B2:D2+B4:D4+B6:D6",
        ),
        "",
    ),
    "labels behind": (
        """
measure | interval_start | numerator | denominator | sex | region
covid | 2024-01-01 | 5 | 100 | female | North
covid | 2024-01-01 | 40 | 200 | female | South
covid | 2024-01-01 | 11 | 110 | male | North
covid | 2024-01-01 | 30 | 120 | male | South
flu | 2024-01-01 | 12 | 100 | female | North
flu | 2024-01-01 | 3 | 200 | female | South
flu | 2024-01-01 | 22 | 110 | male | North
flu | 2024-01-01 | 60 | 120 | male | South
""",
        (),
        "C2:D9",
    ),
    "beside each other": (
        """
Placed |  |  |  |  | Waiting
Ward | Girls | Boys | All |  | Ward | Under 10 | 10 and over | All
Ash | 31 | 9 | 40 |  | Ash | 3 | 11 | 14
Elm | 77 | 2 | 79 |  | Elm | 21 | 8 | 29
Oak | 18 | 4 | 22 |  | Oak | 9 | 5 | 14
All wards | 126 | 15 | 141 |  | All wards | 33 | 24 | 57
""",
        (
            "D3:D6=B3:B6+C3:C6",
            "B6:D6=B3:D3+B4:D4+B5:D5",
            "I3:I6=G3:G6+H3:H6",
            "G6:I6=G3:I3+G4:I4+G5:I5",
        ),
        "",
    ),
    "the name of the whole in those of its parts": (
        """
Area | 2021 | 2022
North Leeds | 28 | 13
South Leeds | 3 | 6
East Leeds | 10 | 46
Leeds | 41 | 65
""",
        ("B5:C5=B2:C2+B3:C3+B4:C4",),
        "",
    ),
    "the name of the whole at the front of its parts, first": (
        """
Group | Men | Women | All
White | 132 | 90 | 222
White British | 46 | 33 | 79
White Irish | 71 | 54 | 125
White other | 15 | 3 | 18
""",
        ("B2:D2=B3:D3+B4:D4+B5:D5", "D2:D5=B2:B5+C2:C5"),
        "",
    ),
    "narrowed down in two ways that each add up": (
        """
Measure | North | South | East
Deaths | 67 | 80 | 74
Deaths, male | 40 | 44 | 35
Deaths, female | 27 | 36 | 39
Deaths under 65 | 3 | 20 | 30
Deaths 65+ | 64 | 60 | 44
Deaths at home | 10 | 20 | 14
""",
        ("B2:D2=B3:D3+B4:D4", "B2:D2=B5:D5+B6:D6"),
        "B7:D7",
    ),
    "sections with totals, then a grand total": (
        """
 | Boys | Girls | Total
Primary
White | 2 | 3 | 5
Asian | 52 | 88 | 140
Other | 1 | 2 | 3
Total | 55 | 93 | 148
Secondary
White | 120 | 22 | 142
Asian | 18 | 4 | 22
Other | 22 | 22 | 44
Total | 160 | 48 | 208
Grand total | 215 | 141 | 356
""",
        (
            "D3:D6=B3:B6+C3:C6",
            "D8:D12=B8:B12+C8:C12",
            "B6:D6=B3:D3+B4:D4+B5:D5",
            "B11:D11=B8:D8+B9:D9+B10:D10",
            "B12:D12=B6:D6+B11:D11",
        ),
        "",
    ),
    "a grouping that sums up the other": (
        """
Specialty | Band 1 | Band 2 | Band 3 | Band 4 | Within target | Over target | Total
ENT | 12 | 9 | 12 | 6 | 21 | 18 | 39
Eyes | 14 | 2 | 2 | 13 | 16 | 15 | 31
All | 26 | 11 | 14 | 19 | 37 | 33 | 70
""",
        ("F2:F4=B2:B4+C2:C4", "G2:G4=D2:D4+E2:E4", "H2:H4=F2:F4+G2:G4", "B4:H4=B2:H2+B3:H3"),
        "",
    ),
    "a list that begins behind of which": (
        """
Population | 2019 | 2020 | 2021
Ensemble | 520 | 135 | 104
Union européenne | 471 | 59 | 26
dont : Espagne | 287 | 32 | 3
\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0\u00a0Italie | 112 | 20 | 13
Autres pays | 49 | 76 | 78
""",
        ("B2:D2=B3:D3+B6:D6",),
        "B4:D5",
    ),
    "percentages before their counts": (
        """
area | a | b | c | Total
urban | 68.1% (32) | 25.5% (12) | 6.4% (3) | 100.0% (47)
suburb | 52.8% (28) | 35.8% (19) | 11.3% (6) | 100.0% (53)
rural | 56.2% (9) | 6.2% (1) | 37.5% (6) | 100.0% (16)
Total | 59.5% (69) | 27.6% (32) | 12.9% (15) | 100.0% (116)
""",
        ("B5:E5=B2:E2+B3:E3+B4:E4", "E2:E5=B2:B5+C2:C5+D2:D5"),
        "",
    ),
    "one column below a blank corner": (
        """
 | Count
Deaths, total | 343
Cancer | 101
Heart | 3
Other causes | 239
""",
        ("B2=B3+B4+B5",),
        "",
    ),
}
