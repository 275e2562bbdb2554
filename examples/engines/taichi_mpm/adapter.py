"""MLS-MPM (Hu et al. 2018) on the scene's own particles: what users of Taichi write, in f32.

Explicit symplectic Euler on a grid with quadratic B-splines and affine velocities (APIC). Stress of the Hencky law; sand
by Drucker and Prager's cone, returned as Klar et al. (2016) do it: along the deviator at constant volume, to the
tip where the trial is in tension. There is no correction of the volume that is gained at the tip, so that a scene must
say volume_correction=off. Nodes beyond a plane have no velocity into it and Coulomb's friction along it."""

import numpy as np
import taichi as ti

import pbd_engine

REACH = 3  # extents of the body between it and the grid's end, along the floor


@ti.data_oriented
class Grid:
    def __init__(self, scene, cell, lam, mu, alpha):
        at, n = scene.positions, len(scene.positions)
        size = np.ptp(at, axis=0).max()
        low, high = at.min(axis=0) - REACH * size, at.max(axis=0) + REACH * size
        normals, centres = [], []
        for c in scene.colliders:
            normal, centre = np.array(c["axis"][2]), np.array(c["centre"])
            normals.append(normal)
            centres.append(centre)
            for axis in range(3):  # no need of nodes behind a plane
                if normal[axis] > 0.999:
                    low[axis] = centre[axis]
                if normal[axis] < -0.999:
                    high[axis] = centre[axis]
        up = int(np.argmax(np.abs(scene.gravity)))
        high[up] = min(high[up], at[:, up].max() + size)
        self.low = low - 3 * cell
        self.cells = np.ceil((high - low) / cell).astype(int) + 7
        self.n, self.planes, self.cell = n, len(normals), cell
        self.lam, self.mu, self.alpha = lam, mu, alpha
        self.x = ti.Vector.field(3, ti.f32, n)
        self.v = ti.Vector.field(3, ti.f32, n)
        self.C = ti.Matrix.field(3, 3, ti.f32, n)
        self.F = ti.Matrix.field(3, 3, ti.f32, n)
        self.mass = ti.field(ti.f32, n)
        self.volume = ti.field(ti.f32, n)
        self.normal = ti.Vector.field(3, ti.f32, max(self.planes, 1))
        self.centre = ti.Vector.field(3, ti.f32, max(self.planes, 1))
        self.friction = ti.field(ti.f32, max(self.planes, 1))
        self.moving = ti.Vector.field(3, ti.f32, self.cells.tolist())
        self.weight = ti.field(ti.f32, self.cells.tolist())
        self.x.from_numpy((scene.start - self.low).astype(np.float32))
        self.v.from_numpy(scene.velocities.astype(np.float32))
        self.F.from_numpy(np.tile(np.eye(3, dtype=np.float32), (n, 1, 1)))
        self.mass.from_numpy(scene.masses.astype(np.float32))
        self.volume.from_numpy(scene.volumes.astype(np.float32))
        if self.planes:
            self.normal.from_numpy(np.array(normals, np.float32))
            self.centre.from_numpy((np.array(centres) - self.low).astype(np.float32))
            self.friction.from_numpy(np.array([c["friction"] for c in scene.colliders], np.float32))

    @ti.func
    def to_yield(self, s):
        e = ti.log(ti.max(s, 1e-4))
        trace = e.sum()
        dev = e - trace / 3
        length = dev.norm()
        out = e
        if trace >= 0:
            out = ti.Vector([0.0, 0.0, 0.0])
        else:
            excess = length + (3 * self.lam + 2 * self.mu) / (2 * self.mu) * trace * self.alpha
            if excess > 0:
                out = e - excess * dev / length
        return out

    @ti.kernel
    def substep(self, dt: ti.f32, gx: ti.f32, gy: ti.f32, gz: ti.f32):
        inverse = 1 / self.cell
        for i in ti.grouped(self.weight):
            self.weight[i] = 0
            self.moving[i] = ti.Vector([0.0, 0.0, 0.0])
        for p in range(self.n):
            base = (self.x[p] * inverse - 0.5).cast(int)
            fx = self.x[p] * inverse - base.cast(ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            U, s, V = ti.svd(self.F[p])
            e = self.to_yield(ti.Vector([s[0, 0], s[1, 1], s[2, 2]]))
            t = 2 * self.mu * e + self.lam * e.sum()
            zero = ti.Matrix.zero(ti.f32, 3, 3)
            stretch, kirchhoff = zero, zero
            for d in ti.static(range(3)):
                stretch[d, d] = ti.exp(e[d])
                kirchhoff[d, d] = t[d]
            self.F[p] = U @ stretch @ V.transpose()
            stress = -dt * self.volume[p] * 4 * inverse * inverse * (U @ kirchhoff @ U.transpose())
            affine = stress + self.mass[p] * self.C[p]
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                d = (offset.cast(ti.f32) - fx) * self.cell
                weight = w[i].x * w[j].y * w[k].z
                self.moving[base + offset] += weight * (self.mass[p] * self.v[p] + affine @ d)
                self.weight[base + offset] += weight * self.mass[p]
        for i in ti.grouped(self.weight):
            if self.weight[i] > 0:
                v = self.moving[i] / self.weight[i] + dt * ti.Vector([gx, gy, gz])
                at = i.cast(ti.f32) * self.cell
                for c in range(self.planes):
                    n = self.normal[c]
                    into = v.dot(n)
                    if (at - self.centre[c]).dot(n) <= 0 and into < 0:
                        along = v - into * n
                        speed = along.norm()
                        v = along * ti.max(0.0, 1 + self.friction[c] * into / ti.max(speed, 1e-12))
                self.moving[i] = v
        for p in range(self.n):
            base = (self.x[p] * inverse - 0.5).cast(int)
            fx = self.x[p] * inverse - base.cast(ti.f32)
            w = [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1) ** 2, 0.5 * (fx - 0.5) ** 2]
            v = ti.Vector([0.0, 0.0, 0.0])
            C = ti.Matrix.zero(ti.f32, 3, 3)
            for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                offset = ti.Vector([i, j, k])
                d = (offset.cast(ti.f32) - fx) * self.cell
                g = w[i].x * w[j].y * w[k].z * self.moving[base + offset]
                v += g
                C += 4 * inverse * inverse * g.outer_product(d)
            self.v[p], self.C[p] = v, C
            self.x[p] += dt * v
            self.F[p] += dt * C @ self.F[p]


class TaichiMPM(pbd_engine.Engine):
    engine, version = "Taichi MLS-MPM", ".".join(map(str, ti.__version__))
    integrator, precision = "symplectic Euler", "f32"
    needs, takes = ["particles"], ["start", "flow", "colliders"]
    laws = ["hencky"]
    fields = ["positions", "velocities"]
    params = [
        pbd_engine.real("dt", "s", 1e-4, 0, 1e3, "time step", above_min=True),
        pbd_engine.real("cell", "", 2, 0.5, 16, "width of a cell of the grid, in spacings"),
    ]

    def create(self, scene):
        material, flow = scene.materials[0], scene.materials[0]["flow_values"]
        if len(scene.materials) > 1 or material["flow"] != "drucker_prager" or material["law"] != "hencky":
            raise pbd_engine.Error("not_supported", "one matter with flow=drucker_prager and material=hencky")
        if flow["volume_correction"] == 0 or flow["cohesion"] > 0:  # the first of on|off
            raise pbd_engine.Error("not_supported", "set volume_correction=off and cohesion=0: it has neither")
        if len(scene.fixed) or np.any(scene.forces):
            raise pbd_engine.Error("not_supported", "nothing may be held, and there are no forces but gravity")
        for c in scene.colliders:
            if c["shape"] != "plane" or np.any(c["velocity"]) or np.any(c["spin"]):
                raise pbd_engine.Error("not_supported", "colliders must be planes that stand still")
        ti.init(arch=ti.cpu, cpu_max_num_threads=scene.threads, default_fp=ti.f32, offline_cache=True, log_level=ti.WARN)
        sine = np.sin(np.radians(flow["friction_angle"]))
        alpha = np.sqrt(2 / 3) * 2 * sine / (3 - sine)
        self.grid = Grid(scene, scene.params["cell"] * scene.spacing, *scene.lame(), alpha)
        self.gravity = [float(g) for g in scene.gravity]
        self.grid.substep(0.0, *self.gravity)  # compiles

    def step(self, dt, n):
        for _ in range(n):
            self.grid.substep(dt, *self.gravity)
        ti.sync()

    def read(self, field):
        g = self.grid
        out = (g.x.to_numpy() + g.low) if field == "positions" else g.v.to_numpy()
        if not np.all(np.isfinite(out)):
            raise pbd_engine.Error("diverged", f"{field} are not finite")
        return out


if __name__ == "__main__":
    pbd_engine.serve(TaichiMPM())
