/* What the verbs share. */
#include "harness/verbs/cli.h"

const pbd_verb *const pbd_verbs[] = {
#define VERB(name) &pbd_verb_##name,
#include "harness/verbs/verbs.def"
#undef VERB
    NULL};

/* Each line of a usage is a command of its own, but for those that begin with a blank: they go on. */
int pbd_verb_help(const pbd_verb *verb) {
    fputs("usage: pbdbench ", stdout);
    for (const char *c = verb->usage; *c; c++) {
        putchar(*c);
        if (*c == '\n') fputs(c[1] == ' ' ? "                " : "       pbdbench ", stdout);
    }
    printf("\n\n%s\n\n", verb->about);
    pbd_options_print(verb->options);
    if (verb->more) printf("\n%s\n", verb->more);
    return PBD_EXIT_OK;
}
