/* Memory layout of per-particle constraints: particles along a space-filling curve, constraints stage by stage in
 * slices (particle_energy_kernels.h), and their rest quantities. Built on the host, in f64, from a scene; rebuilt from
 * changed neighbours after a cut. */
#ifndef PBD_PARTICLE_LAYOUT_H
#define PBD_PARTICLE_LAYOUT_H

#include "harness/exec/arena.h"
#include "harness/exec/exec.h"
#include "methods/physics/space/shape_gradients.h"

#include "methods/physics/space/particle_slice.h"

/* A place is the row of a particle in the solver's arrays, a slot that of a constraint. A stage is one colour of one
 * block, a range of places (pbd_colour_block); a sweep finishes all colours of a block before the next block. Slots of
 * a stage begin at a multiple of PARTICLE_SLICE. The padding of its last slice has no constraints: launches over one
 * stage leave it out, and launches over all slots recognise it by its zero slot_volume. */
typedef struct particle_layout {
    size_t particles, slots, rows; /* rows: of all slices */
    int colours;                   /* 1 with Jacobi, where slot and place are the same */
    size_t block, stages;          /* places in a block, 0: one block; stages, 1 with Jacobi */
    bool jacobi;
    pbd_arena particle_memory, slot_memory; /* of `particle`; of stages and `own`, replaced by a remake */
    pbd_arena rest_memory, row_memory;      /* of the input of a remake; of the arrays for the device */
    uint32_t *particle;                     /* places: index in the scene */
    double *rest;                           /* places x 3, m */
    double *volume;                         /* places, m^3 */
    double *inverse;                        /* places, 1/kg; 0: held */
    rest_neighbours near;                   /* neighbours at rest, as places */
    size_t pairs;                           /* entries of near */
    size_t *stage_slot;                     /* stages + 1 */
    size_t *stage_count;                    /* stages: number of constraints, above 0 */
    size_t *stage_near;                     /* stages: number of their neighbours */
    uint32_t *own;                          /* slots: place */
    uint32_t *slice;                        /* slots/PARTICLE_SLICE + 1: first row */
    uint32_t *neighbour;                    /* rows x PARTICLE_SLICE: place; NULL: particle_rows took it */
    double *gradient;                       /* rows x 3 x PARTICLE_SLICE: b_ij, 1/m; likewise */
    double *reverse;                        /* the same for b_ji; NULL with colours */
    double *sum;                            /* 3 x slots: B_i */
    double *weight;                         /* 6 x slots: K_i, 1/(kg m^2), xx yy zz xy yz zx */
    double *offset;                         /* 9 x slots: D_i; NULL: zero */
    double *slot_volume;                    /* slots, m^3; 0: no constraint */
    size_t few, deficient;                  /* shape_gradients.h */
    double *power;                          /* places: last vector of the power iteration for `largest` */
    /* With blades: the gradients and their neighbour lists, so that a remake recomputes only what a cut changed. */
    bool keeps;
    rest_neighbours made;
    shape_gradients shape;
    double *inverse_weight; /* places x 9, Jacobi */
    double largest;         /* Jacobi: upper bound of the eigenvalues of the sum of all projections, in any state */
} particle_layout;

/* Receives the rows of slices as they are made, so that the host never stores all of them in addition to the device. */
typedef struct particle_rows {
    void *self;
    /* Called once, before the rows: the layout's numbers of slots and rows and its `own` and `slice` are known. */
    pbd_status (*open)(void *self, const particle_layout *layout);
    /* Receives `rows` rows from row `first` on, with neighbours and gradients as in particle_layout. */
    pbd_status (*take)(void *self, size_t first, size_t rows, const uint32_t *neighbour, const double *gradient);
} particle_rows;

/* block: 0, or the number of places in a block, with colours. rows: with colours and without blades, neighbours and
 * gradients go to it, and the layout does not store them; NULL: the layout always stores them. Free *out also after an
 * error. PBD_BAD_INPUT if the scene's particles do not sample a body, or a volume is not above 0. */
pbd_status particle_layout_make(const pbd_scene *scene, const shape_choice *choice, bool jacobi, size_t block,
                                const particle_rows *rows, particle_layout *out);
/* Recomputes everything except `particle`, `rest`, `volume` and `inverse` from `near`, bitwise as a full recomputation
 * would. The layout then stores neighbours and gradients. */
pbd_status particle_layout_remake(particle_layout *layout, const shape_choice *choice);
/* Call once the rows are on the device: frees them on the host and, without blades, the input of a remake. `particle`,
 * `pairs`, stages and `own` stay. */
void particle_layout_uploaded(particle_layout *layout);
/* The weight of a pair, 1/m^2: V_j W_ij/|X_ij|^2, or V_j |W'_ij|/|X_ij|, for which F without kernel correction is a
 * least-squares fit to the pairs. */
typedef enum particle_pair_weight { PARTICLE_PAIR_VALUE, PARTICLE_PAIR_SLOPE } particle_pair_weight;
/* Writes X_ij = X_j - X_i, m, and the weight of each pair; 0 in padding. Pairs beyond the support are weighted as in
 * their gradients (shape_kernels.h). out: rows x 4 x PARTICLE_SLICE. */
void particle_layout_pairs(const particle_layout *layout, const shape_choice *choice, particle_pair_weight weight,
                           double *out);
void particle_layout_free(particle_layout *layout); /* safe on a zeroed one */

/* The work of a launch over a stage's constraints. */
static inline pbd_work particle_layout_work(const particle_layout *l, size_t stage) {
    return (pbd_work){.items = l->stage_count[stage], .entries = l->stage_near[stage]};
}

/* The work of a launch over all slots. */
static inline pbd_work particle_layout_all_work(const particle_layout *l) {
    return (pbd_work){.items = l->particles, .entries = l->pairs};
}

#endif
