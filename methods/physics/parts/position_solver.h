/* Particles moved by projections of constraints (PBD): rows on the device, the loop of a step, contact, reading and
 * saving. The parts for constraints of elements (element_solver.h) and of particles (particle_energy.h) build on it.
 *
 * A substep predicts positions, projects all constraints `iterations` times, and computes velocities. A method's state
 * begins with a position_solver, so that the functions below serve as the method's own `step`, `read`, `save` and
 * `load`; what it adds is in its position_method. */
#ifndef PBD_POSITION_SOLVER_H
#define PBD_POSITION_SOLVER_H

#include "methods/params.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/parts/contact.h"

PBD_PRECISE(position_create, position_allocate, position_free, position_begin, position_end, position_step,
            position_read, position_save, position_load)

#define POSITION_PARAMS(REAL, INTEGER, CHOICE)                                           \
    INTEGER(iterations, "10", 1, 100000, "projections of every constraint in a substep") \
    INTEGER(substeps, "1", 1, 10000, "of a step")                                        \
    REAL(dt, "s", "0.005", 0, 1e3, PBD_OPEN_MIN, "time step")                            \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")
PBD_SETTINGS(position_settings, POSITION_PARAMS)

/* What a method adds. NULL: nothing. */
typedef struct position_method {
    const char *name;
    size_t (*arrays)(const void *state, device_array *row); /* its own */
    pbd_status (*begin)(void *state);                       /* after the prediction */
    pbd_status (*sweep)(void *state);                       /* projects all constraints once, then contact */
    pbd_status (*end)(void *state);                         /* before velocities */
    pbd_status (*finish)(void *state);                      /* after them */
    pbd_status (*sample)(void *state);                      /* after steps 1, 2, 4, ..., 32 and every 64th */
} position_method;

typedef struct position_solver {
    pbd_exec *exec;
    pbd_recorder *recorder;
    position_method method;
    position_settings set;
    size_t particles;
    const uint32_t *number;      /* rows: the scene's particle, of the caller; NULL: the same order */
    double dt, time, forces_end; /* s; dt: of the substep */
    uint64_t steps;
    real *x, *v, *a, *p; /* device: rows of 4, x and p with the inverse mass, 1/kg; 0: held */
    real *later;         /* device: accelerations after the forces have ended; NULL: they act throughout */
    contact contact;
    pbd_repeat *repeat; /* the launches of a step */
} position_solver;

/* Of an *s whose exec, recorder, method and set are set. inverse: masses by row, 1/kg, 0: held; NULL: of the scene. */
pbd_status position_create(position_solver *s, const pbd_scene *scene, const uint32_t *number, const double *inverse,
                           contact_settings touch);
/* The method's own arrays. */
pbd_status position_allocate(void *state);
/* All arrays, the method's own included. */
void position_free(void *state);

/* For a caller with its own loop; damping 1/s. */
pbd_status position_begin(position_solver *s, double dt);
pbd_status position_end(position_solver *s, double damping);

pbd_status position_step(void *state, double dt);
/* Positions and velocities. */
pbd_status position_read(const void *state, pbd_field field, double *out);
pbd_status position_save(const void *state, void *blob, size_t *bytes);
pbd_status position_load(void *state, const void *blob, size_t bytes);

#endif
