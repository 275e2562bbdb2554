/* The data of the page as one object, and the page around it. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <time.h>

#include "harness/files/deflate.h"
#include "harness/files/html.h"
#include "harness/report/report.h"
#include "report_css.h"
#include "report_html.h"
#include "report_js.h"

/* ---- The data ---------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    pbd_status (*make)(report *r, json_t **out);
} sections[] = {
    {"ranked", report_problems},         {"claims", report_claims},   {"figures", report_figures},
    {"comparisons", report_comparisons}, {"history", report_history}, {"runs", report_runs},
    {"machines", report_machines},
};

static json_t *about_json(const report *r) {
    const pbd_build *build = pbd_this_build();
    json_t *about = json_object();
    char now[40];
    const time_t at = time(NULL);
    struct tm utc;
    gmtime_r(&at, &utc);
    strftime(now, sizeof now, "%Y-%m-%dT%H:%MZ", &utc);
    report_put_text(about, "written", now);
    report_put_text(about, "version", build->version);
    report_put_text(about, "commit", build->git_sha);
    report_put_true(about, "dirty", build->dirty);
    report_put_text(about, "source", build->source);
    report_put_text(about, "compiler", build->compiler);
    report_put_text(about, "flags", build->flags);
    report_put_text(about, "preset", build->preset);
    const char *path = r->store ? pbd_store_path(r->store) : "", *slash = strrchr(path, '/');
    report_put_text(about, "store", slash ? slash + 1 : path);
    return about;
}

/* "3f2a91c4.html", "3f2a91c4-soft.mp4": a film or viewer of the run whose id begins with these digits. */
static bool shows_a_run(const char *name) {
    static const char *const endings[] = {".html", ".mp4", ".webm", ".gif"};
    const char *dot = strrchr(name, '.');
    size_t digits = 0;
    while (isxdigit((unsigned char)name[digits]) && !isupper((unsigned char)name[digits])) digits++;
    if (digits < 8 || digits > 32 || !dot) return false;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot, endings[i]) == 0) return true;
    return false;
}

static json_t *beside_json(const char *folder) {
    json_t *all = json_array();
    DIR *dir = folder ? opendir(folder) : NULL;
    for (struct dirent *entry; dir && (entry = readdir(dir)) != NULL;)
        if (shows_a_run(entry->d_name)) json_array_append_new(all, pbd_text_json(entry->d_name));
    if (dir) closedir(dir);
    return all;
}

pbd_status report_json(report *r, json_t **out) {
    *out = json_pack("{s:i, s:o, s:o}", "format", 1, "about", about_json(r), "beside", beside_json(r->beside));
    if (!*out) return pbd_no_memory();
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        json_t *section = NULL;
        const pbd_status status = sections[i].make(r, &section);
        json_object_set_new(*out, sections[i].name, section ? section : json_null());
        PBD_TRY(status);
    }
    report_put_count(*out, "runs_left_out", r->runs_left_out);
    return pbd_ok();
}

/* ---- The page ---------------------------------------------------------------------------------------------------- */

/* Nothing is loaded, and the browser is told to load nothing. */
static const char POLICY[] = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:";

/* Writes the data deflated (RFC 1950) as base64: a fifth of the size, and no text of a run is parsed as markup. */
static pbd_status write_data(pbd_html *h, const json_t *data) {
    char *text PBD_CLEANUP(pbd_free_memory) = json_dumps(data, JSON_COMPACT | JSON_REAL_PRECISION(6));
    unsigned char *packed PBD_CLEANUP(pbd_free_memory) = NULL;
    size_t count = 0;
    if (!text) return pbd_no_memory();
    PBD_TRY(pbd_deflate(text, strlen(text), &packed, &count));
    html_open(h, "script", "type", "text/plain", "id", "data", NULL);
    html_base64(h, packed, count);
    html_close(h, "script");
    return pbd_ok();
}

pbd_status report_write(const json_t *data, FILE *out) {
    pbd_html html = {.out = out}, *h = &html;
    fputs("<!DOCTYPE html>\n", out);
    html_open(h, "html", "lang", "en", NULL);
    html_head(h, "pbdbench report", POLICY, pbd_report_css);
    html_open(h, "body", "id", "top", NULL);
    html_markup(h, pbd_report_html);
    PBD_TRY(write_data(h, data));
    html_asset(h, "script", pbd_report_js);
    html_close(h, "body");
    html_close(h, "html");
    fputc('\n', out);
    if (h->unbalanced || h->depth > 0)
        return pbd_error(PBD_FAILED, "the report is not well-formed: an error of pbdbench");
    if (fflush(out) != 0 || ferror(out)) return pbd_error(PBD_BAD_INPUT, "%s", strerror(errno ? errno : EIO));
    return pbd_ok();
}
