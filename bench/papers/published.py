# SPDX-License-Identifier: BSD-3-Clause
"""What the papers publish: their tables, and what their texts say of their figures."""

# Ma et al. 2021, Tables 1 to 4: T_p and T_total in milliseconds, and the iterations, of the columns
# PETSc, cuSPARSE, ISAI(1), ISAI(2), ISAI(3).
BLOCK_ISAI = {
    "atmosmodd": [(1072, 7654, 201), (86, 859, 201), (19.7, 594, 295), (44, 685, 242)],
    "af_shell3": [
        (435, 470, 25), (170, 193, 25), (9.03, 40.1, 45), (15.1, 35.5, 29), (22.0, 39.7, 26)
    ],
    "cavity": [
        (130, 3150, 623), (129, 3074, 623), (3.72, 560, 1092), (5.20, 468, 836), (6.88, 443, 711)
    ],
    "venkat50": [
        (50, 734, 367), (192, 2556, 367), (1.96, 678, 2208), (3.02, 458, 1324), (4.25, 369, 948)
    ],
}

# Anzt et al. 2017, Table 2, of which the text at hand has these matrices: (iterations, seconds) of
# Jacobi and of blocks of at most 4, 8, 16, 24, 32 rows; None if IDR(4) did not converge.
GAUSS_JORDAN = {
    "2D_54019_highK": [None, (7795, 14.38), (3083, 5.85), (1042, 2.08), (301, 0.63), (507, 1.06)],
    "3D_51448_3D": [None, None, None, (7208, 16.46), (214, 0.52), (2505, 5.86)],
    "ABACUS_shell_ud": [
        (2492, 4.03), (1764, 2.96), (1512, 2.62), (1919, 3.42), (1830, 3.27), (1084, 2.01),
    ],
    "af_shell3": [
        (1931, 11.88), (1228, 8.28), (1374, 9.28), (1066, 8.32), (1154, 9.09), (1108, 9.46),
    ],
    "bcsstk17": [(1271, 2.17), (1122, 1.97), (1141, 2.01), (609, 1.11), (532, 0.97), (574, 1.06)],
    "bcsstk18": [(1038, 1.48), (590, 0.99), (504, 0.9), (360, 0.66), (318, 0.58), (311, 0.6)],
    "bcsstk38": [None, (4772, 9.17), (3510, 6.82), (2009, 3.97), (1402, 2.78), (1820, 3.55)],
    "cbuckle": [(207, 0.41), (103, 0.23), (73, 0.15), (63, 0.15), (19, 0.06), (49, 0.11)],
    "Chebyshev2": [None, None, (138, 0.41), (47, 0.13), (34, 0.1), (28, 0.09)],
    "Chebyshev3": [None, None, None, (148, 0.58), (80, 0.32), (73, 0.3)],
    "crankseg_1": [(229, 0.75), (153, 0.58), (145, 0.58), (149, 0.63), (135, 0.57), (103, 0.47)],
    "CurlCurl_0": [(94, 0.14), (72, 0.14), (64, 0.13), (52, 0.12), (50, 0.11), (46, 0.1)],
    "CurlCurl_1": [(301, 0.82), (236, 0.72), (197, 0.64), (130, 0.51), (126, 0.55), (108, 0.55)],
    "cz40948": [None, (63159, 112.52), (33527, 61.08), None, (39056, 74.92), (34785, 66.82)],
    "dc3": [(237, 24.51), (143, 14.77), (121, 12.6), (124, 12.87), (138, 14.43), (189, 19.69)],
    "dw1024": [None, (253, 0.43), (124, 0.24), (130, 0.26), (78, 0.15), (52, 0.1)],
    "dw2048": [None, (253, 0.45), (124, 0.25), (130, 0.26), (78, 0.15), (52, 0.1)],
    "dw4096": [None, None, None, (4713, 7.3), (1471, 2.41), (876, 1.45)],
    "dw8192": [None, None, None, (4713, 7.3), (1471, 2.44), (876, 1.47)],
    "ecology2": [
        (5985, 37.78), (4672, 32.09), (3231, 23.9), (2901, 25.47), (2417, 22.22), (2691, 27.31),
    ],
    "Emilia_923": [
        None, (50740, 678.05), (23572, 329.08), (51106, 811.3), (17632, 291.14), (42239, 746.98),
    ],
    "F1": [
        (2751, 20.4), (2255, 15.82), (2261, 16.15), (1928, 15.17), (1946, 15.17), (1742, 14.65),
    ],
    "Flan_1565": [None, None, None, None, None, (155918, 6130.28)],
    "G3_circuit": [
        (2510, 24.06), (974, 10.0), (1091, 13.9), (1074, 16.46), (906, 15.18), (1028, 18.97),
    ],
    "gas_sensor": [None, None, (17310, 37.17), (11702, 26.24), (19057, 43.12), (7724, 17.65)],
    "gridgena": [(1205, 2.16), (830, 1.55), (662, 1.26), (696, 1.38), (672, 1.36), (696, 1.44)],
    "Hook_1498": [
        None, (29323, 694.23), (6394, 143.86), (6270, 161.82), (16930, 671.64), (2684, 71.45),
    ],
    "ibm_matrix_2": [None, None, None, (7007, 16.02), (206, 0.52), (2275, 5.36)],
    "Kuu": [(98, 0.16), (74, 0.13), (68, 0.14), (69, 0.13), (59, 0.13), (58, 0.13)],
    "LeGresley_2508": [
        (261, 0.39), (203, 0.37), (176, 0.33), (188, 0.36), (168, 0.31), (153, 0.28),
    ],
    "linverse": [(2761, 4.17), None, None, (6351, 10.41), (1986, 3.37), (870, 1.59)],
    "matrix_9": [(1451, 3.01), (602, 1.32), (661, 1.52), (496, 1.23), (89, 0.29), (489, 1.31)],
    "matrix-new_3": [None, (5270, 11.43), (5640, 12.96), (5277, 13.05), (221, 0.62), (2290, 5.98)],
    "ML_Geer": [None, (1659, 38.1), (1345, 37.28), (2110, 66.81), (1518, 50.09), (1169, 36.68)],
    "msc10848": [None, None, None, None, (11503, 22.16), (9372, 17.93)],
    "nasa2910": [(587, 0.85), (562, 0.94), (495, 0.83), (385, 0.68), (435, 0.74), (339, 0.61)],
    "nd12k": [
        (25417, 85.5), (10932, 35.91), (3487, 11.95), (2130, 7.49), (1300, 4.58), (1308, 4.63),
    ],
    "nd24k": [
        (38865, 209.63), (13382, 73.13), (4007, 21.2), (1886, 10.31), (1865, 9.94), (1149, 6.45),
    ],
    "nd3k": [None, None, None, (2928, 5.97), (1961, 4.04), (2494, 5.08)],
    "nd6k": [None, None, (8259, 20.19), (4370, 10.81), (2906, 7.27), (1847, 4.64)],
    "nemeth15": [(51, 0.09), (45, 0.1), None, (70, 0.15), (27, 0.05), (31, 0.06)],
    "olm5000": [None, (344, 0.58), (179, 0.35), (114, 0.22), (139, 0.25), (165, 0.31)],
    "piston": [None, (122, 0.24), (125, 0.25), (125, 0.25), (93, 0.19), (93, 0.18)],
    "Pres_Poisson": [(188, 0.33), (149, 0.31), (114, 0.24), (91, 0.18), (86, 0.17), (74, 0.17)],
    "rail_79841": [(987, 1.84), (952, 1.86), (817, 1.66), (679, 1.46), (691, 1.53), (517, 1.2)],
    "s1rmt3m1": [(237, 0.35), (165, 0.32), (150, 0.29), (132, 0.27), (129, 0.27), (135, 0.28)],
    "s2rmq4m1": [(613, 0.92), (307, 0.56), (229, 0.42), (218, 0.42), (198, 0.37), (199, 0.39)],
    "s2rmt3m1": [(1124, 1.73), (372, 0.65), (267, 0.49), (211, 0.39), (163, 0.32), (193, 0.37)],
    "s3rmq4m1": [None, (3977, 6.31), (1007, 1.65), (1277, 2.12), (425, 0.74), (718, 1.19)],
    "s3rmt3m1": [None, None, (8565, 13.56), (1354, 2.25), (410, 0.7), (1117, 1.88)],
    "s3rmt3m3": [None, None, (10497, 16.51), (1503, 2.49), (651, 1.12), (907, 1.51)],
    "saylr4": [(1077, 1.52), (359, 0.59), (255, 0.45), (183, 0.32), (120, 0.24), (130, 0.26)],
    "ship_003": [
        (8324, 20.29), (2150, 5.58), (2219, 6.08), (2501, 7.43), (2102, 6.31), (1799, 5.65),
    ],
    "sme3Dc": [(3455, 7.91), (3216, 7.79), (3449, 8.53), (3762, 9.54), (2680, 6.92), (2405, 6.22)],
    "spmsrtls": [None, None, None, None, (39425, 71.16), (7797, 14.18)],
    "sts4098": [(103, 0.19), (82, 0.18), (85, 0.19), (70, 0.16), (59, 0.13), (54, 0.12)],
}

# Flegar et al. 2020, Table 1: the names are in cases/suitesparse/adaptive-2020.txt.

CLAIMS = {
    # Ma et al. 2021
    "isai figure 4": "ISAI(1) 2.5 %, ISAI(2) 5.8 %",
    "isai figure 5": "12.6 × PETSc, faster than cuSPARSE",
    "isai figure 6": "comparable to T_total",
    "isai figure 7": "more than 5 × PETSc, 3.9 × cuSPARSE",
    "isai figure 8": "at most 4 %",
    "isai figure 9": "6.9 × PETSc and cuSPARSE",
    "isai figure 10": "15 606 block rows, 107 362 blocks",
    "isai figure 11": "only drawn",
    "isai figure 12": "1.92 × PETSc, 6.69 × cuSPARSE",
    "isai section 4.2": "12.4 × PETSc",
    "isai section 4.3": "2.55 × PETSc",
    "isai section 4.3, part": "88 %",
    "isai section 4.4": "14 %, 34 %, 75 %",
    "isai section 4.5": "nearly 1/4 × PETSc",
    "isai section 4.5, iterations": "6 times",
    "isai section 3.2, blocks of 3": "over 750 MB",
    "isai section 3.2, blocks of 5": "exceeds 2 GB",
    "isai section 3.2, Algorithm 2": "the kernel of the paper; no time of its own",
    "isai abstract": "1.4 × to 6.9 ×",
    # Anzt et al. 2017
    "jordan equation 1": "the term is usually left out, and converges if ρ(I − D⁻¹A) < 1",
    "jordan figure 4": "superior on all four GPUs; the summary says more than an order of"
    " magnitude",
    "jordan figure 5, 8": "no strategy is an overall winner; cached ones are better for small"
    " blocks",
    "jordan figure 5, 32": "shared memory is preferred for larger blocks; US and MS gain on P100",
    "jordan figure 6, tridiagonal": "US, MS, UC and MC similar",
    "jordan figure 6, arrow": "US and MS superior: one thread extracts the full row in UC and MC",
    "jordan figure 7": "in some cases faster for a larger block size: a warp has one block",
    "jordan table 1, inversion": "–, 21, 16; –, 42, 16; –, 14, 14 (of one warp)",
    "jordan table 1, extraction cache": "–, 146, 16; –, 292, 16; –, 146, 32 (of one warp)",
    "jordan table 1, merged cache": "–, 20, 16; –, 40, 16; –, 13, 13 (of one warp)",
    "jordan table 1, extraction shared": "6, 113, 6; 14, 227, 14; 8, 136, 8 (of one warp)",
    "jordan table 1, merged shared": "6, 20, 6; 14, 40, 14; 8, 14, 8 (of one warp)",
    "jordan table 1, insertion": "–, 146, 16; –, 292, 16; –, 157, 32 and 6, 89, 6; 14, 178, 14;"
    " 8, 52, 8",
    # Anzt et al. 2017 (slides) and 2018 (abstract)
    "huard decomposition": "a picture, against MAGMA",
    "huard picture": "a picture",
    "huard coalesced": "GH-T for coalesced access",
    "huard operations": "2 n³ against 2/3 n³ operations",
    "huard break-even": "not given",
    "huard offset": "block-Jacobi decreases the time to solution",
    "variable inversion": "faster, on K40 and P100",
    "variable other": "no number",
    # Flegar et al. 2020
    "adaptive section 1": "up to 70 % of the data transfers saved (of an earlier paper, in theory)",
    "adaptive figure 5": "no difference between the calls; applications 40–50 % faster on a V100",
    "adaptive figure 6, set-up": "column-major is slightly slower, because stores are not"
    " coalesced",
    "adaptive figure 6, rows": "above 1 for all sizes",
    "adaptive figure 6, small": "marginal benefits of interleaving",
    "adaptive figure 6, 32": "the same layout",
    "adaptive figure 7, fixed": "some gain, because less is stored",
    "adaptive figure 7, six": "up to 2",
    "adaptive figure 7, three": "1 (those with the exponents of fp64)",
    "adaptive figure 7, 32 bits": "up to 1.7",
    "adaptive figure 7, 16 bits": "up to 2",
    "adaptive table 1": "SuiteSparse, 10⁶ to 5·10⁸ entries, more than 100 iterations",
    "adaptive figure 8, 1 digit": "many blocks in fp16 and fp32, some in bf16, hardly any in"
    " (11, 4), (11, 20)",
    "adaptive figure 8, 2 digits": "more in fp32 and fp64, none in bf16",
    "adaptive figure 9, 1 digit": "more in several cases",
    "adaptive figure 9, 2 digits": "hardly more",
    "adaptive figure 9, large": "10–30 % with well-conditioned blocks",
    "adaptive figure 9, small": "slightly slower is possible",
    "adaptive figure 9, dots": "CG converges on all matrices with both preconditioners; a dot says"
    " whether it does without one",
    "adaptive section 7, 2": "regularity is strictly preserved",
    "adaptive section 7, 3": "2 digits may cost iterations, but rarely do",
    "none": "–",
}


def claim(key):
    """Returns the text of a claim."""
    return CLAIMS[key]
