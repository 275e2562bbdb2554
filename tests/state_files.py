"""Reads states and runs back by meshio, NumPy and pandas, and runs the example notebook.

    python3 tests/state_files.py NOTEBOOK STORE STATES

Positions are compared with those that the runs' own series hold, volumes with those of the bodies.
"""
import glob
import json
import os
import sqlite3
import sys

import meshio
import numpy as np

# Nodes of VTK's quadratic cells that lie on an edge: vtkQuadraticTetra, vtkTriQuadraticHexahedron.
EDGES = {
    "tetra10": [(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)],
    "hexahedron27": [(0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4), (0, 4), (1, 5), (2, 6), (3, 7)],
}
CORNERS = {"tetra10": 4, "hexahedron27": 8}
# A hexahedron as tetrahedra that turn the same way.
TETRAHEDRA = {"tetra": [(0, 1, 2, 3)], "tetra10": [(0, 1, 2, 3)],
              "hexahedron27": [(0, 1, 3, 4), (1, 2, 3, 6), (1, 3, 4, 6), (1, 4, 5, 6), (3, 4, 6, 7)]}


def volume(points, kind, cells):
    parts = [points[cells[:, corners]] for corners in TETRAHEDRA[kind]]
    each = [np.einsum("ni,ni->n", np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0]), p[:, 3] - p[:, 0]) / 6 for p in parts]
    assert all((v > 0).all() for v in each), f"{kind}: cells are turned over"
    return sum(v.sum() for v in each)


def check_folder(folder, body_volume):
    """Files of one run agree with each other; its states."""
    arrays = np.load(folder + "/states.npz")
    names = sorted(glob.glob(folder + "/state_*.vtu"))
    assert len(names) == len(arrays["time"]) > 1 and (np.diff(arrays["time"]) > 0).all()
    particles = arrays["position"].shape[1]
    for i, name in enumerate(names):
        state, ply = meshio.read(name), meshio.read(name.replace(".vtu", ".ply"))
        kind, cells = state.cells[0].type, state.cells[0].data
        rest = state.points - state.point_data["displacement"]
        assert np.array_equal(state.points[:particles], arrays["position"][i])
        assert np.array_equal(ply.points, arrays["position"][i])
        assert np.array_equal(state.point_data["velocity"][:particles], arrays["velocity"][i])
        assert np.allclose(state.cell_data["strain"][0], arrays["strain"][i], rtol=1e-6)
        assert np.allclose(rest[:particles], arrays["rest"], atol=1e-12)
        if body_volume:
            assert abs(volume(rest, kind, cells) / body_volume - 1) < 1e-9, folder
        for k, (a, b) in enumerate(EDGES.get(kind, [])):
            middle = (rest[cells[:, a]] + rest[cells[:, b]]) / 2
            assert np.allclose(rest[cells[:, CORNERS[kind] + k]], middle, atol=1e-12), f"{kind}: node {k}"
    return kind, arrays


def check_series(store, case, arrays):
    """The last state is where the run's own series of positions says."""
    sql = """SELECT component, "values" FROM series JOIN run_view USING (run_id)
             WHERE case_name = ? AND name = 'position' ORDER BY component"""
    rows = sqlite3.connect(store).execute(sql, (case,)).fetchall()
    positions = np.array([json.loads(values) for _, values in rows]).T
    assert positions.shape == arrays["position"][-1].shape
    assert np.allclose(positions, arrays["position"][-1], rtol=0, atol=1e-12)


def run_notebook(path, store, states):
    os.environ.update(PBDBENCH_STORE=store, PBDBENCH_STATES=states)
    with open(path, encoding="utf-8") as file:
        cells = [cell for cell in json.load(file)["cells"] if cell["cell_type"] == "code"]
    names = {}
    for cell in cells:
        exec("".join(cell["source"]), names)
    assert len(names["table"]) == 1 and 0 < names["table"].restitution.iloc[0] < 1
    assert len(names["states"]) == 6


def main(notebook, store, states):
    folders = {os.path.basename(f).rsplit("-", 1)[0]: f for f in sorted(glob.glob(states + "/*-*"))}
    kind, arrays = check_folder(folders["bounce-strain_energy"], 0.2 * 0.2 * 1)
    assert kind == "tetra"
    check_series(store, "bounce", arrays)
    assert check_folder(folders["goo_drop-mpm"], None)[0] == "vertex"
    for element in ["tet10", "hex27"]:
        folder = glob.glob(f"{states}/{element}/*")[0]
        assert check_folder(folder, 0.2 * 0.2 * 0.2)[0] == {"tet10": "tetra10", "hex27": "hexahedron27"}[element]
    run_notebook(notebook, store, states)


if __name__ == "__main__":
    main(*sys.argv[1:])
