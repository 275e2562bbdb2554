/* What the verbs share. */
#include "harness/verbs/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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

void pbd_print_params(const char *title, const pbd_param *params) {
    printf("\n%s\n", title);
    for (; params && params->name; params++) {
        char range[160] = "";
        if (params->kind == PBD_TEXT || params->kind == PBD_FILE)
            snprintf(range, sizeof range, "%s", params->kind == PBD_TEXT ? "text" : "a file");
        else if (params->kind == PBD_CHOICE)
            for (size_t i = 0; params->choices[i]; i++)
                snprintf(range + strlen(range), sizeof range - strlen(range), "%s%s", i ? "|" : "", params->choices[i]);
        else
            snprintf(range, sizeof range, "%c%g, %g%c%s%s", params->open & PBD_OPEN_MIN ? '(' : '[', params->min,
                     params->max, params->open & PBD_OPEN_MAX || isinf(params->max) ? ')' : ']',
                     *params->unit ? " " : "", params->unit);
        printf("  %-20s %s\n  %-20s %s; ", params->name, params->doc, "", range);
        if (!*params->preset)
            puts("must be given");
        else
            printf("default %s\n", params->preset);
    }
}
