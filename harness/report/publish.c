/* `report --publish`: a static site, and the part of it that `results/` keeps as text. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "harness/figure/figure_strips.h"
#include "harness/files/paths.h"
#include "harness/picture/thumbnail.h"
#include "harness/report/report.h"

enum { THUMBNAIL_WIDTH = 480 };

static pbd_status cannot(const char *path) {
    return pbd_error(PBD_BAD_INPUT, "'%.300s' cannot be written: %s; choose another folder with --publish", path,
                     strerror(errno ? errno : EIO));
}

/* Opens a file of the site for writing. */
static pbd_status open_file(pbd_arena *a, const char *dir, const char *name, FILE **out, const char **path) {
    *path = pbd_new_format(a, "%s/%s", dir, name);
    PBD_TRY(pbd_arena_check(a));
    *out = fopen(*path, "w");
    return *out ? pbd_ok() : cannot(*path);
}

static pbd_status close_file(FILE *file, const char *path, pbd_status status) {
    const bool bad = ferror(file) != 0;
    if ((fclose(file) != 0 || bad) && status.code == PBD_OK) return cannot(path);
    return status;
}

/* A missing file is skipped. */
static pbd_status copy_file(const char *from, const char *to) {
    char bytes[65536];
    FILE *in PBD_CLEANUP(pbd_close_file) = fopen(from, "rb");
    FILE *out = in ? fopen(to, "wb") : NULL;
    if (!in) return pbd_ok();
    if (!out) return cannot(to);
    for (size_t count; (count = fread(bytes, 1, sizeof bytes, in)) > 0;) fwrite(bytes, 1, count, out);
    return close_file(out, to, pbd_ok());
}

/* ---- Text for results/ ------------------------------------------------------------------------------------------- */

static pbd_status write_ranked(report *r, FILE *out) {
    if (r->tables == 0) fputs("No trial of a problem is stored: `pbdbench rank` makes them.\n", out);
    for (size_t i = 0; i < r->tables; i++) {
        const report_table *t = &r->table[i];
        const pbd_rank_about about = {t->cpu, t->git_sha, t->cores, t->dirty};
        if (i > 0) fputc('\n', out);
        PBD_TRY(pbd_rank_table(&t->rank, &about, false, out));
        fprintf(out,
                "\nWritten by `pbdbench report --publish` from %zu stored runs, newest %s; sources %.12s, machine %.12s.\n",
                t->runs, t->newest, t->source, t->machine);
    }
    return pbd_ok();
}

/* Writes a sentence in a cell of a Markdown table. */
static void write_cell(FILE *out, const char *text) {
    for (; *text; text++) {
        if (*text == '|') fputc('\\', out);
        fputc(*text == '\n' || *text == '\r' ? ' ' : *text, out);
    }
}

/* Writes the build and machine of the runs behind a verdict. */
static pbd_status write_origin(report *r, const report_verdict *v, FILE *out) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    const char *id = v->set >= 0 ? r->set[v->set].run_id[0] : "";
    bool row;
    PBD_TRY(report_ask(r,
                       "SELECT cpu, git_sha, dirty FROM run JOIN env USING (env_id) JOIN build USING (build_id)"
                       " WHERE run_id = ?1",
                       &id, 1, &stmt));
    PBD_TRY(report_next(r, stmt, &row));
    if (row) write_cell(out, pbd_column_text(stmt, 0));
    fprintf(out, " | %.12s%s | %.10s |\n", row ? pbd_column_text(stmt, 1) : "",
            row && sqlite3_column_int(stmt, 2) ? "+" : "", v->decided_at);
    return pbd_ok();
}

static pbd_status write_claims(report *r, FILE *out) {
    const report_tally n = report_count(r);
    fprintf(out,
            "# Claims\n\nWritten by `pbdbench report --publish` from stored runs; nothing here is edited by hand. %zu "
            "reproduced, %zu partly, %zu not reproduced, %zu not run (without claims of our own). A commit with `+` "
            "had changes.\n\n| claim | verdict | value | what it says | machine | commit | judged |\n"
            "| --- | --- | ---: | --- | --- | --- | --- |\n",
            n.reproduced, n.partly, n.not_reproduced, n.not_run);
    for (size_t i = 0; i < r->list.count; i++)
        for (size_t k = 0; k < r->figure[i].claims.count; k++) {
            const pbd_claim_result *c = &r->figure[i].claims.item[k];
            fprintf(out, "| %s | %s | ", c->claim->id, c->verdict);
            if (isfinite(c->value)) fprintf(out, "%.4g", c->value);
            fputs(" | ", out);
            write_cell(out, c->claim->says);
            fputs(" | ", out);
            PBD_TRY(write_origin(r, &r->figure[i].verdict[k], out));
        }
    return pbd_ok();
}

/* ---- Charts of problems for print -------------------------------------------------------------------------------- */

/* Text in single quotes of gnuplot. */
static void write_quoted(FILE *out, const char *text) {
    fputc('\'', out);
    for (; *text; text++) {
        if (*text == '\'') fputc('\'', out);
        fputc(*text == '\n' ? ' ' : *text, out);
    }
    fputc('\'', out);
}

/* Writes a block of gnuplot for each row, headed by its name. Returns the number of blocks. */
static size_t write_points(const pbd_rank *rank, const pbd_problem *p, FILE *out) {
    size_t blocks = 0;
    for (size_t i = 0; i < rank->rows; i++) {
        const pbd_rank_row *row = &rank->row[i];
        if (row->problem != p || !row->best[pbd_rank_budgets(rank, p).count - 1]) continue;
        if (blocks++ > 0) fputs("\n\n", out);
        fprintf(out, "\"%s, %d thread%s\"\n", row->choices->method, row->threads, row->threads == 1 ? "" : "s");
        for (size_t k = 0; k < row->trials; k++)
            if (row->trial[k].counts)
                fprintf(out, "%.6g\t%.6g\t%.8s\n", 1e3 * row->trial[k].time, row->trial[k].over, row->trial[k].run_id);
    }
    return blocks;
}

static void write_script(const report_table *t, const pbd_problem *p, size_t blocks, FILE *out) {
    char where[300];
    fprintf(out, "# gnuplot %s.gp draws %s.pdf from %s.tsv, whose columns are ms, error over tolerance, run.\n", p->id,
            p->id, p->id);
    fprintf(out,
            "set terminal pdfcairo size 22cm,12cm font ',10'\nset output '%s.pdf'\nset logscale xy\n"
            "set format '%%g'\nset grid linecolor rgb 'gray80' dashtype 1\nset key outside right top noenhanced\n"
            "set xlabel 'Time of %s, ms'\nset ylabel 'Error / tolerance'\nset title ",
            p->id, pbd_problem_moves(p) ? "a frame of 1/60 s" : "a solve");
    write_quoted(out, p->title);
    snprintf(where, sizeof where, "%s, commit %.12s%s, %.10s", t->cpu, t->git_sha, t->dirty ? " with changes" : "",
             t->newest);
    fputs(".\"\\n\".", out);
    write_quoted(out, where);
    fprintf(out,
            " font ',9' noenhanced\nset arrow from graph 0,first 1 to graph 1,first 1 nohead dashtype 2\n"
            "plot for [i=0:%zu] '%s.tsv' index i using 1:2 with points pointtype i+1 title columnheader(1)\n",
            blocks - 1, p->id);
}

static pbd_status write_chart(const report_table *t, const pbd_problem *p, const char *folder) {
    pbd_arena a PBD_ARENA;
    char name[80];
    const char *path;
    FILE *out;
    snprintf(name, sizeof name, "%s.tsv", p->id);
    PBD_TRY(open_file(&a, folder, name, &out, &path));
    const size_t blocks = write_points(&t->rank, p, out);
    PBD_TRY(close_file(out, path, pbd_ok()));
    if (blocks == 0) return unlink(path) == 0 ? pbd_ok() : cannot(path);
    snprintf(name, sizeof name, "%s.gp", p->id);
    PBD_TRY(open_file(&a, folder, name, &out, &path));
    write_script(t, p, blocks, out);
    return close_file(out, path, pbd_ok());
}

static pbd_status write_charts(const report_table *t, const char *folder) {
    for (size_t i = 0; i < t->rank.rows; i++) {
        const pbd_problem *p = t->rank.row[i].problem;
        if (i == 0 || t->rank.row[i - 1].problem != p) PBD_TRY(write_chart(t, p, folder));
    }
    return pbd_ok();
}

/* ---- Figures ----------------------------------------------------------------------------------------------------- */

/* Copies a figure's gnuplot file, data and pictures. Pictures that `report_picture` accepted are in results/plots. */
static pbd_status copy_figure(report *r, const report_figure *f, const char *dir) {
    pbd_arena a PBD_ARENA;
    const char *id = f->file->figure, *plots = pbd_new_format(&a, "%s/results/plots", pbd_root()),
               *to = pbd_new_format(&a, "%s/figures/%s", dir, id);
    PBD_TRY(pbd_arena_check(&a));
    if (!r->store || !pbd_drawn_from(plots, id, r->store)) return pbd_ok();
    PBD_TRY(pbd_make_folders(to));
    PBD_TRY(copy_file(pbd_new_format(&a, "%s/plots/%s/plot.gp", pbd_root(), id), pbd_new_format(&a, "%s/plot.gp", to)));
    PBD_TRY(
        copy_file(pbd_new_format(&a, "%s/plots/%s/paper.csv", pbd_root(), id), pbd_new_format(&a, "%s/paper.csv", to)));
    for (unsigned i = 0; i < f->file->data_count; i++)
        PBD_TRY(copy_file(pbd_new_format(&a, "%s/%s/%s.tsv", plots, id, f->file->data[i].name),
                          pbd_new_format(&a, "%s/%s.tsv", to, f->file->data[i].name)));
    for (unsigned i = 0; i < f->file->plots_count; i++) {
        const char *picture = pbd_new_format(&a, "%s/%s", plots, f->file->plots[i]);
        PBD_TRY(copy_file(picture, pbd_new_format(&a, "%s/plots/%s", dir, f->file->plots[i])));
    }
    for (unsigned i = 0; i < f->file->strips_count; i++) {
        const char *strip = pbd_figure_strip_path(f->file, &f->file->strips[i], plots, &a);
        PBD_TRY(copy_file(strip, pbd_new_format(&a, "%s/plots%s", dir, strip ? strrchr(strip, '/') : "")));
    }
    return pbd_arena_check(&a);
}

/* Makes a thumbnail of the picture drawn from this store, else of the accepted one. */
static pbd_status write_thumbnail(report *r, const report_figure *f, const char *dir) {
    pbd_arena a PBD_ARENA;
    const char *plots = pbd_new_format(&a, "%s/results/plots", pbd_root()), *id = f->file->figure,
               *to = pbd_new_format(&a, "%s/thumbnails/%s.png", dir, id),
               *accepted = pbd_new_format(&a, "%s/plots/%s/thumbnail.png", pbd_root(), id),
               *own = f->file->plots_count ? pbd_new_format(&a, "%s/%s", plots, f->file->plots[0]) : accepted;
    PBD_TRY(pbd_arena_check(&a));
    const bool drawn = r->store && own != accepted && pbd_drawn_from(plots, id, r->store) && access(own, R_OK) == 0;
    if (!drawn && access(accepted, R_OK) != 0) return pbd_ok();
    return pbd_thumbnail(drawn ? own : accepted, to, THUMBNAIL_WIDTH);
}

static pbd_status write_figures(report *r, const char *dir) {
    pbd_arena a PBD_ARENA;
    PBD_TRY(
        copy_file(pbd_new_format(&a, "%s/plots/style.gp", pbd_root()), pbd_new_format(&a, "%s/figures/style.gp", dir)));
    PBD_TRY(pbd_arena_check(&a));
    for (size_t i = 0; i < r->list.count; i++) {
        if (!r->figure[i].file) continue;
        PBD_TRY(copy_figure(r, &r->figure[i], dir));
        PBD_TRY(write_thumbnail(r, &r->figure[i], dir));
    }
    return pbd_ok();
}

/* ---- The site ---------------------------------------------------------------------------------------------------- */

static pbd_status write_texts(report *r, const json_t *data, const char *dir) {
    static const char about[] =
        "index.html    the report, one file\n"
        "data.json     what it shows\n"
        "ranked.md     methods on problems, and claims.md the papers' claims: with machine, commit and date, for "
        "results/\n"
        "thumbnails/   small pictures of figures; plots/ the whole ones\n"
        "charts/       error against time of each problem: gnuplot NAME.gp in that folder draws NAME.pdf\n"
        "figures/      gnuplot files and data of figures. In figures/NAME:\n"
        "  gnuplot -e \"data='.'; out='.'; style='../style.gp'; paper='paper.csv'; quick=''\" plot.gp\n";
    pbd_arena a PBD_ARENA;
    const char *path;
    FILE *out;
    PBD_TRY(open_file(&a, dir, "ranked.md", &out, &path));
    PBD_TRY(close_file(out, path, write_ranked(r, out)));
    PBD_TRY(open_file(&a, dir, "claims.md", &out, &path));
    PBD_TRY(close_file(out, path, write_claims(r, out)));
    PBD_TRY(open_file(&a, dir, "README.txt", &out, &path));
    fputs(about, out);
    PBD_TRY(close_file(out, path, pbd_ok()));
    PBD_TRY(open_file(&a, dir, "data.json", &out, &path));
    json_dumpf(data, out, JSON_COMPACT | JSON_REAL_PRECISION(17));
    PBD_TRY(close_file(out, path, pbd_ok()));
    PBD_TRY(open_file(&a, dir, "index.html", &out, &path));
    return close_file(out, path, report_write(data, out));
}

pbd_status report_publish_begin(const char *dir) {
    static const char *const folders[] = {"thumbnails", "plots", "charts", "figures"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        pbd_arena a PBD_ARENA;
        const char *path = pbd_new_format(&a, "%s/%s", dir, folders[i]);
        PBD_TRY(pbd_arena_check(&a));
        PBD_TRY(pbd_make_folders(path));
    }
    return pbd_ok();
}

pbd_status report_publish(report *r, const json_t *data, const char *dir) {
    pbd_arena a PBD_ARENA;
    const char *charts = pbd_new_format(&a, "%s/charts", dir);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(write_figures(r, dir));
    if (r->tables > 0) PBD_TRY(write_charts(&r->table[0], charts));
    return write_texts(r, data, dir);
}
