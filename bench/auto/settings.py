# SPDX-License-Identifier: BSD-3-Clause
"""The settings that the grid tries: what a user may choose by hand. Only the standard library."""

GMRES = ()
GMRES_100 = ("--restart", "100")
GMRES_200 = ("--restart", "200")
IDR = ("--solver", "idr:s=8")
CG = ("--solver", "cg")
BICGSTAB = ("--solver", "bicgstab")
RCM = ("--ordering", "rcm")
DISSECTION = ("--ordering", "nd")
SCALARS = ("--block-size", "1")
MATCHED = ("--matching", "entries")
PROJECTED = ("--project", "constants")

TIERS = [  # those of a tier are run before those of the next one: flags, methods
    [
        (GMRES, ["ilu", "isai:k=1", "isai:relax=2", "mg"]),
        (GMRES_100, ["ilu", "ilu:level=1:shift=0.01", "ilu:level=2:shift=0.01"]),
        (IDR, ["ilu", "isai:relax=2"]),
        (CG, ["mg", "ilu", "bjacobi"]),
        (DISSECTION, ["ilu:level=60"]),
        (MATCHED + GMRES_100, ["ilu", "ilu:level=2:shift=0.01"]),
        (GMRES, ["lu", "lu:matching=entries", "schur"]),
    ],
    [
        (GMRES, ["none", "bjacobi", "isai:k=2", "mg:smoother=ilu", "cpr"]),
        (GMRES_100, ["mg", "isai:k=1", "ilu:level=4:shift=0.01", "bjacobi:max=32"]),
        (RCM + GMRES_100, ["ilu", "ilu:level=1:shift=0.01", "ilu:level=2:shift=0.01"]),
        (CG, ["isai:symmetric", "mg:smoother=ilu", "none"]),
        (IDR, ["mg", "none", "ilu:level=1:shift=0.01"]),
        (SCALARS + GMRES_100, ["ilu", "ilu:level=2:shift=0.01", "mg"]),
        (MATCHED + IDR, ["ilu:level=1:shift=0.01"]),
        (PROJECTED + CG, ["mg", "ilu"]),
    ],
    [
        (SCALARS + CG, ["ilu", "mg"]),
        (SCALARS + IDR, ["ilu"]),
        (GMRES, ["lu:storage=fp32"]),
        (DISSECTION + GMRES_100, ["ilu:level=2:shift=0.01"]),
        (GMRES_200, ["ilu:level=4:shift=0.01"]),
        (BICGSTAB, ["ilu", "bjacobi"]),
        (GMRES_100, ["sweeps:n=3", "mg:smoother=ilu", "isai:k=3"]),
        (("--equilibrate", ) + GMRES_100, ["ilu:level=2:shift=0.01"]),
    ],
]


def name_of(flags, method):
    """Returns the setting as it stands on a command line."""
    return " ".join(["--preconditioner", method, *flags])


def command_of(setting):
    """Returns (method, flags) of the name of a setting."""
    words = setting.split()
    return words[1], tuple(words[2:])
