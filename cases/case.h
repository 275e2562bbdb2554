/* The contract between the harness and a case: a standard problem that builds a scene and says what is measured on it.
 *
 * A case is a folder cases/NAME with NAME.c and one line CASE(NAME) in cases.def. NAME.c defines `const pbd_case
 * pbd_case_NAME`. References come from outside the method under test; each case's README or doc names their source.
 */
#ifndef PBD_CASE_H
#define PBD_CASE_H

#include <stdio.h>

#include "methods/method.h"

/* When a scene that is stepped until rest counts as at rest: over `window` steps, the mean position of the watched
 * particles moves by at most `tolerance` times its distance from the undeformed one. */
typedef struct pbd_settle {
    double tolerance;
    long window, most_steps;
    size_t watched;
    uint32_t *watch;
} pbd_settle;

enum { PBD_SETUP_WARNINGS = 4 };
typedef struct pbd_setup_warning {
    const char *name; /* a literal */
    char says[240];
} pbd_setup_warning;

/* What a case builds: the scene, which the method sees, and data that only case and harness use. */
typedef struct pbd_setup {
    pbd_scene scene;
    pbd_settle settle;    /* scene.duration 0 and window > 0: stepped until rest, not solved by `solve` */
    double observe_every; /* s: how often `observe` is called in a scene that moves; 0: never */
    void *detail;         /* the case's own data, detail_bytes long */
    double dt;            /* s: time step of a scene that moves; set by the harness before the first step */
    size_t warnings;      /* about the scene; raised when the run begins */
    pbd_setup_warning warning[PBD_SETUP_WARNINGS];
} pbd_setup;

/* Adds a warning. Of warnings with the same name the first is kept; an empty sentence adds none. */
__attribute__((format(printf, 3, 4))) void pbd_setup_warn(pbd_setup *setup, const char *name, const char *format, ...);

typedef struct pbd_case {
    const char *name, *summary, *source;
    unsigned provides; /* PBD_NEEDS_*: what its scenes contain */
    const pbd_param *params;
    const pbd_param *(*shared)(void); /* parameters after params, such as those of flow rules (flow_table.h). A
                                         repeated name is left out. NULL: none */
    const char *presets;              /* the case's defaults for shared parameters: "flow=snow xi=10"; NULL: theirs */
    size_t detail_bytes;              /* size of setup->detail; 0: none */
    /* Fills a zeroed scene and its zeroed detail, including the reference. pbd_scene_free and `free_detail` free what
     * it allocates, also after an error. */
    pbd_status (*build)(const pbd_values *, pbd_setup *setup);
    /* Reads the solver's state and records metrics and series against the reference. `method` need not provide all
     * fields. */
    pbd_status (*measure)(const pbd_setup *, const pbd_method *, const void *state, pbd_recorder *);
    /* Observes a moving scene at its start and every setup->observe_every seconds, for series over time; may store data
     * in setup->detail. Its run time does not count as the solver's. NULL: only the end is measured. */
    pbd_status (*observe)(const pbd_setup *, const pbd_method *, const void *state, double time, pbd_recorder *);
    /* Receives the positions (particles x 3, m) after each iteration of a step, from methods that report them
     * (pbd_iterate). May be NULL. */
    void (*iterate)(const pbd_setup *, long iteration, const double *positions, pbd_recorder *);
    /* Frees what the detail points to, not the detail itself; safe on a zeroed one. NULL: it points to nothing. */
    void (*free_detail)(void *detail);
    /* Size in bytes of the last part of the detail, which holds numbers and no pointers. Whatever a run changes in the
     * detail is in this part, or is written to a file and read back by `keep` (NULL: nothing else). A paused run stores
     * both. 0 with a detail: runs cannot be paused. */
    size_t numbers;
    pbd_status (*keep)(void *detail, FILE *file, bool writes);
} pbd_case;

/* Builds the scene of a case, and keeps its particles clear of its colliders (clearance.h). After an error *setup is
 * zeroed and needs no pbd_case_free. */
pbd_status pbd_case_build(const pbd_case *, const pbd_values *, pbd_setup *setup);
/* Frees what pbd_case_build made, and zeroes it; safe on a zeroed one. */
void pbd_case_free(const pbd_case *, pbd_setup *setup);
/* Frees the arrays of a scene, each from malloc, and zeroes it: the only place that lists them. */
void pbd_scene_free(pbd_scene *scene);

#endif
