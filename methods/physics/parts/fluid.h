/* Position-based fluid (Macklin and Mueller 2013) for methods that move particles by velocities: liquid, its coupling
 * with a continuum, and colliders. Equations: methods/pbf/README.md.
 *
 * A solver owns rows x (position; volume) and v (velocity; inverse mass), in any order, with `id` the index in the
 * scene, and one row of zeros after the last. In each step it calls fluid_begin after adding loads to v, fluid_iterate
 * after each sweep of its own constraints, and fluid_end when velocities are final except for smoothing; then it moves
 * particles by dt v. Passes are Jacobi iterations in gather form, so results do not depend on threads.
 *
 * Without liquid all calls return at once and nothing is allocated. */
#ifndef PBD_FLUID_H
#define PBD_FLUID_H

#include "methods/physics/parts/stepper.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(fluid_create, fluid_free, fluid_begin, fluid_iterate, fluid_end, fluid_state_of, fluid_record,
            fluid_read_pressures, fluid_read_exchange, fluid_part)

enum { FLUID_KERNELS = 4 };
/* In the order of fluid_kernels.h. */
#define FLUID_KERNEL_NAMES \
    { "cubic_spline", "wendland_c2", "spiky", "poly6_spiky", NULL }

typedef struct fluid_settings {
    int kernel;
    double support;           /* support radius, in cube roots of a particle's volume */
    double relaxation;        /* of Jacobi; 0: 1 over the largest eigenvalue on a lattice */
    double softening;         /* added to the denominator, relative to its value on a lattice */
    double printed_softening; /* 1/m^2: the same in the paper's form; 0: off */
    double compliance;        /* 1/Pa: 1 over the bulk modulus; 0: incompressible */
    double keep;              /* warm start: fraction of the last step's multipliers */
    bool both;                /* liquid also resists expansion */
    bool printed;             /* each pass ignores earlier multipliers, as in the paper */
    double crowding;          /* artificial pressure, relative to the multiplier of C = 1 on a lattice; 0: off */
    double crowding_at;       /* distance at which it has that value, over the support */
    int crowding_power;
    double settling;  /* s: time constant of the decay of the initial excess density; 0: corrected at once */
    double xsph;      /* c of XSPH */
    double vorticity; /* m/s */
    bool walls;       /* colliders mirror the liquid; false: they only push back */
    long passes;      /* per iteration, as a part of a stepper */
} fluid_settings;

/* Measures of a state. C = sum V_j W_ij/S - 1 is the relative excess density. */
typedef struct fluid_state {
    double largest, compressed, mean; /* largest C; means over liquid of max(C, 0) and of C */
    double exchange[2][3];            /* N s: impulse on liquid from the continuum; on the continuum from liquid */
    double exchanged;                 /* N s: sum of the magnitudes of the latter */
    double neighbours;                /* entries of all lists */
    double images;                    /* of those entries at walls */
} fluid_state;

typedef struct fluid {
    pbd_exec *exec;
    pbd_recorder *recorder;
    fluid_settings settings;
    size_t rows, liquid; /* all rows of the solver; liquid particles. 0: nothing is done */
    bool mixed;          /* the scene has continuum too */
    double support;      /* m */
    double sum, weight;  /* on a lattice: S; the denominator, 1/(kg m^2) */
    double stiffness;    /* on a lattice: dC over a relative change of volume, about 1; used for pressures */
    double relaxation, softening, eigenvalue;
    int walls;  /* number of colliders that mirror the liquid */
    double dt;  /* s: of the last step; 0: none yet */
    bool began; /* the initial excess density is known */
    double most_compressed, largest;
    bool measured; /* this step measures its residual */
    double before; /* mean compression before the first iteration and its warm start */
    grid grid;
    uint64_t entries; /* of the slices */
    double filled;    /* fraction of entries that are neighbours; the rest is padding */
    double imaged;    /* images of neighbours at walls, at the end of the last step */
    size_t capacity;
    const uint32_t *id; /* device; the solver's `id` of this step */
    /* Device. */
    uint8_t *matter;
    real *multiplier, *allowed, *exchange; /* by index in the scene; exchange: 3 each */
    real *p, *role, *gain, *change, *excess, *images, *distance, *normal, *smooth, *curl, *block;
    uint32_t *length, *key, *kept, *from, *own, *mirrored, *slice, *list, *corner;
} fluid;

/* For all particles of the scene. *f may be freed also after an error. */
pbd_status fluid_create(fluid *f, const pbd_scene *scene, const fluid_settings *settings, pbd_exec *exec,
                        pbd_recorder *recorder);
void fluid_free(fluid *f); /* safe on a zeroed one */
/* Searches neighbours at the predicted positions x + dt v, and applies the warm start. id: by row; NULL: rows are in
 * the scene's order; used until fluid_end. */
pbd_status fluid_begin(fluid *f, const uint32_t *id, const real *x, real *v, const collider_poses *walls, double dt);
pbd_status fluid_iterate(fluid *f, const real *x, real *v, const collider_poses *walls, double dt);
/* Measures the state, then smooths velocities of liquid. */
pbd_status fluid_end(fluid *f, const real *x, real *v, const collider_poses *walls, double dt);
/* The state at the last evaluation of the constraints. Waits. */
pbd_status fluid_state_of(const fluid *f, fluid_state *out);
/* Records mean_compression, and over all steps most_mean_compression and largest_compression; with continuum also
 * exchanged_impulse and exchange_error. Waits. */
pbd_status fluid_record(fluid *f);

/* Write, by index in the scene, the pressures of all particles, Pa, and impulses, N s, three each. */
pbd_status fluid_read_pressures(const fluid *f, const real *x, const uint32_t *id, double *out);
pbd_status fluid_read_exchange(const fluid *f, double *out);

/* The fluid as a part of a solver (stepper.h); its `self` is a `fluid`. */
extern const step_part fluid_part;

#endif
