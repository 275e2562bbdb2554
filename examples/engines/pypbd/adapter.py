"""PositionBasedDynamics (pypbd) on the scene's own tetrahedra.

Its methods of solids, by `method` (addSolidConstraints): fem, an energy constraint of PBD, whose stiffness is that of the
iterations, whatever E is; xpbd_distance, distance and volume constraints with compliance; strain, distance, shape_matching,
with k in 0..1. None of them takes E and nu as a material's: the adapter says so, with an empty list of laws, and hands E and
nu to the energy constraint, where they are arguments. Gravity cannot be set from Python: it is (0, -9.81, 0), so the scene is turned, and another
magnitude is refused; without gravity, too."""
import importlib.metadata

import numpy as np
import pypbd

import pbd_engine

METHODS = {"distance": 1, "fem": 2, "strain": 3, "shape_matching": 4, "xpbd_distance": 5}
GRAVITY = 9.81


def turn_to_its_gravity(gravity):
    """The rotation that takes the scene's gravity to (0, -1, 0)."""
    a, b = gravity / np.linalg.norm(gravity), np.array([0.0, -1.0, 0.0])
    v, c = np.cross(a, b), a @ b
    if c < -1 + 1e-12:
        return np.diag([1.0, -1.0, -1.0])
    K = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    return np.eye(3) + K + K @ K / (1 + c)


class Pypbd(pbd_engine.Engine):
    engine, version, integrator = "PositionBasedDynamics", importlib.metadata.version("pypbd"), "position-based"
    needs, takes = ["tets"], ["start", "elasticity"]
    laws = []
    fields = ["positions", "velocities"]
    params = [
        pbd_engine.choice("method", "fem", METHODS, "constraints of the solid"),
        pbd_engine.integer("iterations", 10, 1, 100000, "projections of every constraint in a substep"),
        pbd_engine.integer("substeps", 1, 1, 1000, "of a step"),
        pbd_engine.real("k", "", 1, 0, 1e12, "method=distance|strain|shape_matching|xpbd_distance: stiffness, in 0..1; with "
                        "xpbd_distance in N/m"),
        pbd_engine.real("k_volume", "", 1, 0, 1e12, "method=distance|xpbd_distance: of the volume constraints"),
    ]

    def create(self, scene):
        size = np.linalg.norm(scene.gravity)
        if abs(size - GRAVITY) > 1e-3 * GRAVITY:
            raise pbd_engine.Error("not_supported", f"its gravity is 9.81 m/s^2 and cannot be set; the scene has {size:g}")
        if np.any(scene.forces):
            raise pbd_engine.Error("not_supported", "it has no forces but gravity")
        self.R = turn_to_its_gravity(scene.gravity)
        p, material = scene.params, scene.materials[0]
        pypbd.Logger.deactivate() if hasattr(pypbd.Logger, "deactivate") else None
        pypbd.Timing.reset() if hasattr(pypbd.Timing, "reset") else None
        self.sim = pypbd.Simulation.getCurrent()
        self.sim.initDefault()
        self.model = self.sim.getModel()
        tets = scene.tets.astype(int)
        self.model.addTetModel(scene.positions @ self.R.T, tets.ravel().tolist(), False, False)
        tet_model = self.model.getTetModels()[0]
        self.particles = self.model.getParticles()
        for i, mass in enumerate(scene.masses):
            self.particles.setMass(i, mass)
        for i in scene.fixed:
            self.particles.setMass(int(i), 0.0)
        stiffness, volume = p["k"], p["k_volume"]
        if p["method"] == "fem":
            stiffness, volume = material["E"], 1.0
        self.model.addSolidConstraints(tet_model, METHODS[p["method"]], stiffness, material["nu"], volume, False, False)
        start, velocities = scene.start @ self.R.T, scene.velocities @ self.R.T
        for i in range(len(scene.masses)):
            self.particles.setPosition(i, start[i])
            self.particles.setVelocity(i, velocities[i])
        self.stepper = self.sim.getTimeStep()
        self.stepper.setValueUInt(pypbd.TimeStepController.NUM_SUB_STEPS, p["substeps"])
        self.stepper.setValueUInt(pypbd.TimeStepController.MAX_ITERATIONS, p["iterations"])
        self.per_step = p["substeps"] * p["iterations"]

    def step(self, dt, n):
        pypbd.TimeManager.getCurrent().setTimeStepSize(dt)
        for _ in range(n):
            self.stepper.step(self.model)
        return dict(counts=dict(iterations_done=n * self.per_step))

    def read(self, field):
        get = self.particles.getPosition if field == "positions" else self.particles.getVelocity
        return np.array([get(i) for i in range(self.particles.getNumberOfParticles())]) @ self.R


if __name__ == "__main__":
    pbd_engine.serve(Pypbd())
