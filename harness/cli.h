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

/* A verb: its file defines a `const pbd_verb pbd_verb_NAME`, and main.c lists it. --help and shell completion come from
 * this and from its table of options. */
typedef struct pbd_verb {
    const char *name, *summary;
    const char *usage;                  /* its lines, without «usage: pbdbench» */
    const char *about;                  /* of --help, above the options */
    const char *more;                   /* below them; NULL: nothing */
    const pbd_option *options;          /* ends with a NULL name; --help is everybody's and not in it */
    pbd_words words;                    /* what its words are completed from */
    const char *choices;                /* words == PBD_WORDS_CHOICES: "check|export|merge" */
    int (*main)(int argc, char **argv); /* argv[0] is the verb */
} pbd_verb;

/* Prints --help of a verb; returns PBD_EXIT_OK. */
int pbd_verb_help(const pbd_verb *verb);

/* Options that many verbs share, said once; STRUCT is the verb's struct of options. */
#define PBD_OPTION_DB(STRUCT) \
    PBD_OPT_TEXT(STRUCT, db, "db", 0, "FILE", PBD_WORDS_FILES, "the store; default results/pbdbench.db")
#define PBD_OPTION_JSON(STRUCT, DOC) PBD_OPT_FLAG(STRUCT, json, "json", 0, DOC)
#define PBD_OPTION_QUIET(STRUCT, DOC) PBD_OPT_FLAG(STRUCT, quiet, "quiet", 'q', DOC)

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

/* Says on standard error which run was refused and why; its name only where there are several. */
void pbd_tell_refusal(const pbd_progress *progress, const pbd_plan_item *item, size_t total);

#define VERB(name) extern const pbd_verb pbd_verb_##name;
#include "harness/verbs.def"
#undef VERB
/* All of them, in the order of --help; NULL ends the list. */
extern const pbd_verb *const pbd_verbs[];

#endif
