# SPDX-License-Identifier: BSD-3-Clause
"""Writes the gallery of the built-in systems: python3 gallery.py ROOT FOLDER PROGRAM.

Each system has what its page says first, and a picture of its solution where this Python has
matplotlib and PROGRAM, which solves it, is there.
"""
import pathlib
import re
import subprocess
import sys

# The name, what --size is, the shape of the grid (x is fastest), the field, and what it shows
PICTURES = (
    ("cavity", "100", (100, 100, 3), lambda x: (x[..., 0] ** 2 + x[..., 1] ** 2) ** 0.5, "speed"),
    ("elasticity", "16", (16, 16, 16, 3), lambda x: x[:, 8, :, 2],
     "displacement downwards, x and z"),
    ("reservoir", "40,40,6", (6, 40, 40, 2), lambda x: x[0, :, :, 0], "change of the pressure"),
    ("atmosphere", "60,60,24", (24, 60, 60), lambda x: x[0], "concentration at the ground"),
    ("reaction", "128", (128, 128, 2), lambda x: x[..., 0], "first component"),
    ("shell", "40", (40, 40, 5), lambda x: x[..., 2], "displacement across the shell"),
    ("euler", "60", (60, 90, 4), lambda x: x[..., 0], "change of the density"),
    ("convdiff", "40", (40, 40, 40), lambda x: x[20], "a plane in the middle"),
)


def draw(program, name, size, shape, field, shown, picture):
    """Draws the solution of a system. Returns false if this Python or the program cannot."""
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot as plt
        import numpy as np
    except ImportError:
        return False
    solution = picture.with_suffix(".npy")
    command = [program, "solve", "--case", name, "--size", size, "--output", solution]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except FileNotFoundError:
        return False
    figure, axes = plt.subplots(figsize=(4, 3))
    drawn = axes.imshow(field(np.load(solution).reshape(shape)), origin="lower", cmap="viridis")
    figure.colorbar(drawn, ax=axes, label=shown)
    axes.set(xticks=[], yticks=[])
    figure.tight_layout()
    figure.savefig(picture, dpi=90)
    plt.close(figure)
    solution.unlink()
    return True


def main():
    """Writes gallery.md and its pictures."""
    root, folder, program = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3]
    (folder / "gallery").mkdir()
    lines = ["# Gallery", "",
             "The systems that the program makes. Each page has the equations, and "
             "says how many iterations to expect.", ""]
    for name, size, *what in PICTURES:
        text = (root / "cases" / name / "README.md").read_text()
        title = re.match(r"# (.*)", text)[1]
        about = re.search(r"^The case is .*?(?=\n\n)", text, re.M | re.S)[0]
        picture = folder / "gallery" / f"{name}.png"
        lines += [f"## [{title}](../../cases/{name}/README.md)", ""]
        if draw(program, name, size, *what, picture):
            lines += [f"![{what[-1]}](gallery/{name}.png)", ""]
        command = f"bisai solve --case {name} --size {size}"
        lines += [about.rstrip(":.") + ".", "", "```sh", command, "```", ""]
    (folder / "gallery.md").write_text("\n".join(lines))


if __name__ == "__main__":
    main()
