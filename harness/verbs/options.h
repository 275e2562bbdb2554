/* Options of a verb, declared once: parsing, checks, `--help` and shell completion follow from one table.
 *
 * A verb has a struct for its options, and a table whose rows say which member of it each option sets:
 *
 *     typedef struct show_options { const char *db; bool json; } show_options;
 *     static const pbd_option table[] = {
 *         PBD_OPT_TEXT(show_options, db, "db", 0, "FILE", PBD_WORDS_FILES, "the store; default results/pbdbench.db"),
 *         PBD_OPT_FLAG(show_options, json, "json", 0, "one object a line"),
 *         {0}};
 */
#ifndef PBD_OPTIONS_H
#define PBD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "harness/files/texts.h"

/* What a value (or a word without option) is completed from. */
typedef enum pbd_words {
    PBD_WORDS_NONE,
    PBD_WORDS_FILES, /* and the words of `choices`, if any */
    PBD_WORDS_FOLDERS,
    PBD_WORDS_METHODS,
    PBD_WORDS_CASES,
    PBD_WORDS_FIGURES, /* figures and papers */
    PBD_WORDS_PROBLEMS,
    PBD_WORDS_BACKENDS,
    PBD_WORDS_PRECISIONS,
    PBD_WORDS_KINDS,    /* of `list` */
    PBD_WORDS_SETTINGS, /* key=value of any method or case */
    PBD_WORDS_VERBS,
    PBD_WORDS_CHOICES /* the words of `choices`, separated by '|' */
} pbd_words;

typedef enum pbd_option_kind {
    PBD_OPTION_FLAG,    /* bool: set true */
    PBD_OPTION_TEXT,    /* const char *: points into argv */
    PBD_OPTION_INTEGER, /* long long, checked against [min, max] */
    PBD_OPTION_REAL,    /* double, checked against [min, max]; never NaN */
    PBD_OPTION_PERCENT, /* double, a fraction: "2%" and "0.02" are both 0.02; checked against [min, max] */
    PBD_OPTION_MANY     /* pbd_texts: each use adds one */
} pbd_option_kind;

typedef struct pbd_option {
    const char *name;  /* long name without dashes; NULL ends the table */
    char letter;       /* short name, or 0 */
    const char *value; /* placeholder in --help; NULL for a flag */
    const char *doc;   /* what it does, with its default; a '\n' begins another line of help */
    pbd_words words;
    pbd_option_kind kind;
    size_t member; /* offsetof */
    double min, max;
    const char *choices; /* PBD_WORDS_CHOICES: "x|y|xy"; other values are refused, naming the nearest. PBD_WORDS_FILES,
                            of PBD_OPTION_MANY: words that are offered beside files, checked by the verb */
} pbd_option;

/* Rows by kind. STRUCT is the verb's struct, MEMBER the member that is set. */
#define PBD_OPT_FLAG(STRUCT, MEMBER, NAME, LETTER, DOC) \
    { .name = NAME, .letter = LETTER, .doc = DOC, .kind = PBD_OPTION_FLAG, .member = offsetof(STRUCT, MEMBER) }
#define PBD_OPT_VALUE(STRUCT, MEMBER, NAME, LETTER, VALUE, WORDS, KIND, DOC)                      \
    {                                                                                             \
        .name = NAME, .letter = LETTER, .value = VALUE, .doc = DOC, .words = WORDS, .kind = KIND, \
        .member = offsetof(STRUCT, MEMBER)                                                        \
    }
#define PBD_OPT_TEXT(STRUCT, MEMBER, NAME, LETTER, VALUE, WORDS, DOC) \
    PBD_OPT_VALUE(STRUCT, MEMBER, NAME, LETTER, VALUE, WORDS, PBD_OPTION_TEXT, DOC)
#define PBD_OPT_MANY(STRUCT, MEMBER, NAME, LETTER, VALUE, WORDS, DOC) \
    PBD_OPT_VALUE(STRUCT, MEMBER, NAME, LETTER, VALUE, WORDS, PBD_OPTION_MANY, DOC)
#define PBD_OPT_CHOICE(STRUCT, MEMBER, NAME, LETTER, VALUE, CHOICES, DOC)                       \
    {                                                                                           \
        .name = NAME, .letter = LETTER, .value = VALUE, .doc = DOC, .words = PBD_WORDS_CHOICES, \
        .kind = PBD_OPTION_TEXT, .member = offsetof(STRUCT, MEMBER), .choices = CHOICES         \
    }
#define PBD_OPT_NUMBER(STRUCT, MEMBER, NAME, LETTER, VALUE, KIND, MIN, MAX, DOC)                                      \
    {                                                                                                                 \
        .name = NAME, .letter = LETTER, .value = VALUE, .doc = DOC, .kind = KIND, .member = offsetof(STRUCT, MEMBER), \
        .min = MIN, .max = MAX                                                                                        \
    }
#define PBD_OPT_INTEGER(STRUCT, MEMBER, NAME, LETTER, MIN, MAX, DOC) \
    PBD_OPT_NUMBER(STRUCT, MEMBER, NAME, LETTER, "N", PBD_OPTION_INTEGER, MIN, MAX, DOC)
#define PBD_OPT_REAL(STRUCT, MEMBER, NAME, LETTER, VALUE, MIN, MAX, DOC) \
    PBD_OPT_NUMBER(STRUCT, MEMBER, NAME, LETTER, VALUE, PBD_OPTION_REAL, MIN, MAX, DOC)
#define PBD_OPT_PERCENT(STRUCT, MEMBER, NAME, LETTER, MIN, MAX, DOC) \
    PBD_OPT_NUMBER(STRUCT, MEMBER, NAME, LETTER, "PERCENT", PBD_OPTION_PERCENT, MIN, MAX, DOC)

/* Parses argv[1..] into *options (a verb's struct, zeroed or holding defaults). Arguments that are not options go into
 * *words in order (free with pbd_texts_free). Every verb understands --help and -h: *help is set, and the rest is
 * not checked. PBD_BAD_INPUT names the option, the value and its range, or the nearest known option. */
pbd_status pbd_options_parse(const char *verb, const pbd_option *table, int argc, char **argv, void *options,
                             pbd_texts *words, bool *help);

/* Frees the lists of options of kind PBD_OPTION_MANY. */
void pbd_options_free(const pbd_option *table, void *options);

/* Prints the rows for --help, names and docs in two columns. */
void pbd_options_print(const pbd_option *table);

#endif
