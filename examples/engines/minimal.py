"""The smallest whole engine: a spring along each edge of the tetrahedra, symplectic Euler. Run by the test suite."""
import numpy as np

import pbd_engine


class Springs(pbd_engine.Engine):
    engine, version, integrator = "minimal springs", "1.0", "symplectic_euler"
    needs, takes = ["tets"], ["start", "elasticity"]
    laws = []  # a lattice of springs is no law
    fields = ["positions", "velocities"]
    params = [pbd_engine.real("stiffness", "N/m", 0, 0, 1e12, "of every spring; 0: E times the size of a tetrahedron"),
              pbd_engine.real("damping", "1/s", 0, 0, 1e6, "of velocities, by mass")]

    def create(self, scene):
        self.x, self.v = scene.start.copy(), scene.velocities.copy()
        self.pull = scene.gravity + scene.forces / scene.masses[:, None]
        self.inverse = 1 / scene.masses
        self.inverse[scene.fixed] = 0
        self.damping = scene.params["damping"]
        tets = scene.tets.astype(int)
        corners = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
        edges = np.concatenate([np.sort(tets[:, pair], axis=1) for pair in corners])
        self.i, self.j = np.unique(edges, axis=0).T
        at = scene.positions
        self.rest = np.linalg.norm(at[self.j] - at[self.i], axis=1)
        d = at[tets[:, :3]] - at[tets[:, 3:]]
        size = np.mean(np.abs(np.linalg.det(d)) / 6) ** (1 / 3)
        self.k = scene.params["stiffness"] or scene.materials[0]["E"] * size

    def step(self, dt, n):
        free = (self.inverse > 0)[:, None]
        for _ in range(n):
            d = self.x[self.j] - self.x[self.i]
            length = np.linalg.norm(d, axis=1)
            tension = (self.k * (length - self.rest) / length)[:, None] * d
            force = np.zeros_like(self.x)
            np.add.at(force, self.i, tension)
            np.add.at(force, self.j, -tension)
            self.v += dt * (self.pull + force * self.inverse[:, None] - self.damping * self.v) * free
            self.x += dt * self.v
        return dict(counts=dict(spring_forces=n * len(self.rest)))

    def read(self, field):
        return self.x if field == "positions" else self.v

    def save(self):
        return self.x.tobytes() + self.v.tobytes()

    def load(self, state):
        self.x, self.v = np.frombuffer(state).reshape(2, -1, 3).copy()


if __name__ == "__main__":
    pbd_engine.serve(Springs())
