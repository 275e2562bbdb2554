/* What the verbs share: exit codes, common options, messages, progress. */
#ifndef PBD_CLI_H
#define PBD_CLI_H

#include <stdio.h>

#include "harness/options.h"
#include "harness/run.h"

enum {
    PBD_EXIT_OK = 0,
    PBD_EXIT_REGRESSION = 1,
    PBD_EXIT_USAGE = 2,
    PBD_EXIT_VALIDATION = 3,
    PBD_EXIT_INCONCLUSIVE = 4,
    PBD_EXIT_RUN_FAILED = 5,
    PBD_EXIT_INTERRUPTED = 130
};

typedef struct pbd_verb {
    const char *name, *usage, *summary;
    int (*main)(int argc, char **argv); /* argv[0] is the verb */
} pbd_verb;

#define PBD_DEFAULT_DB "results/pbdbench.db"

/* Prints «pbdbench: SENTENCE» to stderr and returns the exit code that belongs to the status. */
int pbd_complain(pbd_status status);
/* stdout (or stderr) is a terminal and NO_COLOR is unset. */
bool pbd_is_terminal(FILE *stream);
/* The root of the checkout, where plots/ and results/ are: $PBDBENCH_ROOT, or found upwards from the executable. */
const char *pbd_root(void);
/* ROOT/relative as a new string; the caller frees it. */
char *pbd_root_path(const char *relative);

/* The store's file: `given` by --db, or the default one under the root. A new string; NULL without memory. */
char *pbd_db_path(const char *given);

/* A progress line with ETA on stderr when that is a terminal and `quiet` is false; silent otherwise. */
typedef struct pbd_progress {
    bool on;
    double started;
    size_t fresh; /* runs really made so far: what the ETA rests on */
} pbd_progress;
void pbd_progress_begin(pbd_progress *progress, bool quiet);
void pbd_progress_show(pbd_progress *progress, size_t done, size_t total, bool made, const char *label);
void pbd_progress_end(pbd_progress *progress);

int pbd_verb_list(int argc, char **argv);
int pbd_verb_run(int argc, char **argv);
int pbd_verb_sweep(int argc, char **argv);
int pbd_verb_reproduce(int argc, char **argv);
int pbd_verb_plot(int argc, char **argv);
int pbd_verb_show(int argc, char **argv);
int pbd_verb_cite(int argc, char **argv);
int pbd_verb_db(int argc, char **argv);
int pbd_verb_env(int argc, char **argv);
int pbd_verb_bench(int argc, char **argv);

#endif
