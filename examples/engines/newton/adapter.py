"""Newton (Warp) on the scene's own tetrahedra, by three of its solvers, in f32.

vbd            k_mu, k_lambda are Lame's values of the stable Neo-Hookean law without a logarithm (macklin_neo_hookean).
semi_implicit  its law is Smith's with the logarithm (stable_neo_hookean): mu 4/3 and lambda + 5/6 mu give E and nu.
xpbd           constraints tr(F^T F) - 3 and J - 1: no shear modulus at rest, so no E and nu map to it. Refused unless
               material_as=is, which hands over Lame's values as they are.

Masses are those of the scene. The radius of particles is made small, or a mesh's neighbours repel each other."""

import os

import numpy as np
import warp as wp

import pbd_engine

# Before newton, whose import takes seconds: a machine without the device is told at once.
wp.config.quiet = True
wp.init()
wp.set_device(os.environ.get("WARP_DEVICE", "cpu"))  # gpu.yaml: cuda:0

import newton


class Newton(pbd_engine.Engine):
    engine, version, integrator = "Newton", newton.__version__, "by solver"
    precision = "f32"
    needs, takes = ["tets"], ["start", "elasticity"]
    laws = ["stable_neo_hookean", "macklin_neo_hookean"]
    fields = ["positions", "velocities"]
    params = [
        pbd_engine.choice("solver", "vbd", ["vbd", "xpbd", "semi_implicit"], "of particles"),
        pbd_engine.integer("iterations", 10, 1, 100000, "solver=vbd|xpbd: sweeps of a step"),
        pbd_engine.real("relaxation", "", 0.9, 0, 1, "solver=xpbd: of its constraints", above_min=True),
        pbd_engine.choice("material_as", "mapped", ["mapped", "is"],
                          "mapped: so that E and nu hold at small strain, or refused; is: Lame's values as they are"),
    ]

    def __init__(self):
        self.device = str(wp.get_device())

    def create(self, scene):
        p, (lam, mu) = scene.params, scene.lame()
        if len(scene.materials) > 1:
            raise pbd_engine.Error("not_supported", "the adapter makes one mesh of one material")
        if np.any(scene.forces):
            raise pbd_engine.Error("not_supported", "the adapter has no forces but gravity")
        law = {"vbd": "macklin_neo_hookean", "semi_implicit": "stable_neo_hookean"}.get(p["solver"])
        if p["material_as"] == "mapped":
            if law and scene.materials[0]["law"] != law:
                raise pbd_engine.Error("not_supported", f"solver={p['solver']} has the law {law}: set material={law}")
            if p["solver"] == "xpbd":
                raise pbd_engine.Error("not_supported", "its XPBD has no shear modulus at rest (C = tr(F^T F) - 3): E and "
                                       "nu cannot be mapped; material_as=is runs it with Lame's values")
            if p["solver"] == "semi_implicit":
                lam, mu = lam + 5 / 6 * mu, 4 / 3 * mu
        builder = newton.ModelBuilder(gravity=wp.vec3(*map(float, scene.gravity)))
        mass = scene.masses.copy()
        mass[scene.fixed] = 0
        size = scene.extent * 1e-6
        for at, m in zip(scene.positions, mass):
            builder.add_particle(wp.vec3(*map(float, at)), wp.vec3(0.0, 0.0, 0.0), float(m), radius=size)
        for a, b, c, d in scene.tets[:, [3, 0, 1, 2]].astype(int):
            builder.add_tetrahedron(int(a), int(b), int(c), int(d), float(mu), float(lam), 0.0)
        if p["solver"] == "vbd":
            builder.color()
        self.model = builder.finalize()
        make = {"vbd": lambda: newton.solvers.SolverVBD(self.model, iterations=p["iterations"]),
                "xpbd": lambda: newton.solvers.SolverXPBD(self.model, iterations=p["iterations"],
                                                          soft_body_relaxation=p["relaxation"]),
                "semi_implicit": lambda: newton.solvers.SolverSemiImplicit(self.model)}
        self.solver = make[p["solver"]]()
        self.now, self.next, self.control = self.model.state(), self.model.state(), self.model.control()
        self.now.particle_q.assign(scene.start.astype(np.float32))
        self.now.particle_qd.assign(scene.velocities.astype(np.float32))
        self.iterations = 1 if p["solver"] == "semi_implicit" else p["iterations"]

    def step(self, dt, n):
        for _ in range(n):
            self.now.clear_forces()
            self.solver.step(self.now, self.next, self.control, None, dt)
            self.now, self.next = self.next, self.now
        wp.synchronize()  # or a GPU's clock would stop too early
        return dict(counts=dict(iterations_done=n * self.iterations))

    def read(self, field):
        return (self.now.particle_q if field == "positions" else self.now.particle_qd).numpy().copy()

    def save(self):
        return self.read("positions").tobytes() + self.read("velocities").tobytes()

    def load(self, state):
        x, v = np.frombuffer(state, np.float32).reshape(2, -1, 3)
        self.now.particle_q.assign(x)
        self.now.particle_qd.assign(v)


if __name__ == "__main__":
    pbd_engine.serve(Newton())
