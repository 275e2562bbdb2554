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
#include "harness/files/yaml_fields.h"
#include "harness/files/yaml_file.h"

/* ---- papers.yaml ------------------------------------------------------------------------------------------------- */

static const cyaml_schema_field_t figure_fields[] = {
    PBD_YAML_TEXT(pbd_paper_figure, id, "id", "of a figure or table: the name of its folder in plots"),
    PBD_YAML_TEXT(pbd_paper_figure, shows, "shows", "a line"), CYAML_FIELD_END};
static const cyaml_schema_value_t figure_schema = PBD_YAML_ENTRY(pbd_paper_figure, figure_fields);

static const cyaml_schema_field_t settings_fields[] = {
    PBD_YAML_TEXT(pbd_paper_settings, method, "method", "the method that they are of"),
    PBD_YAML_LIST(pbd_paper_settings, set, "set", &pbd_yaml_word,
                  "`key=value`, in all runs of figures of the paper whose method or case has the key"),
    PBD_YAML_TEXT(pbd_paper_settings, because, "because", "where the paper says so"), CYAML_FIELD_END};
static const cyaml_schema_value_t settings_schema = PBD_YAML_ENTRY(pbd_paper_settings, settings_fields);

static const cyaml_schema_field_t not_judged_fields[] = {
    PBD_YAML_TEXT(pbd_not_judged, id, "id", "of a claim that no run can judge"),
    PBD_YAML_TEXT(pbd_not_judged, because, "because", "why"), CYAML_FIELD_END};
static const cyaml_schema_value_t not_judged_schema = PBD_YAML_ENTRY(pbd_not_judged, not_judged_fields);

static const cyaml_schema_field_t paper_fields[] = {
    PBD_YAML_TEXT(pbd_paper, key, "key", "a word, such as `rodero2016`"),
    PBD_YAML_TEXT(pbd_paper, kind, "kind", "BibTeX's word: inproceedings, article, misc"),
    PBD_YAML_TEXT(pbd_paper, title, "title", "of the paper"),
    CYAML_FIELD_SEQUENCE(PBD_YAML_KEY("authors", "`Given Family`"), CYAML_FLAG_POINTER | CYAML_FLAG_OPTIONAL, pbd_paper,
                         authors, &pbd_yaml_word, 1, CYAML_UNLIMITED),
    PBD_YAML_MAYBE_WHOLE(pbd_paper, year, "year", "of publication"),
    PBD_YAML_TEXT(pbd_paper, venue, "venue", "journal or conference"),
    PBD_YAML_MAYBE_TEXT(pbd_paper, volume, "volume", "of the journal"),
    PBD_YAML_MAYBE_TEXT(pbd_paper, pages, "pages", "or the article's number"),
    PBD_YAML_MAYBE_TEXT(pbd_paper, publisher, "publisher", "of the venue"),
    PBD_YAML_MAYBE_TEXT(pbd_paper, doi, "doi", "without the resolver's address"),
    PBD_YAML_MAYBE_TEXT(pbd_paper, url, "url", "where it can be read"),
    PBD_YAML_MAYBE_LIST(pbd_paper, settings, "settings", &settings_schema, "what all its figures set"),
    PBD_YAML_MAYBE_LIST(pbd_paper, figures, "figures", &figure_schema, "every figure and table"),
    PBD_YAML_MAYBE_LIST(pbd_paper, not_judged, "not_judged", &not_judged_schema, "claims that no run can judge"),
    CYAML_FIELD_END};
static const cyaml_schema_value_t paper_schema = PBD_YAML_ENTRY(pbd_paper, paper_fields);

static const cyaml_schema_field_t papers_fields[] = {
    PBD_YAML_LIST(pbd_papers, papers, "papers", &paper_schema, "in the order of `list figures`"), CYAML_FIELD_END};
const cyaml_schema_value_t pbd_papers_schema = PBD_YAML_FILE(pbd_papers, papers_fields);

pbd_status pbd_papers_load(pbd_papers **out) {
    pbd_arena a PBD_ARENA;
    const char *path = pbd_new_format(&a, "%s/plots/papers.yaml", pbd_root());
    void *data = NULL;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_root_check());
    const pbd_status status = pbd_yaml_load(path, "plots/papers.yaml", &pbd_papers_schema, &data);
    *out = data;
    return status;
}

void pbd_papers_free(pbd_papers *papers) { pbd_yaml_free(&pbd_papers_schema, papers); }

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
                            const char *shows) {
    pbd_arena *a = &list->owned;
    if (!pbd_arena_more(a, &list->item, list->count, sizeof *list->item)) return pbd_arena_check(a);
    const bool available = has_folder(id);
    list->item[list->count++] = (pbd_figure_entry){.id = pbd_new_text(a, id),
                                                   .paper = pbd_new_format(a, "%.*s", (int)paper_length, paper),
                                                   .shows = pbd_new_text(a, shows),
                                                   .available = available,
                                                   .reason = available ? "" : "not yet"};
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
    status = add_entry(list, id, paper, strcspn(paper, "-"), file ? file->title : "(its figure.yaml cannot be read)");
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
            status = add_entry(out, figure->id, paper->key, strlen(paper->key), figure->shows);
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
