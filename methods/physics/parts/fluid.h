/* Position-based fluid (Macklin and Mueller 2013) for methods that move particles by velocities: liquid, its coupling
 * with a continuum, and colliders. methods/pbf/README.md has the equations.
 *
 * A solver owns rows x (position; volume) and v (velocity; inverse mass), in any order, with `id` as the index in the
 * scene, and one row of zeros after the last. In each step it calls fluid_begin after loads have been added to v,
 * fluid_iterate after each sweep of its own constraints, and fluid_end when velocities are final except for smoothing;
 * then it moves by dt v. Passes are Jacobi's in gather form: results do not depend on threads.
 *
 * In a scene without liquid nothing is allocated and each call returns at once. */
#ifndef PBD_FLUID_H
#define PBD_FLUID_H

#include "methods/physics/parts/stepper.h"
#include "methods/physics/space/neighbours.h"
#include "methods/physics/surface/colliders.h"

PBD_PRECISE(fluid_create, fluid_free, fluid_begin, fluid_iterate, fluid_end, fluid_look, fluid_record,
            fluid_read_pressures, fluid_read_exchange, fluid_part)

enum { FLUID_KERNELS = 4 };
/* In the order of fluid_kernels.h. */
#define FLUID_KERNEL_NAMES \
    { "cubic_spline", "wendland_c2", "spiky", "poly6_spiky", NULL }

typedef struct fluid_settings {
    int kernel;
    double support;           /* where it ends, in cube roots of a particle's volume */
    double relaxation;        /* relaxation of Jacobi; 0: 1 over the largest eigenvalue on a lattice */
    double softening;         /* added to the denominator, over its value on a lattice */
    double printed_softening; /* 1/m^2: the same as printed, in units; 0: not */
    double compliance;        /* 1/Pa: 1 over the modulus of compression; 0: none can be seen */
    double keep;              /* of the multipliers: what a step begins with of those of the last */
    bool both;                /* liquid resists being thinned too */
    bool printed;             /* multipliers of a pass do not depend on those before */
    double crowding;          /* artificial pressure: over the multiplier that C = 1 has on a lattice; 0: off */
    double crowding_at;       /* distance where it is that, over the support */
    int crowding_power;
    double settling;  /* s: time in which the excess density at the start falls to 1/e; 0: at once */
    double xsph;      /* c */
    double vorticity; /* m/s */
    bool walls;       /* colliders mirror; else they only push back */
    long passes;      /* in an iteration, as a part */
} fluid_settings;

/* What is reported of a state. C is V/V_rest - 1, by the sum of the kernel. */
typedef struct fluid_state {
    double largest, compressed, mean; /* C: the largest; means over liquid, of max(C, 0) and of C */
    double exchange[2][3];            /* N s: impulses that liquid, and the rest, have had from each other */
    double exchanged;                 /* N s: sum of the sizes of the rest's */
    double neighbours;                /* in all lists */
} fluid_state;

typedef struct fluid {
    pbd_exec *exec;
    pbd_recorder *recorder;
    fluid_settings settings;
    size_t rows, liquid; /* all that the solver has; those that are liquid: 0, and nothing is done */
    bool mixed;          /* there is continuum too */
    double support;      /* m */
    double sum, weight;  /* on a lattice: S; the denominator, 1/(kg m^2) */
    double stiffness;    /* on a lattice: dC over a change of volume, about 1. Pressures do that work */
    double relaxation, softening, eigenvalue;
    int walls;  /* colliders that mirror */
    double dt;  /* s: of the last step; 0: there was none */
    bool began; /* it is known what is too dense at the start */
    double most_compressed, largest;
    grid grid;
    uint64_t entries; /* of the slices */
    double filled;    /* share of them that is of neighbours */
    size_t capacity;
    const uint32_t *id; /* device, the solver's: of this step */
    /* Device. */
    uint8_t *matter;
    real *multiplier, *allowed, *exchange; /* by number in the scene; three each */
    real *p, *role, *gain, *change, *excess, *distance, *normal, *smooth, *curl, *block;
    uint32_t *length, *kept, *slice, *list, *corner;
} fluid;

/* For `rows` particles of the scene (all it has). *f may be freed also after an error. */
pbd_status fluid_create(fluid *f, const pbd_scene *scene, const fluid_settings *settings, pbd_exec *exec,
                        pbd_recorder *recorder);
void fluid_free(fluid *f); /* safe on a zeroed one */
/* Who is near whom where v leads; and the push of the last step's multipliers. id: by row; NULL: rows are in the
 * scene's order; it stays the solver's, until fluid_end. */
pbd_status fluid_begin(fluid *f, const uint32_t *id, const real *x, real *v, const collider_poses *walls, double dt);
pbd_status fluid_iterate(fluid *f, const real *x, real *v, const collider_poses *walls, double dt);
/* Looks, then smooths velocities of liquid. */
pbd_status fluid_end(fluid *f, const real *x, real *v, const collider_poses *walls, double dt);
/* Of what v leads to, or of what the last pass began from. Waits. */
pbd_status fluid_look(const fluid *f, fluid_state *out);
/* compression and largest_compression (of all steps), mean_compression; where there is continuum too, exchanged_impulse
 * and exchange_error. Waits. */
pbd_status fluid_record(fluid *f);

/* By number in the scene: Pa, of all; N s, three each. */
pbd_status fluid_read_pressures(const fluid *f, const real *x, const uint32_t *id, double *out);
pbd_status fluid_read_exchange(const fluid *f, double *out);

/* The same as a part of a solver (stepper.h): it takes the fluid. */
extern const step_part fluid_part;

#endif
