/* This build, the builds and machines behind the page, and what the program is made of. */
#include <string.h>

#include "harness/machine/libraries.h"
#include "harness/report/report.h"

static void write_fact(pbd_html *h, const char *name, const char *value) {
    html_element(h, "dt", name);
    html_element(h, "dd", value);
}

static void write_this_build(report *r) {
    pbd_html *h = &r->html;
    const pbd_build *b = pbd_this_build();
    char text[300];
    html_element(h, "h3", "This build");
    html_open(h, "dl", "class", "facts", NULL);
    snprintf(text, sizeof text, "%s, commit %s%s", b->version, b->git_sha, b->dirty ? " with changes" : "");
    write_fact(h, "Version", text);
    write_fact(h, "Sources", b->source);
    write_fact(h, "Compiler", b->compiler);
    write_fact(h, "Flags", b->flags);
    write_fact(h, "Preset", b->preset);
    if (r->store)
        write_fact(h, "Store",
                   strrchr(pbd_store_path(r->store), '/') ? strrchr(pbd_store_path(r->store), '/') + 1
                                                          : pbd_store_path(r->store));
    html_close(h, "dl");
}

/* ---- Builds of the runs on this page ----------------------------------------------------------------------------- */

static const char builds_sql[] =
    "SELECT build_id, version, git_sha, dirty, preset, compiler, flags, source, count(*)"
    " FROM temp.report_run JOIN run USING (run_id) JOIN build USING (build_id)"
    " GROUP BY build_id ORDER BY max(started_at) DESC";

static pbd_status write_build(report *r, sqlite3_stmt *stmt, const char *differs) {
    pbd_html *h = &r->html;
    char id[60];
    (void)differs;
    snprintf(id, sizeof id, "build-%.40s", pbd_column_text(stmt, 0));
    html_open(h, "th", "scope", "row", "id", id, NULL);
    html_textf(h, "%s, %.12s%s", pbd_column_text(stmt, 1), pbd_column_text(stmt, 2),
               sqlite3_column_int(stmt, 3) ? " with changes" : "");
    html_close(h, "th");
    for (int i = 4; i <= 7; i++) html_cell(h, pbd_column_text(stmt, i));
    html_number(h, sqlite3_column_int(stmt, 8), 9);
    return pbd_ok();
}

static pbd_status write_builds(report *r) {
    static const html_column columns[] = {{"Build", false}, {"Preset", false},  {"Compiler", false},
                                          {"Flags", false}, {"Sources", false}, {"Runs on this page", true}};
    const report_table table = {.sql = builds_sql,
                                .heading = "Builds",
                                .id = "build-table",
                                .caption = "Builds that made the runs on this page",
                                .column = columns,
                                .columns = sizeof columns / sizeof *columns,
                                .write = write_build};
    size_t ignored = 0;
    return report_write_table(r, &table, NULL, 0, &ignored);
}

/* ---- Machines ---------------------------------------------------------------------------------------------------- */

static pbd_status write_machine(report *r, sqlite3_stmt *stmt, const char *differs) {
    pbd_html *h = &r->html;
    char id[60];
    (void)differs;
    snprintf(id, sizeof id, "machine-%.40s", pbd_column_text(stmt, 0));
    html_open(h, "th", "scope", "row", "id", id, NULL);
    html_text(h, pbd_column_text(stmt, 1));
    html_close(h, "th");
    html_cell(h, pbd_column_text(stmt, 2));
    html_cell(h, pbd_column_text(stmt, 3));
    for (int i = 4; i <= 6; i++) html_number(h, sqlite3_column_int(stmt, i), 9);
    html_elementf(h, "td", NULL, "%s / %s / %s KiB", pbd_column_text(stmt, 7), pbd_column_text(stmt, 8),
                  pbd_column_text(stmt, 9));
    html_number(h, sqlite3_column_int(stmt, 10), 9);
    html_cell(h, *pbd_column_text(stmt, 11) ? pbd_column_text(stmt, 11) : "none");
    html_open(h, "td", NULL);
    html_element(h, "code", pbd_column_text(stmt, 12));
    html_close(h, "td");
    return pbd_ok();
}

static pbd_status write_machines(report *r) {
    static const html_column columns[] = {{"Processor", false},     {"System", false},     {"SIMD", false},
                                          {"Packages", true},       {"Cores", true},       {"Threads", true},
                                          {"L1d / L2 / L3", false}, {"Memory, MiB", true}, {"GPU", false},
                                          {"Fingerprint", false}};
    const report_table table = {.sql =
                                    "SELECT env_id, cpu, os, isa, packages, cores, threads, l1d_kib, l2_kib, l3_kib,"
                                    " memory_mib, gpu, fingerprint FROM env ORDER BY cpu, env_id",
                                .heading = "Machines",
                                .id = "machine-table",
                                .caption = "Machines that the store knows",
                                .column = columns,
                                .columns = sizeof columns / sizeof *columns,
                                .write = write_machine};
    size_t ignored = 0;
    return report_write_table(r, &table, NULL, 0, &ignored);
}

/* ---- Backends, libraries, licence -------------------------------------------------------------------------------- */

static void write_backends(report *r) {
    static const html_column columns[] = {{"Backend", false}, {"What it is", false}, {"In this build", false}};
    pbd_html *h = &r->html;
    html_element(h, "h3", "Backends");
    html_table_open(h, "backend-table", "Where kernels can run", columns, sizeof columns / sizeof *columns);
    for (int i = 0; i < PBD_BACKEND_COUNT; i++) {
        const pbd_backend_entry b = pbd_backend_at((pbd_backend)i);
        html_open(h, "tr", NULL);
        html_cell(h, b.name);
        html_cell(h, b.summary);
        html_cell(h, b.available ? "yes" : b.reason);
        html_close(h, "tr");
    }
    html_table_close(h);
}

static void write_libraries(report *r) {
    static const html_column columns[] = {{"Library", false}, {"Version", false}, {"Licence", false}, {"For", false}};
    pbd_html *h = &r->html;
    html_element(h, "h3", "Libraries and licence");
    html_table_open(h, "library-table", "What this build was linked with", columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < PBD_LIBRARIES; i++) {
        char version[PBD_VERSION_SIZE];
        pbd_libraries[i].version(version, sizeof version);
        html_open(h, "tr", NULL);
        html_cell(h, pbd_libraries[i].name);
        html_cell(h, version);
        html_cell(h, pbd_libraries[i].licence);
        html_cell(h, pbd_libraries[i].use);
        html_close(h, "tr");
    }
    html_table_close(h);
    html_element(h, "p", pbd_this_build()->licence);
}

pbd_status report_environment(report *r) {
    write_this_build(r);
    PBD_TRY(write_machines(r));
    PBD_TRY(write_builds(r));
    write_backends(r);
    write_libraries(r);
    return pbd_ok();
}
