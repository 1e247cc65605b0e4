"""Sheets with several variables of one population, and the sums that hold on each: what an attacker knows."""

from __future__ import annotations

LAYOUTS: dict[str, tuple[str, tuple[str, ...], str]] = {
    "groupings cols": (
        """
Area | All | Male | Female | 0-15 | 16-64 | 65+
North | 100 | 48 | 52 | 20 | 70 | 10
South | 57 | 29 | 28 | 11 | 43 | 3
West | 208 | 100 | 108 | 48 | 120 | 40
England | 365 | 177 | 188 | 79 | 233 | 53
""",
        (
            "B2:B5=C2:C5+D2:D5",
            "B2:B5=E2:E5+F2:F5+G2:G5",
            "B5:G5=B2:G2+B3:G3+B4:G4",
        ),
        "",
    ),
    "groupings rows": (
        """
Characteristic | Cases | Controls | All
Total | 60 | 91 | 151
Male | 33 | 44 | 77
Female | 27 | 47 | 74
Under 20 | 4 | 10 | 14
20-39 | 26 | 41 | 67
40+ | 30 | 40 | 70
""",
        (
            "B2:D2=B3:D3+B4:D4",
            "B2:D2=B5:D5+B6:D6+B7:D7",
            "D2:D7=B2:B7+C2:C7",
        ),
        "",
    ),
    "groupings rows1": (
        """
Characteristic | Patients
Total | 151
Male | 77
Female | 74
Under 20 | 4
20-39 | 77
40+ | 70
""",
        (
            "B2:B2=B3:B3+B4:B4",
            "B2:B2=B5:B5+B6:B6+B7:B7",
        ),
        "",
    ),
    "groupings three": (
        """
Group | 2022 | 2023
Total | 200 | 230
Men | 90 | 100
Women | 110 | 130
White | 150 | 170
Black | 32 | 37
Asian | 14 | 18
Other | 4 | 5
Yes | 80 | 90
No | 120 | 140
""",
        (
            "B2:C2=B3:C3+B4:C4",
            "B2:C2=B5:C5+B6:C6+B7:C7+B8:C8",
            "B2:C2=B9:C9+B10:C10",
        ),
        "",
    ),
    "repeated total": (
        """
Region | Patients | Smokers
North | 100 | 20
Male | 48 | 17
Female | 52 | 3
South | 80 | 30
Male | 45 | 16
Female | 35 | 14
Total | 180 | 50
Male | 93 | 33
Female | 87 | 17
""",
        (
            "B2:C2=B3:C3+B4:C4",
            "B5:C5=B6:C6+B7:C7",
            "B8:C8=B9:C9+B10:C10",
            "B8:C8=B2:C2+B5:C5",
            "B9:C9=B3:C3+B6:C6",
            "B10:C10=B4:C4+B7:C7",
        ),
        "",
    ),
    "repeated notot": (
        """
Region | Patients | Smokers
North | 100 | 20
Male | 48 | 17
Female | 52 | 3
South | 80 | 30
Male | 45 | 16
Female | 35 | 14
""",
        (
            "B2:C2=B3:C3+B4:C4",
            "B5:C5=B6:C6+B7:C7",
        ),
        "",
    ),
    "repeated three": (
        """
Region | Yes | No | Total
North | 60 | 40 | 100
0-15 | 3 | 17 | 20
16-64 | 37 | 13 | 50
65+ | 20 | 10 | 30
South | 40 | 50 | 90
0-15 | 5 | 25 | 30
16-64 | 25 | 15 | 40
65+ | 10 | 10 | 20
""",
        (
            "B2:D2=B3:D3+B4:D4+B5:D5",
            "B6:D6=B7:D7+B8:D8+B9:D9",
            "D2:D9=B2:B9+C2:C9",
        ),
        "",
    ),
    "repeated below": (
        """
Region | Patients | Smokers
Male | 48 | 17
Female | 52 | 3
North | 100 | 20
Male | 45 | 16
Female | 35 | 14
South | 80 | 30
Total | 180 | 50
""",
        (
            "B4:C4=B2:C2+B3:C3",
            "B7:C7=B5:C5+B6:C6",
            "B8:C8=B4:C4+B7:C7",
        ),
        "",
    ),
    "repeated cols": (
        """
Area | North | Male | Female | South | Male | Female
Yes | 100 | 97 | 3 | 80 | 45 | 35
No | 50 | 20 | 30 | 60 | 30 | 30
""",
        (
            "B2:B3=C2:C3+D2:D3",
            "E2:E3=F2:F3+G2:G3",
        ),
        "",
    ),
    "paper arms": (
        """
Characteristic | Placebo | Low dose | High dose | Overall
N | 60 | 58 | 62 | 180
Sex
Male | 33 (55.0%) | 27 (46.6%) | 30 (48.4%) | 90 (50.0%)
Female | 27 (45.0%) | 31 (53.4%) | 32 (51.6%) | 90 (50.0%)
Age
<40 | 4 (6.7%) | 10 (17.2%) | 12 (19.4%) | 26 (14.4%)
40-64 | 26 (43.3%) | 28 (48.3%) | 30 (48.4%) | 84 (46.7%)
65+ | 30 (50.0%) | 20 (34.5%) | 20 (32.3%) | 70 (38.9%)
""",
        (
            "B2:E2=B4:E4+B5:E5",
            "B2:E2=B7:E7+B8:E8+B9:E9",
            "E2:E2=B2:B2+C2:C2+D2:D2",
            "E4:E5=B4:B5+C4:C5+D4:D5",
            "E7:E9=B7:B9+C7:C9+D7:D9",
        ),
        "",
    ),
    "paper arms N": (
        """
Characteristic | Placebo (N=60) | Low dose (N=58) | High dose (N=62)
Male, n (%) | 33 (55.0) | 27 (46.6) | 30 (48.4)
Female, n (%) | 27 (45.0) | 31 (53.4) | 32 (51.6)
Diabetes, n (%) | 4 (6.7) | 10 (17.2) | 12 (19.4)
Hypertension, n (%) | 26 (43.3) | 28 (48.3) | 30 (48.4)
""",
        (),
        "B2:D5",
    ),
    "stated head": (
        """
Age | Women (N = 1,234) | Men (N = 1,030)
0-19 | 300 | 420
20-39 | 930 | 310
40+ | 4 | 300
""",
        (),
        "B2:C4",
    ),
    "stated row": (
        """
Region | Yes | No
North (n=56) | 50 | 6
South (n=80) | 60 | 20
West (n=41) | 38 | 3
""",
        (),
        "B2:C4",
    ),
    "stated both": (
        """
Region | Yes (N=148) | No (N=29)
North (n=56) | 50 | 6
South (n=80) | 60 | 20
West (n=41) | 38 | 3
""",
        (),
        "B2:C4",
    ),
    "stated small": (
        """
Region | Yes | No
North (n=5) | 3 | 2
South (n=80) | 60 | 20
West (n=41) | 38 | 3
""",
        (),
        "B2:C4",
    ),
    "change change": (
        """
Area | 2023 | 2024 | Change | % change
North | 100 | 110 | 10 | 10.0
South | 57 | 60 | 3 | 5.3
West | 4 | 9 | 5 | 125.0
East | 31 | 28 | -3 | -9.7
Total | 192 | 207 | 15 | 7.8
""",
        ("B6:C6=B2:C2+B3:C3+B4:C4+B5:C5",),
        "",
    ),
    "change diff3": (
        """
Area | 2022 | 2023 | 2024 | Change 2022 to 2023 | Change 2023 to 2024
North | 100 | 110 | 120 | 10 | 10
South | 57 | 60 | 50 | 3 | -10
West | 4 | 9 | 12 | 5 | 3
Total | 161 | 179 | 182 | 18 | 3
""",
        ("B5:D5=B2:D2+B3:D3+B4:D4",),
        "",
    ),
    "change plain": (
        """
Area | 2023 | 2024 | +/-
North | 100 | 110 | 10
South | 57 | 60 | 3
West | 4 | 9 | 5
Total | 161 | 179 | 18
""",
        ("B5:C5=B2:C2+B3:C3+B4:C4",),
        "",
    ),
    "grouped patients": (
        """
Area | Patients | Male | Female | 0-15 | 16-64 | 65+
North | 100 | 48 | 52 | 20 | 70 | 10
South | 57 | 29 | 28 | 11 | 43 | 3
West | 208 | 100 | 108 | 48 | 120 | 40
""",
        (
            "B2:B4=C2:C4+D2:D4",
            "B2:B4=E2:E4+F2:F4+G2:G4",
        ),
        "",
    ),
    "grouped pctcols": (
        """
Area | All | Male | Female | % female | 0-64 | 65+ | % 65+
North | 100 | 48 | 52 | 52.0 | 90 | 10 | 10.0
South | 57 | 29 | 28 | 49.1 | 54 | 3 | 5.3
Total | 157 | 77 | 80 | 51.0 | 144 | 13 | 8.3
""",
        (
            "B2:B4=C2:C4+D2:D4",
            "B2:B4=F2:F4+G2:G4",
            "B4:D4=B2:D2+B3:D3",
            "F4:G4=F2:G2+F3:G3",
        ),
        "",
    ),
    "grouped nested": (
        """
Group | 2022 | 2023
Total | 200 | 230
Men | 90 | 100
Women | 110 | 130
0-17 | 46 | 52
18+ | 154 | 178
18-64 | 150 | 170
65+ | 4 | 8
""",
        (
            "B2:C2=B3:C3+B4:C4",
            "B2:C2=B5:C5+B6:C6",
            "B6:C6=B7:C7+B8:C8",
        ),
        "",
    ),
    "grouped bothdims": (
        """
Group | All | F | M | Yes | No
Total | 100 | 48 | 52 | 60 | 40
North | 60 | 28 | 32 | 45 | 15
South | 40 | 20 | 20 | 15 | 25
Young | 70 | 45 | 25 | 55 | 15
Old | 30 | 3 | 27 | 5 | 25
""",
        (
            "B2:F2=B3:F3+B4:F4",
            "B2:F2=B5:F5+B6:F6",
            "B2:B6=C2:C6+D2:D6",
            "B2:B6=E2:E6+F2:F6",
        ),
        "",
    ),
    "nhs rtt": (
        """
Referral to Treatment
Period: | April 2024
Source: | SDCS

Provider Code | Provider Name | Commissioner Code | Commissioner Name | 0-18 weeks | 18-52 weeks | Over 52 weeks | Total
RAE | Bradford | 02N | Airedale | 120 | 30 | 3 | 153
RAE | Bradford | 36J | Bradford CCG | 500 | 40 | 9 | 549
RCB | York | 02N | Airedale | 17 | 6 | 2 | 25
RCB | York | 36J | Bradford CCG | 44 | 12 | 8 | 64
""",
        ("H6:H9=E6:E9+F6:F9+G6:G9",),
        "",
    ),
    "dfe census": (
        """
time_period | geographic_level | la_code | la_name | school_type | headcount | fsm | percent_fsm
202324 | LA | 301 | Barking | Primary | 2000 | 400 | 20.0
202324 | LA | 301 | Barking | Secondary | 1500 | 4 | 0.3
202324 | LA | 302 | Barnet | Primary | 1800 | 90 | 5.0
202324 | LA | 302 | Barnet | Secondary | 1700 | 170 | 10.0
""",
        (),
        "F2:G5",
    ),
    "nomis": (
        """
KS102EW - Age structure
ONS Crown Copyright Reserved [from Nomis on 3 May 2024]

population | All usual residents
units | Persons
date | 2021
rural urban | Total

2021 ward | mnemonic | All usual residents | Age 0 to 15 | Age 16 to 64 | Age 65 and over
Abbey | E05000026 | 100 | 20 | 70 | 10
Alibon | E05000027 | 57 | 11 | 43 | 3
Becontree | E05000028 | 208 | 48 | 120 | 40

In order to protect against disclosure
""",
        ("C10:C12=D10:D12+E10:E12+F10:F12",),
        "",
    ),
}
