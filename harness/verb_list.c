/* list: what there is, one line each; with --json an array of {name, summary, source, available, reason}. */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "harness/cli.h"
#include "harness/figures.h"

typedef struct listing {
    json_t *array; /* NULL: print lines */
    bool first;
} listing;

/* Prints or collects one entry; `extra` (owned) may be NULL. */
static void emit(listing *l, const char *name, const char *summary, const char *source, bool available,
                 const char *reason, json_t *extra) {
    if (!l->array) {
        printf("  %-20s %s%s%s%s\n", name, summary, available ? "" : "  [", available ? "" : reason,
               available ? "" : "]");
        json_decref(extra);
        return;
    }
    json_t *entry = json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", name, "summary", summary, "source", source,
                              "available", available, "reason", reason);
    if (extra) json_object_update(entry, extra);
    json_decref(extra);
    json_array_append_new(l->array, entry);
}

static void heading(listing *l, const char *title) {
    if (l->array) return;
    printf("%s%s\n", l->first ? "" : "\n", title);
    l->first = false;
}

static json_t *names_of_mask(unsigned mask, const char *const *names, int count) {
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        if (mask & 1u << i) json_array_append_new(array, json_string(names[i]));
    return array;
}

static json_t *params_json(const pbd_param *params) {
    json_t *array = json_array();
    for (; params && params->name; params++)
        json_array_append_new(array, json_pack("{s:s, s:s, s:s, s:s}", "name", params->name, "unit", params->unit,
                                               "default", params->preset, "doc", params->doc));
    return array;
}

static void list_methods(listing *l) {
    static const char *const backends[] = {"cpu", "emu", "cuda"}, *const precisions[] = {"f32", "f64"};
    heading(l, "methods");
    for (size_t i = 0; i < pbd_method_count(); i++) {
        const pbd_method *m = pbd_method_at(i)->by_precision[PBD_PRECISION_F64];
        json_t *extra = json_pack("{s:o, s:o, s:o}", "backends", names_of_mask(m->backends, backends, 3), "precisions",
                                  names_of_mask(m->precisions, precisions, 2), "params", params_json(m->params));
        emit(l, m->name, m->summary, m->source, true, "", extra);
    }
}

static void list_cases(listing *l) {
    heading(l, "cases");
    for (size_t i = 0; i < pbd_case_count(); i++) {
        const pbd_case *c = pbd_case_at(i);
        emit(l, c->name, c->summary, c->source, true, "", json_pack("{s:o}", "params", params_json(c->params)));
    }
}

static void list_backends(listing *l) {
    heading(l, "backends");
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        const pbd_backend_entry b = pbd_backend_at((pbd_backend)i);
        emit(l, b.name, b.summary, "", b.available, b.reason, NULL);
    }
}

static pbd_status list_figures(listing *l) {
    pbd_figure_list figures = {0};
    PBD_TRY(pbd_list_figures(&figures));
    heading(l, "figures");
    for (size_t i = 0; i < figures.count; i++) {
        const pbd_figure_entry *f = &figures.item[i];
        emit(l, f->id, f->shows, f->paper, f->available, f->reason, NULL);
    }
    pbd_figure_list_free(&figures);
    return pbd_ok();
}

static int print_help(void) {
    puts(
        "usage: pbdbench list [methods|cases|figures|backends] [--json]\n\n"
        "What there is, one line each; what is not available says why. Without a word: all four.\n\n"
        "  --json   one array of objects {name, summary, source, available, reason}; methods also\n"
        "           have backends, precisions and params, cases params");
    return PBD_EXIT_OK;
}

int pbd_verb_list(int argc, char **argv) {
    static const struct option options[] = {{"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
    static const char *const kinds[] = {"methods", "cases", "figures", "backends"};
    listing l = {.first = true};
    bool json = false, wanted[4] = {false};
    for (int option; (option = getopt_long(argc, argv, "h", options, NULL)) != -1;) {
        if (option == 'h') return print_help();
        if (option != 'j') return PBD_EXIT_USAGE;
        json = true;
    }
    for (int i = optind; i < argc; i++) {
        size_t k = 0;
        while (k < 4 && strcmp(argv[i], kinds[k]) != 0) k++;
        if (k == 4) return pbd_complain(pbd_unknown("kind of thing", argv[i], kinds, 4, "pbdbench list --help"));
        wanted[k] = true;
    }
    bool all = optind == argc;
    if (json) l.array = json_array();
    pbd_status status = pbd_ok();
    if (all || wanted[0]) list_methods(&l);
    if (all || wanted[1]) list_cases(&l);
    if (all || wanted[2]) status = list_figures(&l);
    if (status.code == PBD_OK && (all || wanted[3])) list_backends(&l);
    if (l.array && status.code == PBD_OK) {
        json_dumpf(l.array, stdout, JSON_INDENT(1));
        putchar('\n');
    }
    json_decref(l.array);
    return status.code == PBD_OK ? PBD_EXIT_OK : pbd_complain(status);
}
