#include "harness/figure/findings_page.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/exec/arena.h"
#include "harness/figure/figure_file.h"
#include "harness/figure/figures.h"
#include "harness/figure/papers.h"
#include "harness/files/csv_file.h"
#include "harness/files/paths.h"

static const struct {
    const char *name, *says;
} verdicts[] = {{"reproduced", "reproduced"},
                {"partly", "*partly*"},
                {"not_reproduced", "**not reproduced**"},
                {"not_run", "not run"}};
enum { VERDICTS = sizeof verdicts / sizeof *verdicts, NONE = VERDICTS };

typedef struct tally {
    size_t count[VERDICTS + 1]; /* of the paper's claims; the last counts claims without an accepted verdict */
    size_t beyond;              /* claims of our own */
} tally;

static bool exists(const char *path) {
    struct stat about;
    return stat(path, &about) == 0;
}

/* Index of the accepted verdict of a claim; NONE where there is none. */
static size_t verdict_of(const pbd_csv *csv, const char *id) {
    const size_t claim = pbd_csv_column(csv, "claim"), verdict = pbd_csv_column(csv, "verdict"),
                 reading = pbd_csv_column(csv, "reading");
    for (size_t r = 0; r < csv->rows && claim < csv->columns && verdict < csv->columns; r++) {
        char *const *field = &csv->field[r * csv->columns];
        if (strcmp(field[claim], id) != 0 || (reading < csv->columns && *field[reading])) continue;
        for (size_t v = 0; v < VERDICTS; v++)
            if (strcmp(field[verdict], verdicts[v].name) == 0) return v;
    }
    return NONE;
}

/* Text for a table cell: bars are escaped, line breaks become blanks. */
static void write_cell(const char *text, size_t length, FILE *out) {
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '|' || text[i] == '<') fputc('\\', out);
        fputc(isspace((unsigned char)text[i]) ? ' ' : text[i], out);
    }
}

/* Up to the full stop that ends the first sentence: it is followed by the end of the text, or by a blank and a capital.
 */
static size_t first_sentence(const char *text) {
    size_t i = 0;
    for (; text[i]; i++)
        if (text[i] == '.' && (!text[i + 1] || (isspace((unsigned char)text[i + 1]) &&
                                                (!text[i + 2] || isupper((unsigned char)text[i + 2])))))
            return i + 1;
    return i;
}

static void write_claims(const pbd_figure_file *file, const pbd_csv *csv, tally *sum, FILE *out) {
    for (unsigned i = 0; i < file->claims_count; i++) {
        const pbd_claim *claim = &file->claims[i];
        const size_t verdict = verdict_of(csv, claim->id);
        if (claim->beyond)
            sum->beyond++;
        else
            sum->count[verdict]++;
        fprintf(out, "%s`%s`%s %s", i ? "<br>" : "", claim->id, claim->beyond ? " (ours)" : "",
                verdict == NONE ? "no verdict" : verdicts[verdict].says);
    }
}

static pbd_status write_row(const char *id, const char *shows, tally *sum, FILE *out) {
    pbd_arena a PBD_ARENA;
    const char *folder = pbd_new_format(&a, "%s/plots/%s", pbd_root(), id),
               *thumbnail = pbd_new_format(&a, "%s/thumbnail.png", folder),
               *accepted = pbd_new_format(&a, "%s/verdicts.csv", folder);
    pbd_csv csv PBD_CLEANUP(pbd_csv_free) = {0};
    pbd_figure_file *file;
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_figure_load(id, &file));
    pbd_status status = exists(accepted) ? pbd_csv_read(accepted, "verdicts.csv", &csv) : pbd_ok();
    if (status.code == PBD_OK) {
        if (exists(thumbnail))
            fprintf(out, "| <img src=\"%s/thumbnail.png\" width=\"240\" alt=\"%s\"> |", id, id);
        else
            fprintf(out, "| no picture yet |");
        fprintf(out, " [%s](%s/figure.yaml): ", id, id);
        write_cell(shows, strlen(shows), out);
        fprintf(out, " | ");
        write_claims(file, &csv, sum, out);
        fprintf(out, " | ");
        if (file->notes) write_cell(file->notes, first_sentence(file->notes), out);
        fprintf(out, " |\n");
    }
    pbd_figure_file_free(file);
    return status;
}

static void write_tally(const tally *sum, FILE *out) {
    size_t all = 0;
    for (size_t v = 0; v <= VERDICTS; v++) all += sum->count[v];
    fprintf(out, "\n%zu claims: %zu reproduced, %zu partly, %zu not, %zu not run", all, sum->count[0], sum->count[1],
            sum->count[2], sum->count[3]);
    if (sum->count[NONE]) fprintf(out, ", %zu without a verdict", sum->count[NONE]);
    fprintf(out, ".");
    if (sum->beyond) fprintf(out, " Ours, and not counted: %zu.", sum->beyond);
    fprintf(out, "\n");
}

static void write_settings(const pbd_paper_settings *settings, FILE *out) {
    fprintf(out, "\nEvery figure sets `%s` to ", settings->method);
    for (unsigned i = 0; i < settings->set_count; i++) fprintf(out, "%s`%s`", i ? ", " : "", settings->set[i]);
    fprintf(out, ", unless its file says why not (`differs`). %s\n", settings->because);
}

static pbd_status write_paper(const pbd_paper *paper, const pbd_figure_list *figures, FILE *out) {
    tally sum = {0};
    fprintf(out, "\n## %s\n\n", paper->key);
    pbd_paper_write(paper, out);
    fprintf(out, "\n");
    for (unsigned i = 0; i < paper->settings_count; i++) write_settings(&paper->settings[i], out);
    fprintf(out, "\n| | figure | claims | what was found |\n| --- | --- | --- | --- |\n");
    for (size_t i = 0; i < figures->count; i++) {
        const pbd_figure_entry *f = &figures->item[i];
        if (strcmp(f->paper, paper->key) == 0 && f->available) PBD_TRY(write_row(f->id, f->shows, &sum, out));
    }
    write_tally(&sum, out);
    for (unsigned i = 0; i < paper->not_judged_count; i++)
        fprintf(out, "\nNot judged: `%s`. %s\n", paper->not_judged[i].id, paper->not_judged[i].because);
    return pbd_ok();
}

pbd_status pbd_findings_page(FILE *out) {
    pbd_figure_list figures PBD_CLEANUP(pbd_figure_list_free) = {0};
    pbd_papers *papers;
    PBD_TRY(pbd_papers_load(&papers));
    pbd_status status = pbd_list_figures(&figures);
    fprintf(out,
            "# What the figures show\n\n"
            "Written by `pbdbench list figures --markdown`; do not edit. [FINDINGS.md](FINDINGS.md) says what "
            "holds and what does not.\n"
            "`pbdbench reproduce FIGURE` makes a figure, and compares with the verdicts below.\n");
    for (unsigned p = 0; p < papers->papers_count && status.code == PBD_OK; p++)
        status = write_paper(&papers->papers[p], &figures, out);
    pbd_papers_free(papers);
    return status;
}
