/* A solver as a list of parts: constraints and matters that share particles, colliders and the step.
 *
 *     stepper_add(&s->run, &xpbi_hourglass, s);          one line a part, in the order of an iteration
 *
 * stepper_step(dt), for each substep:
 *
 *     colliders move; begin of each part; `iterations` times iterate of each; end of each; move of each, last part
 * first
 *
 * and at the end of the step: record of each. `begin` searches and predicts, `iterate` projects, `end` is for what
 * follows the iterations (smoothing, a last meeting with colliders), `move` makes positions of velocities or the
 * reverse. A part that needs none of these leaves them NULL. Kernels are launched by the parts alone. */
#ifndef PBD_STEPPER_H
#define PBD_STEPPER_H

#include "methods/physics/device/device_state.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(stepper_create, stepper_add, stepper_step, stepper_begin, stepper_iterate, stepper_end, stepper_record,
            stepper_free, stepper_arrays, stepper_save, stepper_load)

typedef struct stepper stepper;

typedef struct step_part {
    pbd_status (*begin)(void *self, stepper *run);
    pbd_status (*iterate)(void *self, stepper *run);
    pbd_status (*end)(void *self, stepper *run);
    pbd_status (*move)(void *self, stepper *run);
    pbd_status (*record)(void *self, stepper *run);        /* metrics; may be PBD_DIVERGED */
    size_t (*arrays)(const void *self, device_array *row); /* device_state.h; saved and loaded by stepper_save, _load */
    void (*loaded)(void *self);                            /* after a load, for what arrays do not hold */
    void (*free)(void *self);                              /* safe on a zeroed one */
} step_part;

enum { STEPPER_MOST_PARTS = 8 };

struct stepper {
    pbd_exec *exec;
    pbd_recorder *recorder;
    collider_poses colliders;
    long substeps, iterations;
    bool repeats;   /* launches of all steps are the same: they are recorded once as a graph */
    double dt;      /* s, of the running substep */
    double time;    /* s, where it began */
    uint64_t steps; /* done */
    long done;      /* iterations of the running substep */
    /* The particles that parts share, on the device: rows of four. Whoever sorts or swaps them sets these. */
    real *x, *v;        /* position, volume; velocity, inverse mass */
    const uint32_t *id; /* by row: its number in the scene; NULL: the same */
    /* Called before the first iteration and after each; sets *stop to end them. NULL: all iterations. */
    pbd_status (*watch)(void *self, stepper *run, bool *stop);
    void *watcher;
    size_t parts;
    struct {
        const step_part *part;
        void *self;
    } of[STEPPER_MOST_PARTS];
    pbd_repeat *repeat;
};

/* The colliders of the scene, and no parts. *s may be freed also after an error. */
pbd_status stepper_create(stepper *s, const pbd_scene *scene, pbd_exec *exec, pbd_recorder *recorder);
/* self: what the part's functions get. Its `free` is called by stepper_free. */
void stepper_add(stepper *s, const step_part *part, void *self);
pbd_status stepper_step(stepper *s, double dt);
/* What a step is made of, for a solver that is a part of another one: a substep of dt, one iteration, and so on. */
pbd_status stepper_begin(stepper *s, double dt);
pbd_status stepper_iterate(stepper *s);
pbd_status stepper_end(stepper *s);
pbd_status stepper_record(stepper *s);
void stepper_free(stepper *s); /* safe on a zeroed one */

/* Time, steps, and the arrays of all parts: as a table, and as a method's `save` and `load`. */
size_t stepper_arrays(const stepper *s, device_array *row);
pbd_status stepper_save(const stepper *s, void *blob, size_t *bytes);
pbd_status stepper_load(stepper *s, const char *method, const void *blob, size_t bytes);

/* Whether loads that end at forces_end (0: never) act in the running substep. Half a step of slack, because sums of
 * steps do not hit it to the bit. */
static inline bool stepper_loaded(const stepper *s, double forces_end) {
    return !(forces_end > 0 && s->time > forces_end - 0.5 * s->dt);
}

/* Whether something that costs a look at all particles is due: after steps 1, 2, 4, ... 32 and every 64th. */
static inline bool stepper_samples(const stepper *s) {
    return s->steps % 64 == 0 || (s->steps < 64 && (s->steps & (s->steps - 1)) == 0);
}

#endif
