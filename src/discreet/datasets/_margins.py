"""The margins the synthetic census is fitted to: plausible figures of our own, not taken from any census.

Only their *shape* matters: they were chosen so that the fitted hypercube has as many zeros, ones and twos as the one of
JOS15 Table 1. Rows and columns follow the order of the codes in ``census.py`` without "not applicable". A 0 in a
two-way table is an edit rule: that pair of codes cannot occur.
"""

from __future__ import annotations

# per 1000 persons, bands 0-4, 5-9, ..., 95-99, 100+; the tenth is 96,656 of 1,500,000 as in JOS15 Table 2
AGE = (58.1, 62, 65, 62, 60, 66, 76, 80, 71, 64.437, 68, 57, 50, 45, 40, 33, 23, 13, 5.2, 1.2, 0.063)
# men per 100 persons of the band
MEN = (51, 51, 51, 51, 50, 50, 49, 49, 49, 49, 49, 49, 49, 48, 45, 41, 35, 27, 21, 16, 11)
REGION = (854_539, 645_461)  # JOS15 Table 2, output tables 1 and 2
SEX = (736_355, 763_645)  # JOS15 Table 2, output table 3

# per 1000 persons: national, other EU, other Europe, rest of the world, stateless
CITIZENSHIP = (957.5, 12, 0.5, 29.98, 0.02)
# how much likelier each is among region 1 and region 2
REGION_CITIZENSHIP = ((960, 10, 0.5, 8, 0.02), (940, 26, 1.6, 26, 0.03))
# foreigners per 100 nationals, by age band, relative to the mean
AGE_FOREIGN = (90, 80, 70, 80, 160, 200, 180, 140, 110, 90, 80, 70, 60, 50, 40, 30, 25, 20, 15, 10, 10)

# persons of 15-74, in per cent: employed, unemployed, student, inactive
ACTIVITY = (62, 6, 9, 23)
# major groups 0-9, never worked, not stated (the last job for those without one)
OCCUPATION = (0.15, 11.7, 10, 11.5, 12.5, 15, 1.5, 9.5, 8, 11, 7, 2)
# ISCED 0-6, not stated
EDUCATION = (8, 12, 25, 27, 6, 19, 0.3, 2.5)
# men per 100 persons
MEN_ACTIVITY = (54, 61, 49, 35)
MEN_OCCUPATION = (90, 67, 50, 48, 21, 25, 80, 93, 83, 53, 38, 52)

AGE_ACTIVITY = (
    (35, 6, 54, 5),  # 15-19
    (62, 6, 22, 10),
    (77, 5, 6, 14),
    (78, 4, 4, 16),
    (79, 4, 3, 15.5),
    (80, 3, 2.5, 16),
    (80, 3, 2, 16.4),
    (75, 3, 1.5, 21.7),
    (60, 3, 0.7, 37),
    (36, 2, 0, 62),  # 60-64: no more students
    (10, 0, 0, 90),  # 65-69: nobody is counted as unemployed
    (5, 0, 0, 95),
)
AGE_OCCUPATION = (
    (0.4, 0, 0.2, 3, 9, 24, 1, 5, 3, 20, 32, 3),  # 15-19: no managers
    (0.8, 3, 5, 10, 17, 20, 1, 10, 6, 16, 8, 3),
    (0.7, 10, 12, 15, 16, 13, 1, 10, 7, 10, 4, 2),
    (0.6, 13, 12, 15, 14, 12, 1.1, 11, 8, 9, 3, 1.4),
    (0.5, 14, 12, 14, 13, 13, 1.2, 11, 8, 9, 3, 1.3),
    (0.3, 14, 12, 13, 13, 13, 1.4, 11, 9, 9, 3, 1.3),
    (0.2, 14, 12, 12, 13, 13, 1.5, 11, 9, 10, 3, 1.3),
    (0.1, 14, 11, 11, 13, 13, 1.7, 11, 10, 11, 3, 1.2),
    (0.05, 13, 10, 9, 13, 14, 2, 11, 10, 13, 4, 1),
    (0, 11, 9, 8, 13, 14, 2.5, 12, 11, 14, 5, 0.5),  # 60-64: no more armed forces
    (0, 10, 8, 7, 13, 15, 3, 12, 11, 14, 6, 1),
    (0, 9, 7, 6, 13, 15, 3, 12, 11, 15, 8, 1),
)
AGE_EDUCATION = (
    (3, 4, 56, 30, 0, 0, 0, 5),  # 15-19: nothing above ISCED 3
    (2, 2, 20, 46, 7, 20, 0, 3),  # 20-24: no doctorate
    (2, 3, 20, 34, 8, 31, 0.3, 2),
    (3, 3, 22, 32, 8, 30, 0.7, 2),
    (3, 4, 26, 31, 8, 26, 0.8, 2),
    (4, 5, 28, 29, 7, 25, 0.8, 2),
    (5, 8, 27, 28, 7, 23, 0.8, 2),
    (8, 14, 26, 24, 6, 20, 0.7, 2),
    (13, 22, 22, 20, 5, 16, 0.6, 2),
    (19, 29, 18, 16, 4, 12, 0.4, 2),
    (26, 33, 14, 12, 3, 9, 0.3, 3),
    (33, 34, 11, 9, 2, 7, 0.2, 4),
)
ACTIVITY_OCCUPATION = (
    (0.5, 14, 12, 13, 13, 15, 1.5, 11, 8, 10, 0, 1),  # the employed have worked
    (0.2, 5, 4, 7, 10, 17, 1.5, 13, 12, 22, 7, 2),
    (0, 0.5, 1, 3, 10, 30, 0.5, 2, 1.5, 16, 33, 3),
    (0.4, 8, 7, 9, 15, 16, 2, 9, 9, 14, 9, 2),
)
OCCUPATION_EDUCATION = (
    (0, 0, 25, 50, 3, 14, 0, 0.1),  # armed forces
    (0, 0.3, 18, 28, 9, 38, 1, 1),  # managers
    (0, 0, 0.3, 10, 8, 74, 7, 1),  # professionals
    (0, 0.2, 12, 34, 13, 38, 0.8, 1),  # technicians
    (2, 5, 30, 42, 8, 12, 0.02, 1),  # clerks
    (6, 10, 36, 34, 6, 7, 0, 1.5),  # service and sales
    (12, 18, 34, 24, 4, 7, 0, 1),  # agriculture
    (8, 12, 34, 38, 5, 2.5, 0, 1),  # craft
    (14, 20, 38, 24, 2, 1.4, 0, 1),  # machine operators
    (22, 22, 34, 17, 2, 1.8, 0, 2),  # elementary
    (30, 16, 34, 14, 2, 4, 0.01, 3),  # never worked
    (5, 5, 10, 10, 2, 5, 0.1, 60),  # not stated
)
# rows are citizenships: how much likelier an occupation is than among nationals
CITIZENSHIP_OCCUPATION = (
    (1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1),
    (0, 1.1, 1.4, 1.1, 0.9, 1.2, 0.7, 0.8, 0.9, 1.2, 1.3, 1.5),  # the armed forces take nationals only
    (0, 0.4, 0.5, 0.5, 0.5, 1.3, 1.6, 1.6, 1.5, 2.2, 2, 2),
    (0, 0.8, 1.3, 0.8, 0.7, 1.4, 0.3, 0.5, 0.8, 1.6, 2.6, 2.5),
    (0, 0.2, 0.4, 0.4, 0.5, 1.5, 0.5, 1, 1, 3, 3, 5),
)
