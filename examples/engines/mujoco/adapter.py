"""MuJoCo's flexes on the scene's own tetrahedra: one body with three slide joints for each particle.

young and poisson are the true E and nu; masses are those of the scene. Law: St. Venant-Kirchhoff, or stable Neo-Hookean
(elastic3d=1) in the form without a logarithm, macklin_neo_hookean here. Its flex wants the integrator `discrete` (backward Euler on positions) or Euler. Joint damping is refused on
the bodies of a flex, so there is no damping by mass; Rayleigh's is the flex's own."""

import mujoco
import numpy as np

import pbd_engine

ANCHOR = 1e9  # masses of the scene: inertia of what is held away from rest. A flex cannot be attached to what is moved there
INTEGRATORS = {"discrete": mujoco.mjtIntegrator.mjINT_DISCRETE, "euler": mujoco.mjtIntegrator.mjINT_EULER}
WARNINGS = {"bad_qpos": mujoco.mjtWarning.mjWARN_BADQPOS, "bad_qvel": mujoco.mjtWarning.mjWARN_BADQVEL,
            "bad_qacc": mujoco.mjtWarning.mjWARN_BADQACC}
said = []  # its warnings, which it would write to a file in the current folder
mujoco.set_mju_user_warning(lambda text: said.append(text if isinstance(text, str) else text.decode()))


class MuJoCo(pbd_engine.Engine):
    engine, version, integrator = "MuJoCo", mujoco.__version__, "backward Euler (discrete)"
    needs, takes = ["tets"], ["start", "elasticity"]
    laws = ["stvk", "macklin_neo_hookean"]
    fields = ["positions", "velocities"]
    params = [
        pbd_engine.choice("integrator", "discrete", INTEGRATORS, "of the flex"),
        pbd_engine.integer("iterations", 100, 1, 100000, "of its solver, at most"),
        pbd_engine.real("tolerance", "", 1e-8, 0, 1, "of its solver"),
        pbd_engine.real("rayleigh", "s", 0, 0, 1e6, "damping by stiffness"),
    ]

    def create(self, scene):
        material = scene.materials[0]
        if len(scene.materials) > 1:
            raise pbd_engine.Error("not_supported", "the adapter makes one flex of one material")
        spec = mujoco.MjSpec()
        option = spec.option
        option.integrator = INTEGRATORS[scene.params["integrator"]]
        option.timestep = scene.params["dt"]
        option.iterations = scene.params["iterations"]
        option.tolerance = scene.params["tolerance"]
        option.gravity = scene.gravity
        option.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_AUTORESET) | int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
        held = np.zeros(len(scene.positions), bool)
        held[scene.fixed] = True
        moved = held & np.any(scene.start != scene.positions, axis=1)  # held elsewhere than at rest
        names = []
        for i, at in enumerate(scene.positions):
            body = spec.worldbody.add_body(name=f"p{i}", pos=at)  # at rest: the shape of the flex is taken from here
            if not held[i] or moved[i]:  # else fixed to the world
                for axis in np.eye(3):
                    joint = body.add_joint(type=mujoco.mjtJoint.mjJNT_SLIDE, axis=axis)
                    joint.armature = ANCHOR * scene.masses.sum() if moved[i] else 0
                body.explicitinertial = 1
                body.mass = scene.masses[i]
                body.ipos = np.zeros(3)
                body.inertia = np.full(3, scene.masses[i] * 1e-6)
            names.append(f"p{i}")
        flex = spec.add_flex(name="body", dim=3)
        flex.elem = scene.tets.ravel().astype(int).tolist()
        flex.vertbody = names
        flex.vert = np.zeros(3 * len(names)).tolist()
        flex.young, flex.poisson = material["E"], material["nu"]
        flex.damping = scene.params["rayleigh"]
        flex.elastic3d = 1 if material["law"] == "macklin_neo_hookean" else 0
        flex.radius = 1e-6
        flex.contype = flex.conaffinity = flex.selfcollide = 0
        self.model = spec.compile()
        self.data = mujoco.MjData(self.model)
        self.free = np.flatnonzero(~held | moved)
        self.held, self.count = held, len(names)
        self.origin = scene.positions[self.free]
        self.at_rest = scene.start.copy()
        self.data.qpos[:] = (scene.start[self.free] - self.origin).ravel()
        self.data.qvel[:] = scene.velocities[self.free].ravel()
        if np.any(scene.forces):
            self.data.qfrc_applied[:] = scene.forces[self.free].ravel()

    def step(self, dt, n):
        if dt != self.model.opt.timestep:
            self.model.opt.timestep = dt
        mujoco.mj_step(self.model, self.data, n)
        for name, index in WARNINGS.items():  # it would reset the scene without a word
            if self.data.warning[index].number:
                raise pbd_engine.Error("diverged", f"MuJoCo warns of {name}")
        if said:
            first = said[0]
            said.clear()
            return dict(warnings=dict(mujoco=first[:290]))

    def read(self, field):
        out = self.at_rest.copy() if field == "positions" else np.zeros((self.count, 3))
        moved = self.data.qpos if field == "positions" else self.data.qvel
        out[self.free] = moved.reshape(-1, 3) + (self.origin if field == "positions" else 0)
        return out

    def save(self):
        d = self.data
        return np.concatenate([[d.time], d.qpos, d.qvel, d.qacc_warmstart]).tobytes()

    def load(self, state):
        d, n = self.data, self.model.nv
        x = np.frombuffer(state)
        d.time, d.qpos[:], d.qvel[:], d.qacc_warmstart[:] = x[0], x[1:1 + n], x[1 + n:1 + 2 * n], x[1 + 2 * n:]


if __name__ == "__main__":
    pbd_engine.serve(MuJoCo())
