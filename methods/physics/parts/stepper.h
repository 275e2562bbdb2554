/* A solver as a list of parts: constraints and kinds of matter that share particles, colliders and the time step.
 *
 *     stepper_add(&s->run, &xpbi_hourglass, s);          one line per part, in the order of an iteration
 *
 * stepper_step(dt), for each substep:
 *
 *     colliders move; begin of each part; `iterations` times iterate of each; end of each; move of each, reversed
 *
 * and, at the end of the step, record of each. `begin` searches and predicts, `iterate` projects, `end` follows the
 * iterations (smoothing, a final pass of colliders), `move` computes positions from velocities or the reverse.
 * Functions may be NULL. Only parts launch kernels. */
#ifndef PBD_STEPPER_H
#define PBD_STEPPER_H

#include "methods/physics/device/device_state.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(stepper_create, stepper_add, stepper_step, stepper_begin, stepper_iterate, stepper_end, stepper_record,
            stepper_free, stepper_arrays, stepper_save, stepper_load, stepper_watch)

typedef struct stepper stepper;

/* Text of pbd_method.unconverged, after the conditions. */
#define STEPPER_SMALL_STEPS "iterations=1, substeps>1"
#define STEPPER_UNCONVERGED \
    "small steps go on with what is left (Macklin et al. 2019); PBD's iterations are part of its stiffness"

/* The norm of the residual of a part's constraints at the present positions or velocities. */
typedef struct step_residual {
    double norm, rounding; /* rounding: a norm below this is rounding */
} step_residual;

typedef struct step_part {
    pbd_status (*begin)(void *self, stepper *run);
    pbd_status (*iterate)(void *self, stepper *run);
    pbd_status (*end)(void *self, stepper *run);
    pbd_status (*move)(void *self, stepper *run);
    pbd_status (*record)(void *self, stepper *run);        /* metrics; may be PBD_DIVERGED */
    size_t (*arrays)(const void *self, device_array *row); /* device_state.h; saved and loaded by stepper_save, _load */
    /* Before the first iteration (run->done is 0) and after the last of a watched step; changes no result. */
    pbd_status (*residual)(void *self, stepper *run, step_residual *out);
    /* Passes the present positions to pbd_iterate as those after run->done iterations. Called only if iterates are
     * wanted. */
    pbd_status (*report)(void *self, stepper *run);
    void (*loaded)(void *self); /* after a load, for state outside the arrays */
    void (*free)(void *self);   /* safe on a zeroed one */
} step_part;

enum { STEPPER_MOST_PARTS = 8 };

struct stepper {
    pbd_exec *exec;
    pbd_recorder *recorder;
    collider_poses colliders;
    long substeps, iterations;
    bool repeats;   /* all steps have the same launches, which run as one graph. Otherwise only the iterations of a
                       substep do, while their launches are those of two substeps before */
    double dt;      /* s, of the running substep */
    double time;    /* s, at the start of the substep */
    uint64_t steps; /* done */
    long done;      /* iterations of the running substep */
    /* The shared particles, on the device: rows of four. A part that sorts or swaps rows sets these. */
    real *x, *v;        /* position, volume; velocity, inverse mass */
    const uint32_t *id; /* by row: index in the scene; NULL: the same order */
    /* Called before the first iteration and after each; *stop ends the iterations. NULL: all iterations. */
    pbd_status (*watch)(void *self, stepper *run, bool *stop);
    void *watcher;
    pbd_residual *watched; /* receives the residual of the running step; NULL: it is not measured */
    size_t parts;
    struct {
        const step_part *part;
        void *self;
    } of[STEPPER_MOST_PARTS];
    pbd_repeat *repeat;    /* of a step */
    pbd_repeat *sweeps[2]; /* of the iterations of odd and even substeps, since parts swap arrays */
    int turn;              /* the one in use */
};

/* Creates a stepper with the scene's colliders and no parts. *s may be freed also after an error. */
pbd_status stepper_create(stepper *s, const pbd_scene *scene, pbd_exec *exec, pbd_recorder *recorder);
/* self: passed to the part's functions. stepper_free calls its `free`. */
void stepper_add(stepper *s, const step_part *part, void *self);
pbd_status stepper_step(stepper *s, double dt);
/* A method's `watch`: the last substep of the next step measures the residual of the first part that has one. */
void stepper_watch(stepper *s, pbd_residual *out);
/* The pieces of a step, for a solver that is a part of another one. */
pbd_status stepper_begin(stepper *s, double dt);
pbd_status stepper_iterate(stepper *s);
pbd_status stepper_end(stepper *s);
pbd_status stepper_record(stepper *s);
void stepper_free(stepper *s); /* safe on a zeroed one */

/* Time, step count, and the arrays of all parts: as a table, and as a method's `save` and `load`. */
size_t stepper_arrays(const stepper *s, device_array *row);
pbd_status stepper_save(const stepper *s, void *blob, size_t *bytes);
pbd_status stepper_load(stepper *s, const char *method, const void *blob, size_t bytes);

/* Whether loads that end at forces_end (0: never) act in the running substep. Tolerance: half a step, because sums of
 * dt are rounded. */
static inline bool stepper_loaded(const stepper *s, double forces_end) {
    return !(forces_end > 0 && s->time > forces_end - 0.5 * s->dt);
}

/* Whether measurements over all particles are due: after steps 1, 2, 4, ... 32 and every 64th, if they are recorded. */
static inline bool stepper_samples(const stepper *s) {
    return (s->steps % 64 == 0 || (s->steps < 64 && (s->steps & (s->steps - 1)) == 0)) && pbd_records(s->recorder);
}

#endif
