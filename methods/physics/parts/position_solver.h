/* Position-based dynamics of particles: rows on the device, prediction, velocities, contact and reading, as parts of a
 * stepper. The solvers for constraints of elements (element_solver.h) and of particles (particle_energy.h) are based on
 * it.
 *
 * A method's state begins with a position_solver, so that the functions below are the method's `step`, `read`, `save`
 * and `load`; its constraints are one more part. A substep: the method's `begin`, prediction, contact search;
 * `iterations` sweeps, each followed by contact; the method's `end`; velocities; the method's `move`. */
#ifndef PBD_POSITION_SOLVER_H
#define PBD_POSITION_SOLVER_H

#include "methods/params.h"
#include "methods/physics/device/device_state.h"
#include "methods/physics/parts/contact.h"
#include "methods/physics/parts/stepper.h"

PBD_PRECISE(position_choose_dt, position_create, position_allocate, position_free, position_step, position_read,
            position_save, position_load, position_watch, position_strain_rounding, position_loads, position_guess,
            position_guess_start)

#define POSITION_PARAMS(REAL, INTEGER, CHOICE) POSITION_PARAMS_WITH_DT(REAL, INTEGER, CHOICE, "0.005", "time step")
/* dt=auto: position_choose_dt is the method's `choose`. */
#define POSITION_PARAMS_AUTO(REAL, INTEGER, CHOICE)        \
    POSITION_PARAMS_WITH_DT(REAL, INTEGER, CHOICE, "auto", \
                            "time step; auto: 0.005 s, or what a wave takes to the next particle in a substep")
#define POSITION_PARAMS_WITH_DT(REAL, INTEGER, CHOICE, dt_preset, dt_doc)                \
    INTEGER(iterations, "10", 1, 100000, "projections of every constraint in a substep") \
    INTEGER(substeps, "1", 1, 10000, "of a step")                                        \
    REAL(dt, "s", dt_preset, 0, 1e3, PBD_OPEN_MIN, dt_doc)                               \
    REAL(damping, "1/s", "0", 0, 1e6, 0, "of velocities: exp(-damping dt) each step")
PBD_SETTINGS(position_settings, POSITION_PARAMS)
/* For methods that minimise the function of an implicit step (position_guess). */
#define GUESS_PARAM(REAL, INTEGER, CHOICE)                             \
    CHOICE(guess, "adaptive", (adaptive, inertia, previous, velocity), \
           "where a step's sweeps begin: x + dt v + s dt^2 a with s by the last step's acceleration; s = 1; x; s = 0")
PBD_SETTINGS(guess_settings, GUESS_PARAM)

typedef struct position_solver {
    stepper run;
    const char *name; /* of the method */
    position_settings set;
    bool guesses; /* the method's `begin` sets p: no prediction */
    bool touches; /* the method's `iterate` keeps particles out of colliders: no pass of contact after it */
    size_t particles;
    const uint32_t *number; /* by row: index in the scene, owned by the caller; NULL: the same order */
    double extent;          /* m: of the scene */
    double forces_end;      /* s */
    real *x, *v, *a, *p;    /* device: rows of 4; the fourth of x and p: inverse mass, 1/kg; 0: held */
    real *later;            /* device: accelerations after forces_end; NULL: forces do not end */
    contact contact;
} position_solver;

/* Returns 0.005 s or, if that is shorter, the step in whose substeps an elastic wave travels from one particle to the
 * next. A constraint acts on its neighbours only: in longer steps the prediction strains elements or neighbourhoods by
 * more than a few iterations can undo. */
double position_choose_dt(const pbd_scene *scene, const pbd_values *values, const char *parameter);

/* The caller sets s->name, s->set and s->guesses before. own: the method's part; its `self` is s. inverse: inverse
 * masses by row, 1/kg, 0: held; NULL: from the scene. */
pbd_status position_create(position_solver *s, const step_part *own, const pbd_scene *scene, const uint32_t *number,
                           const double *inverse, contact_settings touch, pbd_exec *exec, pbd_recorder *recorder);
/* Allocates the arrays of the method's part. */
pbd_status position_allocate(position_solver *s);
/* Frees all arrays, also those of the method's part. */
void position_free(position_solver *s);

/* Members of pbd_method for every method whose state begins with a position_solver. */
#define POSITION_SLOTS POSITION_CALLS, .backends = PBD_CPU | PBD_EMU | PBD_CUDA, .precisions = PBD_F32 | PBD_F64
#define POSITION_CALLS                                                                                \
    .bytes = sizeof(pbd_method), .step = position_step, .read = position_read, .save = position_save, \
    .load = position_load, .watch = position_watch

pbd_status position_step(void *state, double dt);
/* Reads positions, velocities or collider sums; PBD_NOT_SUPPORTED for other fields. */
pbd_status position_read(const void *state, pbd_field field, double *out);
pbd_status position_save(const void *state, void *blob, size_t *bytes);
pbd_status position_load(void *state, const void *blob, size_t bytes);
void position_watch(void *state, pbd_residual *out);
/* Accelerations by loads in the running substep, rows of 4. */
const real *position_loads(const position_solver *s, const stepper *run);
/* Begins an implicit step, for methods that set `guesses`: writes y = x + dt v + dt^2 a with m/dt^2 in the fourth
 * column (0: held), and p as set.guess says. before: velocities at the start of the previous step; becomes v. Device,
 * rows of 4. */
pbd_status position_guess(const position_solver *s, const stepper *run, guess_settings set, real *before, real *y);
/* Call at creation: sets `before` to the initial velocities, for the first step. */
pbd_status position_guess_start(const position_solver *s, real *before);
/* Returns the error in the strain of an element or a neighbourhood of this size, m, that is due to rounding of
 * positions. */
double position_strain_rounding(const position_solver *s, double size);

#endif
