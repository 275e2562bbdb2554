"""Newton's implicit material point method (SolverImplicitMPM) on the scene's own particles, in f32: sand on planes.

E and nu are its own. Its friction coefficient bounds sqrt(J2) over the pressure: the cone of the scene's drucker_prager has
sqrt(3) 2 sin(phi)/(3 - sin(phi)). No tension, no dilatancy, no drag of air. Its grid is 3 spacings wide, as in its own
scene of sand, unless `cell` says otherwise."""

import os

import numpy as np
import warp as wp

import pbd_engine

# Before newton, whose import takes seconds: a machine without the device is told at once.
wp.config.quiet = True
wp.init()
wp.set_device(os.environ.get("WARP_DEVICE", "cpu"))  # gpu.yaml: cuda:0

import newton
from newton.solvers import SolverImplicitMPM


class NewtonMPM(pbd_engine.Engine):
    engine, version, integrator = "Newton implicit MPM", newton.__version__, "backward Euler"
    precision = "f32"
    needs, takes = ["particles"], ["start", "flow", "colliders"]
    laws = ["hencky"]
    fields = ["positions", "velocities"]
    params = [
        pbd_engine.real("dt", "s", 1 / 60, 0, 1e3, "time step", above_min=True),
        pbd_engine.real("cell", "", 3, 0.5, 16, "width of a voxel, in spacings"),
        pbd_engine.integer("iterations", 250, 1, 100000, "of the solver for stress and flow, at most"),
        pbd_engine.real("tolerance", "", 1e-4, 0, 1, "of that solver"),
    ]

    def __init__(self):
        self.device = str(wp.get_device())

    def create(self, scene):
        p, material, flow = scene.params, scene.materials[0], scene.materials[0]["flow_values"]
        if len(scene.materials) > 1 or material["flow"] != "drucker_prager" or flow["cohesion"] > 0:
            raise pbd_engine.Error("not_supported", "one matter with flow=drucker_prager and cohesion=0")
        if len(scene.fixed) or np.any(scene.forces):
            raise pbd_engine.Error("not_supported", "nothing may be held, and there are no forces but gravity")
        builder = newton.ModelBuilder(gravity=wp.vec3(*map(float, scene.gravity)))
        SolverImplicitMPM.register_custom_attributes(builder)
        for x, v, m, volume in zip(scene.start, scene.velocities, scene.masses, scene.volumes):
            builder.add_particle(wp.vec3(*map(float, x)), wp.vec3(*map(float, v)), float(m),
                                 radius=float(0.5 * volume ** (1 / 3)))
        for c in scene.colliders:
            if c["shape"] != "plane" or np.any(c["velocity"]) or np.any(c["spin"]):
                raise pbd_engine.Error("not_supported", "colliders must be planes that stand still")
            n = np.array(c["axis"][2])
            builder.add_shape_plane(plane=(*map(float, n), float(-n @ np.array(c["centre"]))), width=0.0, length=0.0,
                                    cfg=newton.ModelBuilder.ShapeConfig(mu=float(c["friction"])))
        self.model = builder.finalize()
        sine = np.sin(np.radians(flow["friction_angle"]))
        values = dict(young_modulus=material["E"], poisson_ratio=material["nu"], tensile_yield_ratio=0.0,
                      friction=np.sqrt(3) * 2 * sine / (3 - sine))
        for name, value in values.items():
            getattr(self.model.mpm, name).fill_(float(value))
        config = SolverImplicitMPM.Config(voxel_size=float(p["cell"] * scene.spacing), max_iterations=p["iterations"],
                                          tolerance=p["tolerance"])
        if hasattr(config, "air_drag"):
            config.air_drag = 0.0
        self.now, self.next = self.model.state(), self.model.state()
        self.solver = SolverImplicitMPM(self.model, config=config)

    def step(self, dt, n):
        for _ in range(n):
            self.solver.step(self.now, self.next, None, None, dt)
            self.solver.project_outside(self.next, self.next, dt)
            self.now, self.next = self.next, self.now
        wp.synchronize()  # or a GPU's clock would stop too early

    def read(self, field):
        return (self.now.particle_q if field == "positions" else self.now.particle_qd).numpy().copy()


if __name__ == "__main__":
    pbd_engine.serve(NewtonMPM())
