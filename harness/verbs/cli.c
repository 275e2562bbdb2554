/* What the verbs share. */
#include "harness/verbs/cli.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const pbd_verb *const pbd_verbs[] = {
#define VERB(name) &pbd_verb_##name,
#include "harness/verbs/verbs.def"
#undef VERB
    NULL};

const char pbd_about_program[] = "validates and times position-based and particle-based deformable solids";

/* Each line of a usage is a command; one that begins with a blank continues the line above. */
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

int pbd_verb_call(const pbd_verb *verb, int argc, char **argv, void *options, pbd_verb_act act) {
    pbd_texts words PBD_CLEANUP(pbd_texts_free) = {0};
    pbd_call call = {.words = &words, .argc = argc, .argv = argv, .exit_code = PBD_EXIT_OK};
    pbd_status status = pbd_options_parse(verb->name, verb->options, argc, argv, options, &words, &call.help);
    if (status.code == PBD_OK && call.help && !verb->prints_help)
        pbd_verb_help(verb);
    else if (status.code == PBD_OK)
        status = act(options, &call);
    pbd_options_free(verb->options, options);
    return status.code == PBD_OK ? call.exit_code : pbd_complain(status);
}

pbd_status pbd_open_store(const char *given, pbd_store_mode mode, pbd_store **out) {
    const char *path PBD_CLEANUP(pbd_free_memory) = pbd_db_path(given);
    *out = NULL;
    return path ? pbd_store_open(path, mode, out) : pbd_no_memory();
}

pbd_status pbd_open_store_if_any(const char *given, pbd_store **out) {
    const char *path PBD_CLEANUP(pbd_free_memory) = pbd_db_path(given);
    *out = NULL;
    if (!path) return pbd_no_memory();
    return given || access(path, F_OK) == 0 ? pbd_store_open(path, PBD_STORE_READ, out) : pbd_ok();
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
        printf("  %-20s %s\n  %-20s %s%s; ", params->name, params->doc, "", range,
               !pbd_param_is_auto(params)   ? ""
               : params->kind == PBD_CHOICE ? "|auto"
                                            : ", or auto");
        if (!*params->preset)
            puts("must be given");
        else
            printf("default %s\n", params->preset);
    }
}
