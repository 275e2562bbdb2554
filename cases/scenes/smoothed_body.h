/* Bodies of smoothed particles (desbrun1996) on a square or cubic lattice, and measurements over time from positions
 * alone: isosurface of density, pieces, spacing. */
#ifndef PBD_SMOOTHED_BODY_H
#define PBD_SMOOTHED_BODY_H

#include "cases/geometry/density_surface.h"
#include "cases/geometry/near_pairs.h"
#include "cases/scenes/particle_scene.h"

/* What case and method have in common, by the same names: the method takes the case's. */
#define PBD_SMOOTHED_PARAMS(dimensions_, h_, k_, c_)                                                              \
    {"dimensions", "", PBD_CHOICE, dimensions_, 0, 0, 0, smoothed_dimensions, "2: a plane, the same z for all"},  \
        {"h", "", PBD_REAL, h_, 0, 100, PBD_OPEN_MIN, NULL, "smoothing length, in spacings; the support is 2h"},  \
        {"kernel", "", PBD_CHOICE, "spiky", 0, 0, 0, smoothed_kernels, "the paper's, or the spline it replaces"}, \
        {"k", "m^2/s^2", PBD_REAL, k_, 0, 1e12, 0, NULL, "stiffness: P = k (density - rest_density)"},            \
        {"c", "m/s", PBD_REAL, c_, 0, 1e6, 0, NULL, "speed of sound in viscosity and in Eq. 8"},                  \
        {"spacing", "m", PBD_REAL, "1", 0, 1e6, PBD_OPEN_MIN, NULL, "of the lattice that the body starts on"},    \
        {"density", "kg/m^3", PBD_REAL, "1", 0, 1e9, PBD_OPEN_MIN, NULL, "mass over spacing^dimensions"}, {       \
        "jitter", "", PBD_REAL, "0", 0, 1, 0, NULL, "random offset of lattice positions, in spacings"             \
    }

/* Of those cases that draw states. */
#define PBD_SMOOTHED_FILES_PARAM                                                              \
    {                                                                                         \
        "surface_files", "", PBD_TEXT, "none", 0, 0, 0, smoothed_none,                        \
            "PATH: surfaces of the states that are drawn, at 2 m W_h(h), as PATH_000.ply ..." \
    }

extern const char *const smoothed_dimensions[]; /* 2, 3 */
extern const char *const smoothed_none[];
extern const char *const smoothed_kernels[]; /* spiky, cubic_spline */

/* ---- Building ---------------------------------------------------------------------------------------------------- */

typedef enum smoothed_shape { SMOOTHED_BLOCK, SMOOTHED_BALL } smoothed_shape;

/* So many particles of the lattice, exactly: a block filled row by row, `columns` wide (and as deep in space), or those
 * that are nearest to a point. */
typedef struct smoothed_lump {
    smoothed_shape shape;
    size_t particles, columns;
    double at[3];       /* m: the middle of a block's lowest row, or of the ball */
    double velocity[3]; /* m/s */
    double squeeze;     /* of its spacing at the start; 0: 1 */
} smoothed_lump;

pbd_status smoothed_make(const pbd_values *values, const smoothed_lump *lump, size_t lumps, pbd_scene *scene);

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

enum {
    SMOOTHED_LEVELS = 12,
    SMOOTHED_FRAMES = 6,
    SMOOTHED_SEEN = 20000 /* particles: larger bodies are not looked at */
};

/* Surfaces at 0.25, 0.5 ... 3 times m W_h(h). */
typedef struct smoothed_watch {
    smoothed_matter matter; /* its x is set at each look */
    double mass;            /* kg: the unit's */
    double cell, from;      /* m; s: when areas are first counted */
    char files[240];        /* where surfaces are written; "none": not written */
    double first[SMOOTHED_LEVELS],
        change[SMOOTHED_LEVELS];      /* volume (in the plane: area) then; largest share it changed by */
    double frame_at[SMOOTHED_FRAMES]; /* s: what is drawn */
    int frames;
    size_t pieces, most_pieces, second; /* now, at most, particles of the second largest now */
} smoothed_watch;

smoothed_watch smoothed_watch_start(const pbd_values *values, const pbd_scene *scene, double from);
/* Appends to the series time, pieces, second_piece, volume (sum of m/rho), volume_at_LEVEL, area_at_LEVEL,
 * surface_pieces (of the surface at 2 m W_h(h)); and where it is time for a frame, particle (x, y, z, density, frame),
 * field (x, y, density, frame) and contour (x, y, dx, dy, frame), these of planes.
 */
pbd_status smoothed_watch_look(smoothed_watch *w, const pbd_scene *scene, const pbd_method *method, const void *state,
                               double time, pbd_recorder *recorder);
/* pieces, most_pieces, second_piece, volume_change_at_1 and _2, best_level, volume_change_at_best, and what
 * smoothed_record_spread does. */
pbd_status smoothed_watch_record(const smoothed_watch *w, const pbd_scene *scene, const pbd_method *method,
                                 const void *state, pbd_recorder *recorder);
/* Of the distances to the nearest other, over the spacing: nearest_mean, nearest_deviation, clustered (the share below
 * half a spacing), series nearest. And neighbours_within_2h, the mean number of others. */
pbd_status smoothed_record_spread(const smoothed_matter *matter, double spacing, pbd_recorder *recorder);

/* Distance between the directions of the momenta m v, in a motion that began at rest, and of the descent of the energy
 * sum m k (ln(rho/rho0) + rho0/rho - 1) at the scene's positions, by central differences of second order: unit vectors
 * of all particles. In n^3 kernels. NaN where either is 0. */
pbd_status smoothed_direction_error(const smoothed_watch *w, const pbd_scene *scene, double rest_density,
                                    const double *velocity, double *out);

#endif
