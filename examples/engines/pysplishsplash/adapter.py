"""SPlisHSPlasH's divergence-free SPH (DFSPH) on the scene's own particles, in f32.

The tank is a box around the scene's planes, sampled by boundary particles (Akinci et al. 2012); where a side is open, and
above, it stands REACH extents of the liquid away. Particles have the scene's spacing as their diameter, and the mass
that follows. A step adapts to the engine's CFL condition, `dt` at most; those of a call are shortened evenly so that it
ends in time: one short step would remove errors of density by large velocities. The condition is evaluated here, because
the engine would take the new step for pressures and the old one for velocities and positions.
The scene's viscosity is XSPH's share and means nothing to it: `viscosity` is its own, an explicit one, in m^2/s. Its own
scenes have 0.01 at a radius of 25 mm, which is unstable in small ones: it is scaled as time and length are, so that the scene
is theirs in smaller, unless viscosity_as=given. Its pressures are multipliers of its two solvers and are not handed over.
Defaults are those of its own scenes (DoubleDamBreak.json), whose walls are volume maps: still water of a few hundred particles
between them stays compressed by 10 % and moves."""

import importlib.metadata
import json
import os
import sys
import tempfile

import numpy as np
import pysplishsplash as sph

import pbd_engine

REACH = 3  # walls that are not there stand so many extents of the liquid away
WALL = 1.3  # spacings that its box is wider than the tank: with 1 it presses the liquid by 12 % at the start, with 1.3 not
RADIUS = 0.025  # m, of its own scenes' particles


def box_of(scene):
    """Low and high corner of the tank, from planes whose normals lie along the axes."""
    at = scene.positions
    size = np.ptp(at, axis=0).max() + scene.spacing
    low, high = at.min(axis=0) - REACH * size, at.max(axis=0) + REACH * size
    for c in scene.colliders:
        normal = np.array(c["axis"][2])
        axis = int(np.argmax(np.abs(normal)))
        if c["shape"] != "plane" or abs(abs(normal[axis]) - 1) > 1e-9 or np.any(c["velocity"]) or np.any(c["spin"]):
            raise pbd_engine.Error("not_supported", "the adapter makes tanks of planes along the axes that stand still")
        side = low if normal[axis] > 0 else high
        side[axis] = c["centre"][axis]
    top = int(np.argmax(np.abs(scene.gravity)))
    high[top] = min(high[top], at[:, top].max() + size)
    return low, high


def block_of(count):
    """Edges of a block of so many particles. Its loader makes k - 1 of k diameters, and none of an edge of one."""
    for a in range(2, int(count ** 0.5) + 1):
        for b in range(a, int((count // a) ** 0.5) + 1):
            if count % a == 0 and count // a % b == 0:
                return a, b, count // a // b
    raise pbd_engine.Error("not_supported", f"{count} particles are no block of two and more along each edge")


class DFSPH(pbd_engine.Engine):
    engine, version = "SPlisHSPlasH", importlib.metadata.version("pysplishsplash")
    integrator, steps, precision, masses = "DFSPH", "adaptive", "f32", "density"
    needs, takes = ["particles"], ["start", "fluid", "colliders"]
    laws = []
    fields = ["positions", "velocities"]
    params = [
        pbd_engine.real("dt", "s", 0.005, 0, 1e3, "largest step; with cfl=none the step", above_min=True),
        pbd_engine.choice("cfl", "standard", ["standard", "none"], "standard: the step adapts to the CFL condition"),
        pbd_engine.real("cfl_factor", "", 1, 0, 100, "cfl=standard: of the step", above_min=True),
        pbd_engine.real("max_error", "%", 0.05, 0, 100, "of density, where the pressure solver ends", above_min=True),
        pbd_engine.real("max_error_v", "%", 0.1, 0, 100, "of the divergence, where its solver ends", above_min=True),
        pbd_engine.integer("iterations", 100, 1, 100000, "of each of its solvers, at most"),
        pbd_engine.real("viscosity", "m^2/s", 0.01, 0, 1e3, "of its standard model"),
        pbd_engine.choice("viscosity_as", "scaled", ["scaled", "given"],
                          "scaled: times (radius/25 mm)^(3/2), that of its own scenes with the scene's particles"),
    ]

    def create(self, scene):
        p, matter = scene.params, scene.materials[0]
        if len(scene.materials) > 1 or matter["matter"] != "fluid":
            raise pbd_engine.Error("not_supported", "the adapter makes one liquid and nothing else")
        if np.any(scene.forces):
            raise pbd_engine.Error("not_supported", "the adapter has no forces but gravity")
        low, high = box_of(scene)
        viscosity = p["viscosity"]
        if p["viscosity_as"] == "scaled":
            viscosity *= (0.5 * scene.spacing / RADIUS) ** 1.5
        models = os.path.join(sys.prefix, "bin", "data", "models")
        told = {
            "Configuration": {
                "particleRadius": scene.spacing / 2, "gravitation": scene.gravity.tolist(), "simulationMethod": 4,
                "cflMethod": 0, "timeStepSize": p["dt"], "boundaryHandlingMethod": 0,
                "enableZSort": False,
                "DFSPH": {"minIterations": 2, "maxIterations": p["iterations"], "maxError": p["max_error"],
                          "maxIterationsV": p["iterations"], "maxErrorV": p["max_error_v"],
                          "enableDivergenceSolver": True}},
            "Materials": [{"id": "Fluid", "density0": matter["density"], "viscosityMethod": 1 if viscosity else 0,
                           "Standard viscosity": {"viscosity": viscosity}}],
            "RigidBodies": [{"geometryFile": os.path.join(models, "UnitBox.obj"), "isDynamic": False, "isWall": True,
                             "translation": ((low + high) / 2).tolist(), "scale": (high - low + WALL * scene.spacing).tolist(),
                             "samplingMode": 1}],
            # a block of as many particles; where they are is set below
            "FluidBlocks": [{"id": "Fluid", "denseMode": 0, "start": [0, 0, 0],
                             "end": [(k + 1) * scene.spacing for k in block_of(len(scene.start))]}]}
        self.place = tempfile.TemporaryDirectory()
        file = os.path.join(self.place.name, "scene.json")
        with open(file, "w") as f:
            json.dump(told, f)
        self.base = sph.Exec.SimulatorBase()
        self.base.init(useGui=False, sceneFile=file, useCache=False, initialPause=False, outputDir=self.place.name)
        self.base.initSimulation()
        self.model, self.count = sph.Simulation.getCurrent().getFluidModel(0), len(scene.start)
        if self.model.numActiveParticles() != self.count:
            raise pbd_engine.Error("failed", f"{self.model.numActiveParticles()} particles instead of {self.count}")
        for field, values in (("position", scene.start), ("position0", scene.start), ("velocity", scene.velocities)):
            self.of(field)[:] = values
        self.time = sph.TimeManager.getCurrent()
        self.longest, self.diameter = p["dt"], scene.spacing
        self.pull = np.linalg.norm(scene.gravity)
        self.cfl = p["cfl_factor"] if p["cfl"] == "standard" else np.inf
        self.get_ready()

    def get_ready(self):
        """Makes the maps of the tank: runSimulation does, and then steps until a time that has passed already."""
        base = self.base
        base.setValueUInt(base.NUM_STEPS_PER_RENDER, 1)
        base.setValueFloat(base.STOP_AT, 0.5)
        self.time.setTime(1)
        base.runSimulation()
        base.setValueFloat(base.STOP_AT, -1)
        self.time.setTime(0)

    def step(self, dt, n):
        begin, end, steps = self.time.getTime(), self.time.getTime() + n * dt, 0
        while end - self.time.getTime() > 1e-3 * dt:  # its time is in f32
            left = end - self.time.getTime()
            self.time.setTimeStepSize(left / np.ceil(left / self.largest_step() - 1e-3))
            self.base.timeStepNoGUI()
            steps += 1
        return dict(advanced=self.time.getTime() - begin, counts=dict(engine_steps=steps))

    def largest_step(self):
        """Its condition: the fastest particle moves by 0.4 diameters; 0.1 (m/s)^2 is the least square of its speed."""
        if self.cfl == np.inf:
            return self.longest
        speed = np.linalg.norm(self.of("velocity"), axis=1).max() + self.pull * self.time.getTimeStepSize()
        step = self.cfl * 0.4 * self.diameter / max(float(speed), 0.1 ** 0.5)
        return min(max(step, 0.01 * self.longest), self.longest)

    def read(self, field):
        return self.of("position" if field == "positions" else "velocity").copy()

    def of(self, name):  # buffers have spare rows
        return np.array(self.model.getFieldBuffer(name), np.float32, copy=False)[:self.count]


if __name__ == "__main__":
    pbd_engine.serve(DFSPH())
