#include "harness/figure/bundle.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/files/paths.h"
#include "harness/machine/environment.h"
#include "harness/process/child.h"

static pbd_status call(const char *const *words) {
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    PBD_TRY(pbd_child_run(words, NULL, -1, &child));
    return child.code == 0 ? pbd_ok() : pbd_error(PBD_FAILED, "%s: %.300s", words[0], child.err ? child.err : "failed");
}

static pbd_status open_in(const char *folder, const char *name, FILE **out) {
    pbd_arena a PBD_ARENA;
    const char *path = pbd_new_format(&a, "%s/%s", folder, name);
    PBD_TRY(pbd_arena_check(&a));
    *out = fopen(path, "w");
    return *out ? pbd_ok() : pbd_error(PBD_FAILED, "%.200s: %s", path, strerror(errno));
}

static pbd_status written(FILE *file, const char *name) {
    return fflush(file) == 0 && !ferror(file) ? pbd_ok()
                                              : pbd_error(PBD_FAILED, "%s of the bundle: %s", name, strerror(errno));
}

static pbd_status write_readme(const pbd_bundle *b, const char *folder) {
    FILE *out PBD_CLEANUP(pbd_close_file) = NULL;
    const pbd_build *build = pbd_this_build();
    PBD_TRY(open_in(folder, "README.md", &out));
    fprintf(out, "# %s: %s\n\n", b->file->figure, b->file->title);
    fprintf(out, "Made by pbdbench %s, commit %s%s, sources %s, %s, %s.%s\n\n", build->version, build->git_sha,
            build->dirty ? " with changes" : "", build->source, build->compiler, build->flags,
            b->quick ? " Quick settings: small runs." : "");
    fprintf(
        out,
        "| | |\n| --- | --- |\n| `figure/` | the figure's file, script and data as in `plots/%s` |\n"
        "| `runs.jsonl` | its %zu runs, with build, machine, parameters, metrics and series; hashes are checked when "
        "they are read |\n| `claims.csv` | value and verdict of each claim |\n| `pictures/` | what was drawn |\n"
        "| `check.sh` | makes the runs again and compares the values of the claims |\n\n",
        b->file->figure, b->runs);
    fprintf(out,
            "To check it, on Debian 12 or 13:\n\n    git clone REPOSITORY pbdbench\n    git -C pbdbench checkout %s\n"
            "    sh check.sh pbdbench\n\nTimes differ from machine to machine, and with them the claims that rest on "
            "times.\n",
            build->git_sha);
    return written(out, "README.md");
}

/* Values of claims are compared to six digits: results are bitwise the same on one machine, but not on all. */
static pbd_status write_check(const pbd_bundle *b, const char *folder) {
    FILE *out PBD_CLEANUP(pbd_close_file) = NULL;
    PBD_TRY(open_in(folder, "check.sh", &out));
    fprintf(out,
            "#!/bin/sh\n# sh check.sh CHECKOUT: makes the runs of %s again and compares the values of its claims.\n"
            "set -eu\nhere=$(cd \"$(dirname \"$0\")\" && pwd)\ncd \"${1:?a checkout of pbdbench}\"\n"
            "rm -rf \"$here/again\"\n"
            "./pbdbench reproduce %s%s --no-strips --db \"$here/again/runs.db\" -o \"$here/again\" "
            "--bundle \"$here/again.tar.gz\" || [ $? -eq 3 ]\n"
            "tar -xzf \"$here/again.tar.gz\" -C \"$here/again\" %s/claims.csv\n"
            "if diff \"$here/claims.csv\" \"$here/again/%s/claims.csv\"; then echo 'all values are the same to six "
            "digits'\n"
            "else echo 'values differ, as shown: < of the bundle, > made here'; exit 3; fi\n",
            b->file->figure, b->file->figure, b->quick ? " --quick" : "", b->file->figure, b->file->figure);
    return written(out, "check.sh");
}

static void write_value(FILE *out, const char *claim, const char *reading, double value, const char *verdict) {
    fprintf(out, "\"%s\",\"%s\",", claim, reading);
    if (isfinite(value)) fprintf(out, "%.6g", value);
    fprintf(out, ",\"%s\"\n", verdict);
}

static pbd_status write_claims(const pbd_bundle *b, const char *folder) {
    FILE *out PBD_CLEANUP(pbd_close_file) = NULL;
    PBD_TRY(open_in(folder, "claims.csv", &out));
    fprintf(out, "claim,reading,value,verdict\n");
    for (size_t i = 0; i < b->claims->count; i++) {
        const pbd_claim_result *r = &b->claims->item[i];
        write_value(out, r->claim->id, "", r->value, r->verdict);
        for (size_t k = 0; k < r->readings; k++)
            write_value(out, r->claim->id, r->reading[k].name, r->reading[k].value, r->reading[k].verdict);
    }
    return written(out, "claims.csv");
}

static pbd_status copy_files(const pbd_bundle *b, const char *folder) {
    pbd_arena a PBD_ARENA;
    const char *pictures = pbd_new_format(&a, "%s/pictures", folder);
    const char *from = pbd_new_format(&a, "%s/plots/%s", pbd_root(), b->file->figure);
    const char *to = pbd_new_format(&a, "%s/figure", folder);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_make_folders(pictures));
    PBD_TRY(call((const char *const[]){"cp", "-r", from, to, NULL}));
    for (size_t i = 0; i < b->drawing->plots; i++)
        PBD_TRY(call((const char *const[]){"cp", b->drawing->plot[i], pictures, NULL}));
    return pbd_ok();
}

static pbd_status fill(const pbd_bundle *b, pbd_store *store, const char *folder) {
    FILE *runs PBD_CLEANUP(pbd_close_file) = NULL;
    PBD_TRY(copy_files(b, folder));
    PBD_TRY(write_readme(b, folder));
    PBD_TRY(write_check(b, folder));
    PBD_TRY(write_claims(b, folder));
    PBD_TRY(open_in(folder, "runs.jsonl", &runs));
    PBD_TRY(pbd_store_export_runs(store, b->run_id, b->runs, runs));
    return written(runs, "runs.jsonl");
}

pbd_status pbd_bundle_write(const pbd_bundle *b, pbd_store *store, const char *to) {
    const char *temporary = getenv("TMPDIR");
    pbd_arena a PBD_ARENA;
    char *work = pbd_new_format(&a, "%s/pbdbench.XXXXXX", temporary && *temporary ? temporary : "/tmp");
    PBD_TRY(pbd_arena_check(&a));
    if (!mkdtemp(work)) return pbd_error(PBD_FAILED, "%.200s: %s", work, strerror(errno));
    const char *folder = pbd_new_format(&a, "%s/%s", work, b->file->figure);
    pbd_status status = pbd_arena_check(&a);
    if (status.code == PBD_OK) status = fill(b, store, folder);
    if (status.code == PBD_OK)
        status = call((const char *const[]){"tar", "-czf", to, "-C", work, b->file->figure, NULL});
    const pbd_status removed = call((const char *const[]){"rm", "-r", work, NULL});
    return status.code == PBD_OK ? removed : status;
}
