"""An engine for pbdbench: a method in a process of its own. One file, NumPy alone.

    import pbd_engine

    class Mine(pbd_engine.Engine):
        engine, version, needs, takes = "mine", "0.1", ["tets"], ["elasticity"]
        params = [pbd_engine.real("damping", "1/s", 0, 0, 1e6, "of velocities, by mass")]
        def create(self, scene): ...                # scene.positions, scene.masses, scene.tets, scene.gravity, ...
        def step(self, dt, n): ...                  # advances n steps of dt seconds
        def read(self, field): return self.x        # particles x 3

    if __name__ == "__main__":
        pbd_engine.serve(Mine())

The protocol is described in the README of examples/engines. Messages go over file descriptor 3; what an engine prints is
its log.
"""
import json
import socket
import struct
import sys
import time

import numpy as np

PROTOCOL, MAGIC, DESCRIPTOR = 1, 0x31444250, 3
CODES = ("bad_input", "not_supported", "failed", "diverged", "no_equilibrium", "interrupted")


class Error(Exception):
    """What an engine cannot do. The code decides how the run ends: not_supported and bad_input of `create` refuse it,
    diverged and failed are states of a stored run."""

    def __init__(self, code, says):
        super().__init__(says)
        if code not in CODES:
            raise ValueError(f"no such code: {code}; one of {', '.join(CODES)}")
        self.code = code


def _number(kind, name, unit, default, low, high, doc, above_min):
    row = dict(name=name, unit=unit, kind=kind, default=default, doc=doc, above_min=above_min)
    if low is not None:
        row["min"] = low
    if high is not None:
        row["max"] = high
    return row


def real(name, unit, default, low, high, doc, above_min=False):
    """A parameter: its default and range (None: no bound), and one line. above_min: `low` itself is not allowed."""
    return _number("real", name, unit, default, low, high, doc, above_min)


def integer(name, default, low, high, doc):
    return _number("integer", name, "", default, low, high, doc, False)


def choice(name, default, choices, doc):
    return dict(name=name, unit="", kind="choice", default=default, choices=list(choices), doc=doc)


class Scene:
    """What `create` gets: the numbers of the request as attributes (gravity, materials, params, duration, threads,
    colliders, contact...), and its arrays (positions, masses, tets...). An array that the scene has not is None."""

    ARRAYS = ("positions", "start", "velocities", "masses", "volumes", "material", "body", "fixed", "hexes",
              "hexes_material", "tets", "tets_material", "triangles", "triangles_material", "forces",
              "contact_radius")

    def __init__(self, request, arrays):
        for name in self.ARRAYS:
            setattr(self, name, None)
        self.__dict__.update({k: v for k, v in request.items() if k not in ("op", "arrays")})
        self.__dict__.update(arrays)
        self.gravity = np.array(self.gravity, float)
        if self.fixed is None:
            self.fixed = np.empty(0, np.uint32)
        if self.start is None:
            self.start = self.positions
        if self.velocities is None:
            self.velocities = np.zeros_like(self.positions)
        if self.forces is None:
            self.forces = np.zeros_like(self.positions)

    def lame(self, k=0):
        """Lame's lambda and mu of material k, Pa."""
        E, nu = self.materials[k]["E"], self.materials[k]["nu"]
        return E * nu / ((1 + nu) * (1 - 2 * nu)), E / (2 * (1 + nu))


class Engine:
    """What an engine says of itself, and what it does. Override."""

    engine = "unnamed"      # the engine's name and version: stored with each run
    version = "0"
    device = "cpu"
    integrator = "not said"
    precision = "f64"       # or f32
    masses = "given"        # density: it makes its own from the density
    steps = "fixed"         # adaptive: a call may end a little before or after n dt; step returns advanced=
    needs = []              # particles, tets, hexes, triangles, samples
    takes = []              # what else of a scene it supports: rows of methods/takes.def, in small letters
    laws = None             # elastic laws by their names in pbdbench; None: it says nothing of them
    fields = ["positions"]  # and velocities, deformation_gradients
    params = []

    def create(self, scene):
        raise NotImplementedError

    def step(self, dt, n):
        """Advances n steps of dt. May return dict(counts={name: n}, metrics={name: (number, unit)},
        warnings={name: sentence}, advanced=seconds)."""
        raise NotImplementedError

    def read(self, field):
        """particles x 3 numbers (9 for deformation_gradients), as float64 or float32."""
        raise NotImplementedError

    # With both, warm-ups, --time, compare and bench work: bytes of a state, and back.
    save = None
    load = None


def _hello(engine):
    said = dict(engine=engine.engine, version=engine.version, device=engine.device, integrator=engine.integrator,
                precision=engine.precision, masses=engine.masses, steps=engine.steps, needs=list(engine.needs),
                takes=list(engine.takes), fields=list(engine.fields), params=list(engine.params),
                saves=engine.save is not None and engine.load is not None)
    if engine.laws is not None:
        said["laws"] = list(engine.laws)
    return said


class _Gone(Exception):
    pass


class _Talk:
    def __init__(self, descriptor):
        self.socket = socket.socket(fileno=descriptor)

    def _fill(self, view):
        while len(view) > 0:
            got = self.socket.recv_into(view, min(len(view), 1 << 22))
            if got == 0:
                raise _Gone
            view = view[got:]

    def _bytes(self, count):
        data = bytearray(count)
        self._fill(memoryview(data))
        return bytes(data)

    def hear(self):
        magic, count, _ = struct.unpack("<IIQ", self._bytes(16))
        if magic != MAGIC:
            raise SystemExit("descriptor 3 speaks another protocol")
        request, arrays = json.loads(self._bytes(count)), {}
        for name, kind, shape in request.get("arrays", []):
            array = np.empty(shape, np.dtype(kind))
            if array.size > 0:
                self._fill(memoryview(array.reshape(-1).view(np.uint8)))
            arrays[name] = array
        return request, arrays

    def tell(self, answer, arrays=()):
        arrays = [(name, np.ascontiguousarray(array)) for name, array in arrays]
        if arrays:
            answer["arrays"] = [[name, array.dtype.str, list(array.shape)] for name, array in arrays]
        text = json.dumps(answer, allow_nan=False).encode()
        self.socket.sendall(struct.pack("<IIQ", MAGIC, len(text), sum(a.nbytes for _, a in arrays)) + text)
        for _, array in arrays:
            self.socket.sendall(memoryview(array.reshape(-1).view(np.uint8)))


def _little(array):
    """As float64 or float32, little-endian."""
    array = np.asarray(array)
    return array.astype("<f4" if array.dtype == np.float32 else "<f8", copy=False)


def _answer(engine, request, arrays):
    op = request["op"]
    if op == "hello":
        return dict(ok=True, protocol=PROTOCOL, **_hello(engine)), []
    if op == "create":
        return dict(ok=True, **(engine.create(Scene(request, arrays)) or {})), []
    if op == "step":
        wall, cpu = time.perf_counter(), time.process_time()
        more = engine.step(request["dt"], request["n"]) or {}
        return dict(ok=True, wall=time.perf_counter() - wall, cpu=time.process_time() - cpu, **more), []
    if op == "read":
        return dict(ok=True), [(request["field"], _little(engine.read(request["field"])))]
    if op == "save":
        return dict(ok=True), [("state", np.frombuffer(engine.save(), np.uint8))]
    if op == "load":
        engine.load(arrays["state"].tobytes())
        return dict(ok=True), []
    if op == "quit":
        return dict(ok=True), []
    raise Error("not_supported", f"there is no operation {op}")


def serve(engine, descriptor=DESCRIPTOR):
    """Answers until the program that started this process says quit or is gone."""
    try:
        talk = _Talk(descriptor)
    except OSError:
        sys.exit("this is an engine for pbdbench: start it by `pbdbench run CASE -m NAME --engine engine.yaml`")
    try:
        op = ""
        while op != "quit":
            request, arrays = talk.hear()
            op = request["op"]
            try:
                talk.tell(*_answer(engine, request, arrays))
            except _Gone:
                raise
            except Error as e:
                talk.tell(dict(ok=False, code=e.code, says=str(e)))
            except Exception as e:
                talk.tell(dict(ok=False, code="failed", says=f"{type(e).__name__}: {e}"[:300]))
    except (_Gone, BrokenPipeError, ConnectionResetError):
        pass
