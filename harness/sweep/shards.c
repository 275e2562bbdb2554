/* The folder shards/: publishing into it and reading it. */
#include "harness/sweep/shards.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/store/rows.h"

#define NUMBER "%06zu" /* the beginning of a shard's name */

static pbd_sweep_path shard_path(const pbd_manifest *m, const char *name) {
    return pbd_sweep_file(pbd_sweep_file(m->folder, "shards").text, name);
}

/* ---- The mark ---------------------------------------------------------------------------------------------------- */

static pbd_status bind_mark(const pbd_manifest *m, pbd_store *store, const pbd_shard_mark *mark, sqlite3_stmt *stmt) {
    const sqlite3_int64 numbers[] = {(sqlite3_int64)mark->number, (sqlite3_int64)mark->runs,
                                     (sqlite3_int64)mark->unwell, (sqlite3_int64)mark->refused};
    bool fine = sqlite3_bind_text(stmt, 1, m->hash, -1, SQLITE_STATIC) == SQLITE_OK &&
                sqlite3_bind_text(stmt, 6, mark->refusals, -1, SQLITE_STATIC) == SQLITE_OK;
    for (int i = 0; i < 4; i++) fine = fine && sqlite3_bind_int64(stmt, i + 2, numbers[i]) == SQLITE_OK;
    return fine ? pbd_ok() : pbd_store_fault(store, "marking a shard");
}

static pbd_status write_mark(const pbd_manifest *m, pbd_store *store, const pbd_shard_mark *mark) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(pbd_store_exec(store,
                           "CREATE TABLE shard (manifest TEXT NOT NULL, number INTEGER NOT NULL, runs INTEGER NOT NULL,"
                           " unwell INTEGER NOT NULL, refused INTEGER NOT NULL, refusals TEXT NOT NULL) STRICT",
                           "marking a shard"));
    PBD_TRY(pbd_store_prepare(store, "INSERT INTO shard VALUES (?1, ?2, ?3, ?4, ?5, ?6)", NULL, 0, &stmt));
    PBD_TRY(bind_mark(m, store, mark, stmt));
    return pbd_store_step(store, stmt, &row, "marking a shard");
}

pbd_status pbd_shard_mark_store(const pbd_manifest *m, pbd_store *store, const pbd_shard_mark *mark) {
    PBD_TRY(pbd_store_start(store, "marking a shard"));
    return pbd_store_end(store, write_mark(m, store, mark), "marking a shard");
}

static pbd_status judge_mark(const pbd_manifest *m, sqlite3_stmt *stmt, pbd_shard_mark *mark) {
    const char *manifest = pbd_column_text(stmt, 0);
    const sqlite3_int64 number = sqlite3_column_int64(stmt, 1);
    if (strcmp(manifest, m->hash) != 0)
        return pbd_error(PBD_BAD_INPUT, "is a shard of another manifest (%.12s, not %.12s)", manifest, m->hash);
    if (number < 0 || (size_t)number >= m->shards) return pbd_error(PBD_BAD_INPUT, "has an invalid shard number");
    if (sqlite3_column_int64(stmt, 2) != sqlite3_column_int64(stmt, 6))
        return pbd_error(PBD_BAD_INPUT, "has %lld runs instead of %lld", sqlite3_column_int64(stmt, 6),
                         sqlite3_column_int64(stmt, 2));
    if (sqlite3_column_int(stmt, 7)) return pbd_error(PBD_BAD_INPUT, "holds comparisons, which a shard cannot have");
    *mark = (pbd_shard_mark){.number = (size_t)number,
                             .runs = (size_t)sqlite3_column_int64(stmt, 2),
                             .unwell = (size_t)sqlite3_column_int64(stmt, 3),
                             .refused = (size_t)sqlite3_column_int64(stmt, 4),
                             .refusals = strdup(pbd_column_text(stmt, 5))};
    return mark->refusals ? pbd_ok() : pbd_no_memory();
}

static pbd_status read_mark(const pbd_manifest *m, pbd_store *store, pbd_shard_mark *mark) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    if (sqlite3_table_column_metadata(pbd_store_sql(store), NULL, "shard", NULL, NULL, NULL, NULL, NULL, NULL) !=
        SQLITE_OK)
        return pbd_error(PBD_BAD_INPUT, "is a store, but not a finished shard");
    PBD_TRY(pbd_store_row(store,
                          "SELECT manifest, number, runs, unwell, refused, refusals,"
                          " (SELECT count(*) FROM run), EXISTS (SELECT * FROM comparison) FROM shard",
                          NULL, 0, "reading a shard's mark", &row, &stmt));
    return row ? judge_mark(m, stmt, mark) : pbd_error(PBD_BAD_INPUT, "is a store, but not a finished shard");
}

/* ---- Publishing -------------------------------------------------------------------------------------------------- */

static pbd_status cannot_publish(size_t number, const char *folder) {
    return pbd_error(PBD_BAD_INPUT, "shard %zu cannot be published in '%.200s': %s", number, folder, strerror(errno));
}

static bool copy_bytes(int in, int out) {
    char bytes[65536];
    for (;;) {
        const ssize_t got = read(in, bytes, sizeof bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return got == 0;
        for (ssize_t done = 0; done < got;) {
            const ssize_t put = write(out, bytes + done, (size_t)(got - done));
            if (put < 0 && errno != EINTR) return false;
            if (put > 0) done += put;
        }
    }
}

/* Copies `from` and synchronises the copy to the disk; it is never written again. */
static bool copy_file(const char *from, const char *to) {
    const int in = open(from, O_RDONLY | O_CLOEXEC);
    const int out = in >= 0 ? open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444) : -1;
    bool fine = out >= 0 && copy_bytes(in, out) && fsync(out) == 0;
    const int why = errno;
    if (in >= 0) close(in);
    errno = why;
    if (out >= 0 && close(out) != 0) fine = false; /* some file systems report a full disk only here */
    return fine;
}

/* A new name is durable once the folder itself is synchronised. */
static void sync_folder(const char *path) {
    const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) return;
    fsync(folder); /* some file systems cannot do this; there is no alternative */
    close(folder);
}

/* Some file systems have no hard links; a rename works there too, since the name is new. */
static bool give_name(const char *hidden, const char *name) {
    if (link(hidden, name) == 0) {
        unlink(hidden);
        return true;
    }
    if (errno != EPERM && errno != EOPNOTSUPP && errno != ENOSYS && errno != EMLINK) return false;
    return rename(hidden, name) == 0;
}

pbd_status pbd_shard_publish(const pbd_manifest *m, size_t number, const char *store_path) {
    const pbd_sweep_path folder = pbd_sweep_file(m->folder, "shards");
    char name[80], hidden[84];
    unsigned long long digits;
    if (getrandom(&digits, sizeof digits, 0) != (ssize_t)sizeof digits) return cannot_publish(number, folder.text);
    snprintf(name, sizeof name, NUMBER "-%.8s-%016llx.db", number, m->hash, digits);
    snprintf(hidden, sizeof hidden, ".%s", name);
    const pbd_sweep_path part = pbd_sweep_file(folder.text, hidden), whole = pbd_sweep_file(folder.text, name);
    if (copy_file(store_path, part.text) && give_name(part.text, whole.text)) {
        sync_folder(folder.text);
        return pbd_ok();
    }
    const pbd_status status = cannot_publish(number, folder.text);
    unlink(part.text);
    return status;
}

pbd_status pbd_shard_set_aside(const pbd_manifest *m, const char *name) {
    const pbd_sweep_path aside = pbd_sweep_file(m->folder, "aside");
    if ((mkdir(aside.text, 0777) == 0 || errno == EEXIST) &&
        rename(shard_path(m, name).text, pbd_sweep_file(aside.text, name).text) == 0)
        return pbd_ok();
    if (errno == ENOENT) return pbd_ok(); /* another merge has already moved it */
    return pbd_error(PBD_BAD_INPUT, "'%.140s' cannot be moved to '%.140s': %s", name, aside.text, strerror(errno));
}

/* ---- Looking ----------------------------------------------------------------------------------------------------- */

static int is_visible(const struct dirent *entry) { return entry->d_name[0] != '.'; }

/* Removes from the store's message about a file that cannot be opened the advice that applies to --db only. */
static void drop_advice(pbd_status *status) {
    static const char *const advice[] = {": choose another", ": keep a copy", ": use the pbdbench", ": run something"};
    for (size_t i = 0; i < sizeof advice / sizeof *advice; i++) {
        char *found = strstr(status->text, advice[i]);
        if (found) *found = '\0';
    }
}

static pbd_status open_and_read_mark(const pbd_manifest *m, pbd_shard *shard) {
    pbd_store *store PBD_CLEANUP(pbd_store_release) = NULL;
    PBD_TRY(pbd_store_open(shard_path(m, shard->name).text, PBD_STORE_READ, &store));
    return read_mark(m, store, &shard->mark);
}

static void count_shards(pbd_shards *s) {
    for (size_t i = 0; i < s->count; i++) {
        if (s->item[i].trouble.code != PBD_OK) continue;
        bool *is_there = &s->is_there[s->item[i].mark.number];
        s->there += !*is_there;
        *is_there = true;
    }
}

typedef struct file_list {
    struct dirent **entry;
    int count;
} file_list;

static void free_files(file_list *files) {
    for (int i = 0; i < files->count; i++) free(files->entry[i]);
    free(files->entry);
}

/* All but hidden files, by name. */
static pbd_status list_files(const pbd_manifest *m, file_list *files) {
    const pbd_sweep_path folder = pbd_sweep_file(m->folder, "shards");
    files->count = scandir(folder.text, &files->entry, is_visible, alphasort);
    if (files->count >= 0) return pbd_ok();
    *files = (file_list){0};
    return pbd_error(PBD_BAD_INPUT, "'%.200s' cannot be read: %s", folder.text, strerror(errno));
}

static pbd_shard check_shard(const pbd_manifest *m, const char *name) {
    pbd_shard shard = {0};
    snprintf(shard.name, sizeof shard.name, "%.255s", name);
    shard.trouble = open_and_read_mark(m, &shard);
    if (shard.trouble.code != PBD_OK) drop_advice(&shard.trouble);
    return shard;
}

pbd_status pbd_shards_look(const pbd_manifest *m, pbd_shards *out) {
    file_list files PBD_CLEANUP(free_files) = {0};
    *out = (pbd_shards){0};
    PBD_TRY(list_files(m, &files));
    *out = (pbd_shards){.item = calloc((size_t)files.count + 1, sizeof *out->item),
                        .is_there = calloc(m->shards + 1, sizeof *out->is_there)};
    if (!out->item || !out->is_there) {
        pbd_shards_free(out);
        return pbd_no_memory();
    }
    for (int i = 0; i < files.count; i++) out->item[out->count++] = check_shard(m, files.entry[i]->d_name);
    count_shards(out);
    return pbd_ok();
}

pbd_status pbd_shard_is_published(const pbd_manifest *m, size_t number, bool *out) {
    file_list files PBD_CLEANUP(free_files) = {0};
    char begin[24];
    *out = false;
    snprintf(begin, sizeof begin, NUMBER "-", number);
    PBD_TRY(list_files(m, &files));
    for (int i = 0; i < files.count && !*out; i++) {
        if (strncmp(files.entry[i]->d_name, begin, strlen(begin)) != 0) continue;
        const pbd_shard shard = check_shard(m, files.entry[i]->d_name);
        *out = shard.trouble.code == PBD_OK && shard.mark.number == number;
        free(shard.mark.refusals);
    }
    return pbd_ok();
}

void pbd_shards_free(pbd_shards *s) {
    for (size_t i = 0; i < s->count; i++) free(s->item[i].mark.refusals);
    free(s->item);
    free(s->is_there);
    *s = (pbd_shards){0};
}
