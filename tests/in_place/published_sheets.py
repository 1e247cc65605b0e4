"""Sheets after publications of offices and programs, and the sums that hold on each: what an attacker knows."""

from __future__ import annotations

LAYOUTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "eurostat tsv2": (
        """
freq,sex,geo\\TIME_PERIOD | 2021  | 2022  | 2023
A,T,DE | 120  | 130 p | 140 e
A,F,DE | 60  | 70  | 80
A,M,DE | 60  | 60  | 60
A,T,FR | 44 b | 4  | 60
A,F,FR | 24 b | 1  | 30
A,M,FR | 20  | 3  | 30
""",
        (
            "B2:D2=B3:D3+B4:D4",
            "B5:D5=B6:D6+B7:D7",
        ),
        "",
    ),
    "statcan": (
        """
Table 13-10-0394-01
Leading causes of death

Cause of death² | Both sexes | Males | Females
Total, all causes¹ | 300 | 160 | 140
Cancer³ | 120 | 63 | 57
Heart | 97 | 50 | 47
Accidents⁴ | 9 | 5 | 4
Other | 74 | 42 | 32
Footnotes:
1. Includes unknown
""",
        (
            "B5:B9=C5:C9+D5:D9",
            "B5:D5=B6:D6+B7:D7+B8:D8+B9:D9",
        ),
        "",
    ),
    "ine": (
        """
Población / Population
Provincia / Province | Ambos sexos / Both sexes | Hombres / Males | Mujeres / Females
Total Nacional / National total | 365 | 177 | 188
Ávila | 100 | 48 | 52
Soria | 57 | 54 | 3
Teruel | 208 | 75 | 133
""",
        (
            "B3:D3=B4:D4+B5:D5+B6:D6",
            "B3:B6=C3:C6+D3:D6",
        ),
        "",
    ),
    "statline wide": (
        """
Bevolking; geslacht, leeftijd en regio
 | Geslacht | Totaal mannen en vrouwen | Mannen | Vrouwen
Perioden | Regio's | aantal | aantal | aantal
2023 | Nederland | 190 | 100 | 90
2023 | Noord | 147 | 97 | 50
2023 | Zuid | 43 | 3 | 40
Bron: CBS
""",
        (
            "C4:E4=C5:E5+C6:E6",
            "C4:C6=D4:D6+E4:E6",
        ),
        "",
    ),
    "pivot": (
        """
Count of id | Column Labels
Row Labels | F | M | (blank) | Grand Total
North | 20 | 30 | 2 | 52
A | 10 | 14 | 1 | 25
B | 10 | 16 | 1 | 27
South | 44 | 50 | 3 | 97
A | 24 | 20 | 3 | 47
B | 20 | 30 |  | 50
Grand Total | 64 | 80 | 5 | 149
""",
        (
            "E3:E9=B3:B9+C3:C9+D3:D9",
            "B9:E9=B3:E3+B6:E6",
            "B3:E3=B4:E4+B5:E5",
            "B6:E6=B7:E7+B8:E8",
        ),
        "",
    ),
    "crosstab blank": (
        """
Region | Sex | Yes | No | Total
North | F | 20 | 30 | 50
 | M | 4 | 40 | 44
South | F | 31 | 22 | 53
 | M | 8 | 50 | 58
Total |  | 63 | 142 | 205
""",
        (
            "E2:E6=C2:C6+D2:D6",
            "C6:E6=C2:E2+C3:E3+C4:E4+C5:E5",
        ),
        "",
    ),
    "spss": (
        """
sex * smoker Crosstabulation
 |  |  | smoker |  | Total
 |  |  | yes | no |
sex | male | Count | 4 | 96 | 100
 |  | % within sex | 4.0% | 96.0% | 100.0%
 | female | Count | 20 | 80 | 100
 |  | % within sex | 20.0% | 80.0% | 100.0%
Total |  | Count | 24 | 176 | 200
 |  | % within sex | 12.0% | 88.0% | 100.0%
""",
        (
            "F4:F4=D4:D4+E4:E4",
            "F6:F6=D6:D6+E6:E6",
            "F8:F8=D8:D8+E8:E8",
            "D8:F8=D4:F4+D6:F6",
        ),
        "",
    ),
    "stata": (
        """
region | yes | no | Total
North | 4 | 96 | 100
 | 4.0 | 96.0 | 100.0
South | 20 | 80 | 100
 | 20.0 | 80.0 | 100.0
Total | 24 | 176 | 200
 | 12.0 | 88.0 | 100.0
""",
        (
            "D2:D2=B2:B2+C2:C2",
            "D4:D4=B4:B4+C4:C4",
            "D6:D6=B6:B6+C6:C6",
            "B6:D6=B2:D2+B4:D4",
        ),
        "",
    ),
    "stacked": (
        """
Table 1: Sex
Area | Male | Female | Total
North | 48 | 52 | 100
South | 54 | 3 | 57
Total | 102 | 55 | 157

Table 2: Age
Area | 0-64 | 65+ | Total
North | 90 | 10 | 100
South | 50 | 7 | 57
Total | 140 | 17 | 157
""",
        (
            "D3:D5=B3:B5+C3:C5",
            "B5:D5=B3:D3+B4:D4",
            "D9:D11=B9:B11+C9:C11",
            "B11:D11=B9:D9+B10:D10",
            "D3:D5=D9:D11",
        ),
        "",
    ),
    "sparse": (
        """
area | sex | age | n
N | F | 0-64 | 40
N | F | 65+ | 3
N | M | 0-64 | 37
S | F | 0-64 | 20
S | M | 0-64 | 31
S | M | 65+ | 12
""",
        (),
        "D2:D7",
    ),
    "netmig": (
        """
Area | Inflow | Outflow | Net
North | 120 | 100 | 20
South | 30 | 44 | -14
West | 8 | 4 | 4
Total | 158 | 148 | 10
""",
        ("B5:C5=B2:C2+B3:C3+B4:C4",),
        "",
    ),
    "years": (
        """
Cause | 2019 | 2020 | 2021 | 2022 | 2023 | 2024
Falls | 2020 | 1900 | 1987 | 2001 | 2010 | 1999
Fire | 12 | 3 | 9 | 8 | 11 | 14
Total | 2032 | 1903 | 1996 | 2009 | 2021 | 2013
""",
        ("B4:G4=B2:G2+B3:G3",),
        "",
    ),
    "sic": (
        """
SIC | Industry | Sites | Staff
1110 | Growing of cereals | 12 | 44
1120 | Growing of rice | 3 | 9
46110 | Agents | 30 | 77
 | Total | 45 | 130
""",
        ("C5:D5=C2:D2+C3:D3+C4:D4",),
        "",
    ),
    "footmark": (
        """
Area | Men | Women | Total
North | 48(a) | 52 | 100
South | 54 | 3(b) | 57
Total | 102 | 55 | 157
(a) revised
""",
        (
            "D2:D4=B2:B4+C2:C4",
            "B4:D4=B2:D2+B3:D3",
        ),
        "",
    ),
    "thin": (
        """
Région | Hommes | Femmes | Ensemble
Nord | 1 234 | 1 100 | 2 334
Sud | 54 | 3 | 57
Ensemble | 1 288 | 1 103 | 2 391
""",
        (
            "D2:D4=B2:B4+C2:C4",
            "B4:D4=B2:D2+B3:D3",
        ),
        "",
    ),
    "rtl": (
        """
المنطقة | ذكور | إناث | المجموع
الشمال | 48 | 52 | 100
الجنوب | 54 | 3 | 57
المجموع | 102 | 55 | 157
""",
        (
            "D2:D4=B2:B4+C2:C4",
            "B4:D4=B2:D2+B3:D3",
        ),
        "",
    ),
    "two stub total": (
        """
Sex | Age | Count
Male | 0-15 | 20
Male | 16+ | 3
Male | All ages | 23
Female | 0-15 | 25
Female | 16+ | 40
Female | All ages | 65
All | 0-15 | 45
All | 16+ | 43
All | All ages | 88
""",
        (
            "C4:C4=C2:C2+C3:C3",
            "C7:C7=C5:C5+C6:C6",
            "C10:C10=C8:C8+C9:C9",
            "C8:C10=C2:C4+C5:C7",
        ),
        "",
    ),
    "nested ages": (
        """
Age | Men | Women | Total
0-17 | 20 | 25 | 45
18-64 | 70 | 60 | 130
18-34 | 30 | 33 | 63
35-64 | 40 | 27 | 67
65+ | 3 | 40 | 43
All ages | 93 | 125 | 218
""",
        (
            "D2:D7=B2:B7+C2:C7",
            "B3:D3=B4:D4+B5:D5",
            "B7:D7=B2:D2+B3:D3+B6:D6",
        ),
        "",
    ),
    "pcs rows": (
        """
Sex | 2022 | 2023
Male | 48 | 52
Female | 3 | 9
Total | 51 | 61
% female | 5.9 | 14.8
""",
        ("B4:C4=B2:C2+B3:C3",),
        "",
    ),
    "yesno": (
        """
Area | Yes | No | Not stated | All | % yes
N | 40 | 50 | 10 | 100 | 40%
S | 30 | 25 | 2 | 57 | 53%
All | 70 | 75 | 12 | 157 | 45%
""",
        (
            "E2:E4=B2:B4+C2:C4+D2:D4",
            "B4:E4=B2:E2+B3:E3",
        ),
        "",
    ),
    "crime": (
        """
Offence group | Offence | Apr | May | Jun | Total
Theft | Shoplifting | 20 | 22 | 25 | 67
Theft | Bicycle | 3 | 8 | 9 | 20
Theft | Subtotal | 23 | 30 | 34 | 87
Violence | Assault | 30 | 31 | 32 | 93
Violence | Harassment | 7 | 8 | 9 | 24
Violence | Subtotal | 37 | 39 | 41 | 117
Total |  | 60 | 69 | 75 | 204
""",
        (
            "F2:F8=C2:C8+D2:D8+E2:E8",
            "C4:F4=C2:F2+C3:F3",
            "C7:F7=C5:F5+C6:F6",
            "C8:F8=C4:F4+C7:F7",
        ),
        "",
    ),
    "codes totals": (
        """
Code | Name | Men | Women
E12000001 | North East | 40 | 30
E06000001 | Hartlepool | 22 | 27
E06000002 | Middlesbrough | 18 | 3
E12000002 | North West | 50 | 44
E06000008 | Blackburn | 20 | 20
E06000009 | Blackpool | 30 | 24
E92000001 | England | 90 | 74
""",
        (
            "C2:D2=C3:D3+C4:D4",
            "C5:D5=C6:D6+C7:D7",
            "C8:D8=C2:D2+C5:D5",
        ),
        "",
    ),
    "foot super": (
        """
Area | 2022² | 2023³
N¹ | 20 | 4
S | 30 | 12
Total | 50 | 16
""",
        ("B4:C4=B2:C2+B3:C3",),
        "",
    ),
    "subtotal cols": (
        """
Area | Male 0-15 | Male 16+ | Male total | Female 0-15 | Female 16+ | Female total | All
N | 20 | 3 | 23 | 25 | 40 | 65 | 88
S | 30 | 30 | 60 | 22 | 33 | 55 | 115
""",
        (
            "D2:D3=B2:B3+C2:C3",
            "G2:G3=E2:E3+F2:F3",
            "H2:H3=D2:D3+G2:G3",
        ),
        "",
    ),
    "imd long": (
        """
year | quintile | sex | n
2023 | 1 | F | 20
2023 | 1 | M | 3
2023 | 2 | F | 22
2023 | 2 | M | 30
2024 | 1 | F | 21
2024 | 1 | M | 9
2024 | 2 | F | 25
2024 | 2 | M | 28
""",
        (),
        "D2:D9",
    ),
}
