/* What the verbs share: their table and common options. */
#ifndef PBD_CLI_H
#define PBD_CLI_H

#include <stdio.h>

#include "harness/exec/arena.h"
#include "harness/files/json.h"
#include "harness/files/nearest.h"
#include "harness/files/paths.h"
#include "harness/process/exit_codes.h"
#include "harness/process/interrupt.h"
#include "harness/process/progress.h"
#include "harness/run/run_plan.h"
#include "harness/verbs/options.h"

/* A verb: its file defines a `const pbd_verb pbd_verb_NAME`, and verbs.def lists it. --help and shell completion are
 * made from this struct and from its table of options. */
typedef struct pbd_verb {
    const char *name, *summary;
    const char *usage;                  /* its lines, without «usage: pbdbench» */
    const char *about;                  /* text of --help above the options */
    const char *more;                   /* text below the options; NULL: none */
    const pbd_option *options;          /* ends with a NULL name; without --help, which all verbs have */
    pbd_words words;                    /* how its arguments are completed */
    const char *choices;                /* words == PBD_WORDS_CHOICES: "check|export|merge" */
    bool prints_help;                   /* called with --help too, since its help depends on arguments or options */
    int (*main)(int argc, char **argv); /* argv[0] is the verb */
} pbd_verb;

/* What the program is, in a line. */
extern const char pbd_about_program[];

/* Prints --help of a verb; returns PBD_EXIT_OK. */
int pbd_verb_help(const pbd_verb *verb);

/* One call of a verb. */
typedef struct pbd_call {
    const pbd_texts *words; /* arguments that are not options */
    int argc;
    char **argv;
    bool help; /* --help was given; only for a verb that prints its own */
    int exit_code;
} pbd_call;
typedef pbd_status (*pbd_verb_act)(void *options, pbd_call *call);

/* The main of a verb: parses into *options, which holds the defaults, and calls `act`, or prints --help. Prints the
 * message of a failure, and frees the lists of *options. Returns the exit code: call->exit_code, or the failure's. */
int pbd_verb_call(const pbd_verb *verb, int argc, char **argv, void *options, pbd_verb_act act);

/* Opens the store that --db names, or the default one. */
pbd_status pbd_open_store(const char *given, pbd_store_mode mode, pbd_store **out);
/* The same for reading; *out is NULL if --db is not given and the default store does not exist. */
pbd_status pbd_open_store_if_any(const char *given, pbd_store **out);

/* Prints a table of parameters for --help, under a title. */
void pbd_print_params(const char *title, const pbd_param *params);

/* Options that many verbs share; STRUCT is the verb's struct of options. */
#define PBD_OPTION_DB(STRUCT) \
    PBD_OPT_TEXT(STRUCT, db, "db", 0, "FILE", PBD_WORDS_FILES, "the store; default results/pbdbench.db")
#define PBD_OPTION_JSON(STRUCT, DOC) PBD_OPT_FLAG(STRUCT, json, "json", 0, DOC)
#define PBD_OPTION_QUIET(STRUCT, DOC) PBD_OPT_FLAG(STRUCT, quiet, "quiet", 'q', DOC)

#define VERB(name) extern const pbd_verb pbd_verb_##name;
#include "harness/verbs/verbs.def"
#undef VERB
/* All of them, in the order of --help; NULL ends the list. */
extern const pbd_verb *const pbd_verbs[];

#endif
