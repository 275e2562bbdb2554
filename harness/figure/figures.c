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
                                                     TEXT("shows", pbd_paper_figure, shows), CYAML_FIELD_END};
static const cyaml_schema_value_t figure_schema = {
    CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_paper_figure, figure_fields)};

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
    CYAML_FIELD_SEQUENCE("figures", CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, pbd_paper, figures, &figure_schema, 0,
                         CYAML_UNLIMITED),
    CYAML_FIELD_END};
static const cyaml_schema_value_t paper_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_DEFAULT, pbd_paper, paper_fields)};

static const cyaml_schema_field_t papers_fields[] = {
    CYAML_FIELD_SEQUENCE("papers", CYAML_FLAG_POINTER, pbd_papers, papers, &paper_schema, 1, CYAML_UNLIMITED),
    CYAML_FIELD_END};
static const cyaml_schema_value_t papers_schema = {CYAML_VALUE_MAPPING(CYAML_FLAG_POINTER, pbd_papers, papers_fields)};

pbd_status pbd_papers_load(pbd_papers **out) {
    char *path = pbd_root_path("plots/papers.yaml");
    void *data = NULL;
    pbd_status status =
        path ? pbd_yaml_load(path, "plots/papers.yaml", &papers_schema, &data) : pbd_error(PBD_FAILED, "out of memory");
    *out = data;
    free(path);
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

static const pbd_status out_of_memory = {PBD_FAILED, "out of memory for the list of figures"};

static bool has_folder(const char *id) {
    char relative[300];
    struct stat about;
    snprintf(relative, sizeof relative, "plots/%.200s/figure.yaml", id);
    char *path = pbd_root_path(relative);
    bool found = path && stat(path, &about) == 0;
    free(path);
    return found;
}

/* Adds an entry; takes no ownership of the strings. `paper` may run on beyond `paper_length`. */
static pbd_status add_entry(pbd_figure_list *list, const char *id, const char *paper, size_t paper_length,
                            const char *shows) {
    pbd_figure_entry *grown = realloc(list->item, (list->count + 1) * sizeof *grown);
    if (!grown) return out_of_memory;
    list->item = grown;
    pbd_figure_entry *e = &grown[list->count++];
    *e = (pbd_figure_entry){.id = strdup(id), .paper = strndup(paper, paper_length), .shows = strdup(shows)};
    e->available = has_folder(id);
    e->reason = e->available ? "" : "not yet";
    return e->id && e->paper && e->shows ? pbd_ok() : out_of_memory;
}

static bool is_listed(const pbd_figure_list *list, const char *id) {
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->item[i].id, id) == 0) return true;
    return false;
}

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* A folder that the inventory does not name is a figure of our own: its title says what it shows. */
static pbd_status add_own(pbd_figure_list *list, const char *id) {
    pbd_figure_file *file = NULL;
    pbd_status status = pbd_figure_load(id, &file);
    if (status.code == PBD_FAILED) return status;
    /* A file that cannot be read is listed all the same; `reproduce` says what is wrong with it. */
    status = add_entry(list, id, id, strcspn(id, "-"), file ? file->title : "(its figure.yaml cannot be read)");
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
        for (unsigned f = 0; f < paper->figures_count && status.code == PBD_OK; f++)
            status = add_entry(out, paper->figures[f].id, paper->key, strlen(paper->key), paper->figures[f].shows);
    }
    if (status.code == PBD_OK) status = add_own_folders(out);
    pbd_papers_free(papers);
    if (status.code != PBD_OK) pbd_figure_list_free(out);
    return status;
}

void pbd_figure_list_free(pbd_figure_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->item[i].id);
        free(list->item[i].paper);
        free(list->item[i].shows);
    }
    free(list->item);
    *list = (pbd_figure_list){0};
}
