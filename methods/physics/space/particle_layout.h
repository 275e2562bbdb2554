/* Memory layout of per-particle constraints: particles along a space-filling curve, constraints colour by colour in
 * slices (particle_energy_kernels.h), and their rest quantities. Built on the host, in f64, from a scene; rebuilt from
 * changed neighbours after a cut. */
#ifndef PBD_PARTICLE_LAYOUT_H
#define PBD_PARTICLE_LAYOUT_H

#include "harness/exec/arena.h"
#include "harness/exec/exec.h"
#include "methods/physics/space/shape_gradients.h"

#include "methods/physics/space/particle_slice.h"

/* A place is the row of a particle in the solver's arrays, a slot that of a constraint. Slots of a colour begin at a
 * multiple of PARTICLE_SLICE; the padding of its last slice has no constraints: launches over one colour leave it out,
 * those over all slots know it by its volume. */
typedef struct particle_layout {
    size_t particles, slots, rows; /* rows: of all slices */
    int colours;                   /* 1 with Jacobi, where slot and place are the same */
    bool jacobi;
    pbd_arena particle_memory, slot_memory; /* of `particle`; of colours and `own`, which a remake replaces */
    pbd_arena rest_memory, row_memory;      /* of what a remake starts from; of what goes to the device */
    uint32_t *particle;                     /* places: index in the scene */
    double *rest;                           /* places x 3, m */
    double *volume;                         /* places, m^3 */
    double *inverse;                        /* places, 1/kg; 0: held */
    rest_neighbours near;                   /* of places */
    size_t pairs;                           /* entries of near */
    size_t *colour_slot;                    /* colours + 1 */
    size_t *colour_count;                   /* colours: constraints */
    size_t *colour_near;                    /* colours: neighbours of these */
    uint32_t *own;                          /* slots: place */
    uint32_t *slice;                        /* slots/PARTICLE_SLICE + 1: first row */
    uint32_t *neighbour;                    /* rows x PARTICLE_SLICE: place; NULL: taken by particle_rows */
    double *gradient;                       /* rows x 3 x PARTICLE_SLICE: b_ij, m^2; likewise */
    double *reverse;                        /* the same of b_ji; NULL with colours */
    double *sum;                            /* 3 x slots: B_i */
    double *weight;                         /* 6 x slots: K_i, m^4/kg, xx yy zz xy yz zx */
    double *offset;                         /* 9 x slots: D_i; NULL: zero */
    double *slot_volume;                    /* slots, m^3; 0: no constraint */
    size_t few, deficient;                  /* shape_gradients.h */
    double *power;                          /* places: last vector of the power iteration for `largest` */
    /* With blades: the gradients and their neighbour lists, so that a remake only recomputes what a cut changed. */
    bool keeps;
    rest_neighbours made;
    shape_gradients shape;
    double *inverse_weight; /* places x 9, Jacobi */
    double largest; /* Jacobi: upper bound of the eigenvalues of the sum of all projections, for any directions */
} particle_layout;

/* Takes the rows of slices as they are made, so that the host never holds all of them beside the device. */
typedef struct particle_rows {
    void *self;
    /* Once, before the rows: numbers and places of slots and rows are known. */
    pbd_status (*open)(void *self, const particle_layout *layout);
    /* The next `rows` rows from `first` on, as in particle_layout. */
    pbd_status (*take)(void *self, size_t first, size_t rows, const uint32_t *neighbour, const double *gradient);
} particle_rows;

/* rows: with colours and without blades it takes neighbours and gradients, and the layout keeps none; NULL: it always
 * keeps them. Free *out also after an error. PBD_BAD_INPUT when the scene's particles are not a sampled body, or a
 * volume is not above 0. */
pbd_status particle_layout_make(const pbd_scene *scene, const shape_choice *choice, bool jacobi,
                                const particle_rows *rows, particle_layout *out);
/* Recomputes everything but particles, rest, volume and inverse from `near`, bitwise equal to a new layout. Keeps
 * neighbours and gradients. */
pbd_status particle_layout_remake(particle_layout *layout, const shape_choice *choice);
/* When the device has the rows: the host frees them and, without blades, what a remake would start from. `particle`,
 * `pairs`, colours and `own` stay. */
void particle_layout_uploaded(particle_layout *layout);
/* The weight of a pair, 1/m^2: V_j W_ij/|X_ij|^2, or V_j |W'_ij|/|X_ij|, by which F without kernel correction is a
 * least-squares fit to the pairs. */
typedef enum particle_pair_weight { PARTICLE_PAIR_VALUE, PARTICLE_PAIR_SLOPE } particle_pair_weight;
/* Of each row: X_ij = X_j - X_i, m, and the weight; 0 in padding. Pairs beyond the support are weighted as in their
 * gradients (shape_kernels.h). out: rows x 4 x PARTICLE_SLICE. */
void particle_layout_pairs(const particle_layout *layout, const shape_choice *choice, particle_pair_weight weight,
                           double *out);
void particle_layout_free(particle_layout *layout); /* safe on a zeroed one */

/* The work of a launch over a colour's constraints. */
static inline pbd_work particle_layout_work(const particle_layout *l, int colour) {
    return (pbd_work){l->colour_count[colour], l->colour_near[colour]};
}

/* Of one over all slots. */
static inline pbd_work particle_layout_all_work(const particle_layout *l) { return (pbd_work){l->particles, l->pairs}; }

#endif
