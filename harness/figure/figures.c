/* The inventory of papers and figures, and which of them have a folder. */
#include "harness/figure/figures.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/figure/figure_file.h"
#include "harness/figure/papers.h"
#include "harness/files/paths.h"
#include "harness/files/yaml_file.h"

/* ---- papers.yaml ------------------------------------------------------------------------------------------------- */

#define TEXT(key, type, member) CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER, type, member, 1, CYAML_UNLIMITED)
#define MAYBE_TEXT(key, type, member) \
    CYAML_FIELD_STRING_PTR(key, CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, type, member, 0, CYAML_UNLIMITED)

static const cyaml_schema_value_t word = {CYAML_VALUE_STRING(CYAML_FLAG_POINTER, char, 1, CYAML_UNLIMITED)};

static const cyaml_schema_field_t figure_fields[] = {TEXT("id", pbd_paper_figure, id),
                                                     TEXT("shows", pbd_paper_figure, shows),
                                                     MAYBE_TEXT("absent", pbd_paper_figure, absent), CYAML_FIELD_END};
static const cyaml_schema_value_t figure_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_paper_figure, figure_fields)};

static const cyaml_schema_field_t settings_fields[] = {
    TEXT("method", pbd_paper_settings, method),
    CYAML_FIELD_SEQUENCE("set", CYAML_FLAG_POINTER, pbd_paper_settings, set, &word, 1, CYAML_UNLIMITED),
    TEXT("because", pbd_paper_settings, because), CYAML_FIELD_END};
static const cyaml_schema_value_t settings_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_paper_settings, settings_fields)};

static const cyaml_schema_field_t not_judged_fields[] = {TEXT("id", pbd_not_judged, id),
                                                         TEXT("because", pbd_not_judged, because), CYAML_FIELD_END};
static const cyaml_schema_value_t not_judged_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_not_judged, not_judged_fields)};

static const cyaml_schema_field_t paper_fields[] = {
    TEXT("key", pbd_paper, key),
    TEXT("kind", pbd_paper, kind),
    TEXT("title", pbd_paper, title),
    CYAML_FIELD_SEQUENCE("authors", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, pbd_paper, authors, &word, 1,
                         CYAML_UNLIMITED),
    CYAML_FIELD_UINT("year", CYAML_FLAG_OPTIONAL, pbd_paper, year),
    TEXT("venue", pbd_paper, venue),
    MAYBE_TEXT("volume", pbd_paper, volume),
    MAYBE_TEXT("pages", pbd_paper, pages),
    MAYBE_TEXT("publisher", pbd_paper, publisher),
    MAYBE_TEXT("doi", pbd_paper, doi),
    MAYBE_TEXT("url", pbd_paper, url),
    CYAML_FIELD_SEQUENCE("settings", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, pbd_paper, settings, &settings_schema, 0,
                         CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("figures", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, pbd_paper, figures, &figure_schema, 0,
                         CYAML_UNLIMITED),
    CYAML_FIELD_SEQUENCE("not_judged", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, pbd_paper, not_judged,
                         &not_judged_schema, 0, CYAML_UNLIMITED),
    CYAML_FIELD_END};
static const cyaml_schema_value_t paper_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_paper, paper_fields)};

static const cyaml_schema_field_t papers_fields[] = {
    CYAML_FIELD_SEQUENCE("papers", CYAML_FLAG_POINTER, pbd_papers, papers, &paper_schema, 1, CYAML_UNLIMITED),
    CYAML_FIELD_END};
static const cyaml_schema_value_t papers_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, pbd_papers, papers_fields)};

pbd_status pbd_papers_load(pbd_papers **out) {
    pbd_arena a PBD_ARENA;
    const char *path = pbd_new_format(&a, "%s/plots/papers.yaml", pbd_root());
    void *data = NULL;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_root_check());
    const pbd_status status = pbd_yaml_load(path, "plots/papers.yaml", &papers_schema, &data);
    *out = data;
    return status;
}

void pbd_papers_free(pbd_papers *papers) { pbd_yaml_free(&papers_schema, papers); }

const pbd_paper *pbd_paper_of(const pbd_papers *papers, const char *key) {
    for (unsigned i = 0; i < papers->papers_count; i++)
        if (strcmp(papers->papers[i].key, key) == 0) return &papers->papers[i];
    return NULL;
}

void pbd_paper_write(const pbd_paper *paper, FILE *out) {
    for (unsigned i = 0; i < paper->authors_count; i++) fprintf(out, "%s%s", i ? ", " : "", paper->authors[i]);
    fprintf(out, "%s%s.", paper->authors_count ? ": " : "", paper->title);
    if (paper->venue) fprintf(out, " %s", paper->venue);
    if (paper->volume) fprintf(out, " %s", paper->volume);
    if (paper->pages) fprintf(out, ", %s", paper->pages);
    if (paper->year) fprintf(out, " (%u)", paper->year);
    fputs(".", out);
}

/* ---- The list ---------------------------------------------------------------------------------------------------- */

static bool has_folder(const char *id) {
    pbd_arena a PBD_ARENA;
    struct stat about;
    const char *path = pbd_new_format(&a, "%s/plots/%s/figure.yaml", pbd_root(), id);
    return path && stat(path, &about) == 0;
}

/* Copies the strings; of `paper`, the first `paper_length` characters. */
static pbd_status add_entry(pbd_figure_list *list, const char *id, const char *paper, size_t paper_length,
                            const char *shows, const char *absent) {
    pbd_arena *a = &list->owned;
    if (!pbd_arena_more(a, &list->item, list->count, sizeof *list->item)) return pbd_arena_check(a);
    const bool available = has_folder(id);
    list->item[list->count++] = (pbd_figure_entry){.id = pbd_new_text(a, id),
                                                   .paper = pbd_new_format(a, "%.*s", (int)paper_length, paper),
                                                   .shows = pbd_new_text(a, shows),
                                                   .available = available,
                                                   .reason = available ? "" : pbd_new_text(a, absent)};
    return pbd_arena_check(a);
}

static bool is_listed(const pbd_figure_list *list, const char *id) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i].id, id) == 0) return true;
    return false;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* A folder that the inventory does not name is a figure of this project: its title says what it shows. */
static pbd_status add_own(pbd_figure_list *list, const char *id) {
    pbd_figure_file *file = NULL;
    pbd_status status = pbd_figure_load(id, &file);
    if (status.code == PBD_FAILED) return status;
    /* A file that cannot be read is listed too; `reproduce` reports what is wrong with it. */
    const char *paper = file ? file->paper : id;
    status = add_entry(list, id, paper, strcspn(paper, "-"), file ? file->title : "(its figure.yaml cannot be read)",
                       "not yet");
    pbd_figure_file_free(file);
    return status;
}

static pbd_status add_own_folders(pbd_figure_list *list) {
    char *path = pbd_root_path("plots");
    struct dirent **entry = NULL;
    int count = path ? scandir(path, &entry, is_visible, alphasort) : -1;
    pbd_status status =
        count >= 0 ? pbd_ok() : pbd_error(PBD_BAD_INPUT, "cannot read the folder plots: %s", strerror(errno));
    for (int i = 0; i < count; i++) {
        const char *id = entry[i]->d_name;
        if (status.code == PBD_OK && !is_listed(list, id) && has_folder(id)) status = add_own(list, id);
        free(entry[i]);
    }
    free(entry);
    free(path);
    return status;
}

pbd_status pbd_list_figures(pbd_figure_list *out) {
    *out = (pbd_figure_list){0};
    pbd_papers *papers;
    PBD_TRY(pbd_papers_load(&papers));
    pbd_status status = pbd_ok();
    for (unsigned p = 0; p < papers->papers_count; p++) {
        const pbd_paper *paper = &papers->papers[p];
        for (unsigned f = 0; f < paper->figures_count && status.code == PBD_OK; f++) {
            const pbd_paper_figure *figure = &paper->figures[f];
            status = add_entry(out, figure->id, paper->key, strlen(paper->key), figure->shows,
                               figure->absent ? figure->absent : "not yet");
        }
    }
    if (status.code == PBD_OK) status = add_own_folders(out);
    pbd_papers_free(papers);
    if (status.code != PBD_OK) pbd_figure_list_free(out);
    return status;
}

void pbd_figure_list_free(pbd_figure_list *list) {
    pbd_arena_free(&list->owned);
    *list = (pbd_figure_list){0};
}
