# SPDX-License-Identifier: BSD-3-Clause
"""What the scripts share that run programs of PETSc on processes of MPI."""

import re

# the environment: no threads of BLAS; containers often run processes as root
RANKS = {
    "OMP_NUM_THREADS": "1",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
}


def times(text):
    """Returns the seconds of set-up and solve that ex10 prints with -log_view, or None."""
    stages = dict(re.findall(r"^ *\d+: +(KSPSetUp 1|KSPSolve 1): (\S+)", text, re.M))
    return (float(stages["KSPSetUp 1"]), float(stages["KSPSolve 1"])) if len(stages) == 2 else None
