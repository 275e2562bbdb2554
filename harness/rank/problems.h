/* cases/problems.yaml: frozen problems, and what each method may choose on them.
 *
 * A problem is a case with every physical parameter fixed, the error metric with its reference, and a tolerance. What a
 * method may choose (resolution, time step, iterations, solver) is its grid of trials. Every method has the same number
 * of trials. */
#ifndef PBD_PROBLEMS_H
#define PBD_PROBLEMS_H

#include <cyaml/cyaml.h>
#include <jansson.h>

#include "harness/figure/figure_plan.h"

/* The trials of one method on one problem: the grid of `axes`, and `also`. */
typedef struct pbd_trials {
    char *method, *precision; /* precision NULL: f64 */
    char **set;               /* "key=value", in every trial */
    unsigned set_count;
    char **axes; /* "key=a,b" */
    unsigned axes_count;
    char **quick; /* under --quick in place of the setting or axis of the same key */
    unsigned quick_count;
    char **also; /* further trials, such as the authors' own settings: "key=value key=value"; override set, no axes */
    unsigned also_count;
    char *authors; /* which trials are the authors' own, and where they say so; NULL: they state none for such a case */
} pbd_trials;

typedef struct pbd_left_out {
    char *name, *because;
} pbd_left_out;

typedef struct pbd_problem {
    char *id, *title, *case_name, *kind; /* kind: moving or static */
    char **set;                          /* "key=value": what the problem fixes */
    unsigned set_count;
    char *metric;                  /* of the run */
    double target;                 /* the error is |metric - target|, in the metric's unit */
    double uncertainty, tolerance; /* of the reference, and of the answer; in the same unit */
    char *reference;               /* what the answer is compared with, and where it is from */
    bool quick;                    /* one of the problems of --quick */
    pbd_trials *methods;
    unsigned methods_count;
    pbd_left_out *left_out; /* methods that fit the case, and have no trials here */
    unsigned left_out_count;
} pbd_problem;

typedef struct pbd_problems {
    unsigned trials, quick_trials; /* of each method on each problem */
    double seconds, quick_seconds; /* the most that a trial may take */
    char **choices;                /* parameters of cases that a method may choose, such as the resolution */
    unsigned choices_count;
    pbd_problem *problems;
    unsigned problems_count;
    pbd_left_out *left_out; /* problems that were wanted and could not be included */
    unsigned left_out_count;
} pbd_problems;

extern const cyaml_schema_value_t pbd_problems_schema; /* of the file */

/* Reads ROOT/cases/problems.yaml and checks what a schema cannot say: names, that every parameter of a case is fixed or
 * a choice, that no trial sets what its problem fixes, and that all methods have the same number of trials.
 * PBD_BAD_INPUT names the place. The caller frees *out. */
pbd_status pbd_problems_load(pbd_problems **out);
void pbd_problems_free(pbd_problems *problems); /* NULL-safe */
static inline void pbd_problems_release(pbd_problems **problems) { pbd_problems_free(*problems); }

/* The problem of that id; PBD_BAD_INPUT names the nearest one. */
pbd_status pbd_find_problem(const pbd_problems *problems, const char *id, const pbd_problem **out);
/* Whether a cell of that case with these parameters, a JSON object, belongs to the problem. */
bool pbd_problem_fits(const pbd_problem *problem, const char *case_name, const json_t *params);
/* The first problem whose fixed parameters have these values (a JSON object); NULL: none. */
const pbd_problem *pbd_problem_of(const pbd_problems *problems, const char *case_name, const json_t *params);
bool pbd_problem_moves(const pbd_problem *problem);
/* Whether a parameter of a case is one that methods may choose. */
bool pbd_is_choice(const pbd_problems *problems, const char *key);
/* Writes what is compared: "displacement_error", or "|tip_ratio - 1|" if the target is not 0. */
void pbd_problem_error_name(const pbd_problem *problem, char *out, size_t size);

/* Adds the trials of a method on a problem to the plan, as the runs of group `group`. threads 0: all. PBD_NOT_SUPPORTED
 * if the method does not run on the problem, with nothing added; PBD_BAD_INPUT if the file is wrong, also when trials
 * turn out to be identical. */
pbd_status pbd_problem_plan(const pbd_problems *problems, const pbd_problem *problem, const pbd_trials *trials,
                            const char *backend, int threads, bool quick, size_t group, pbd_plan *plan);
/* Writes the same runs as entries of a file for `sweep`; *entries is incremented for each. */
pbd_status pbd_problem_write_sweep(const pbd_problem *problem, const pbd_trials *trials, const char *backend,
                                   int threads, bool quick, unsigned *entries, FILE *out);

#endif
