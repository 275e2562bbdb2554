/* Opening the store.
 *
 * When SQLite opens another program's database, it may create files beside it, and write a checkpoint when it closes
 * it. So the header is read and checked first, and SQLite opens only a file of this program, of its version and of
 * full length. The header in the file is always up to date, since the schema is written before the journal mode
 * becomes WAL.
 */
#include "harness/store/store.h"

#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "harness/store/rows.h"
#include "schema_sql.h"

enum {
    BUSY_TIMEOUT_MS = 30000,
    HEADER_BYTES = 100,
    CHECKED_BYTES = 256 << 10 /* smaller stores are checked when opened, which takes 1 ms; others by `db check` */
};

/* ---- Before SQLite sees the file --------------------------------------------------------------------------------- */

typedef struct first_look {
    bool exists;     /* and is not empty */
    bool wal_in_use; /* there is a -wal file that is not empty */
    bool immutable;  /* to be opened as a file that does not change */
    off_t bytes;
} first_look;

static pbd_status folder_of(const char *path, char folder[PATH_MAX]) {
    char copy[PATH_MAX];
    if (strlen(path) >= sizeof copy) return pbd_error(PBD_BAD_INPUT, "the store's path is too long: '%.200s...'", path);
    strcpy(copy, path);
    strcpy(folder, dirname(copy));
    return pbd_ok();
}

static bool has_content(const char *path, const char *suffix) {
    char name[PATH_MAX + 16];
    struct stat info;
    snprintf(name, sizeof name, "%s%s", path, suffix);
    return stat(name, &info) == 0 && info.st_size > 0;
}

/* A reader without permission to write could still leave SQLite's journal files beside the store, and those would shut
 * out its owner. If there is no journal there is no writer either, and the file can be opened as immutable. */
static bool is_to_be_left_alone(const char *path, const char *folder) {
    static const char *const journals[] = {"-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof journals / sizeof *journals; i++) {
        char name[PATH_MAX + 16];
        snprintf(name, sizeof name, "%s%s", path, journals[i]);
        if (access(name, F_OK) == 0) return false;
    }
    return euidaccess(path, W_OK) != 0 || euidaccess(folder, W_OK) != 0;
}

/* euidaccess also detects read-only file systems and immutable files, which bind root too. */
static pbd_status check_writable(const char *path, bool exists, const char *folder) {
    if (exists && euidaccess(path, W_OK) != 0)
        return pbd_error(PBD_BAD_INPUT,
                         "the store '%s' is read-only (%s): make it writable, or choose another file with --db", path,
                         strerror(errno));
    if (euidaccess(folder, W_OK) != 0)
        return pbd_error(
            PBD_BAD_INPUT,
            "the folder '%s' of the store '%s' is read-only (%s), and SQLite keeps its journal there: make "
            "it writable, or choose another file with --db",
            folder, path, strerror(errno));
    return pbd_ok();
}

/* For a store that does not exist yet. Makes its folder if missing. */
static pbd_status check_missing(const char *path, pbd_store_mode mode, const char *folder) {
    if (mode == PBD_STORE_READ)
        return pbd_error(PBD_BAD_INPUT, "there is no store '%s': run something first, or choose another file with --db",
                         path);
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return pbd_error(PBD_BAD_INPUT, "the folder '%s' of the store '%s' cannot be made: %s", folder, path,
                         strerror(errno));
    return check_writable(path, false, folder);
}

static unsigned long number_at(const unsigned char *header, size_t offset, size_t bytes) {
    unsigned long value = 0;
    for (size_t i = 0; i < bytes; i++) value = value << 8 | header[offset + i];
    return value;
}

/* Whether the file is shorter than its header says; with a journal it may be. The length is read last: another process
 * may be writing the store's first pages, which are complete once its journal is gone. Offsets: SQLite's file format,
 * section 1.3. */
static bool is_cut_short(const char *path, const unsigned char *header, off_t *bytes) {
    const unsigned long page_code = number_at(header, 16, 2);
    const unsigned long page = page_code == 1 ? 65536 : page_code;
    const bool size_is_valid = number_at(header, 24, 4) == number_at(header, 92, 4);
    if (!size_is_valid || has_content(path, "-wal") || has_content(path, "-journal")) return false;
    struct stat info;
    if (stat(path, &info) == 0) *bytes = info.st_size;
    return (unsigned long)*bytes < page * number_at(header, 28, 4);
}

static pbd_status check_header(const char *path, const unsigned char *header, size_t got, off_t bytes) {
    if (got < HEADER_BYTES || memcmp(header, "SQLite format 3", 16) != 0)
        return pbd_error(PBD_BAD_INPUT, "'%s' is not a database: choose another file with --db", path);
    if (number_at(header, 68, 4) != PBD_STORE_APPLICATION)
        return pbd_error(
            PBD_BAD_INPUT,
            "'%s' is a database of another program, not a store of pbdbench: choose another file with --db", path);
    const unsigned long version = number_at(header, 60, 4);
    if (version < PBD_STORE_OLDEST || version > PBD_STORE_VERSION)
        return pbd_error(PBD_BAD_INPUT,
                         "the store '%s' is of version %lu and this pbdbench reads version %d: use the pbdbench that "
                         "wrote it, or choose another file with --db",
                         path, version, PBD_STORE_VERSION);
    if (is_cut_short(path, header, &bytes))
        return pbd_error(PBD_BAD_INPUT,
                         "the store '%s' is corrupt (cut short: %lld bytes are left): keep a copy; `sqlite3 FILE "
                         ".recover` rescues what can be read; choose another file with --db",
                         path, (long long)bytes);
    return pbd_ok();
}

static pbd_status read_header(const char *path, off_t bytes) {
    unsigned char header[HEADER_BYTES];
    FILE *file = fopen(path, "rb");
    if (file == NULL) return pbd_error(PBD_BAD_INPUT, "the store '%s' cannot be read: %s", path, strerror(errno));
    const size_t got = fread(header, 1, sizeof header, file);
    fclose(file);
    return check_header(path, header, got, bytes);
}

static pbd_status look_first(const char *path, pbd_store_mode mode, first_look *look) {
    char folder[PATH_MAX];
    struct stat info;
    memset(look, 0, sizeof *look);
    PBD_TRY(folder_of(path, folder));
    if (stat(path, &info) != 0) {
        if (errno == ENOENT) return check_missing(path, mode, folder);
        return pbd_error(PBD_BAD_INPUT, "the store '%s' cannot be reached: %s", path, strerror(errno));
    }
    if (!S_ISREG(info.st_mode))
        return pbd_error(PBD_BAD_INPUT, "'%s' is %s, not a file: choose a file with --db", path,
                         S_ISDIR(info.st_mode) ? "a folder" : "a device");
    if (info.st_size > 0) PBD_TRY(read_header(path, info.st_size));
    if (mode == PBD_STORE_WRITE) PBD_TRY(check_writable(path, true, folder));
    look->exists = info.st_size > 0;
    look->wal_in_use = has_content(path, "-wal");
    look->immutable = mode == PBD_STORE_READ && is_to_be_left_alone(path, folder);
    look->bytes = info.st_size;
    return pbd_ok();
}

/* ---- The connection ---------------------------------------------------------------------------------------------- */

static pbd_status query_number(const pbd_store *store, const char *sql, long long *out) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    *out = 0;
    PBD_TRY(pbd_store_row(store, sql, NULL, 0, "opening it", &row, &stmt));
    if (row) *out = sqlite3_column_int64(stmt, 0);
    return pbd_ok();
}

static pbd_status write_schema(const pbd_store *store) {
    long long application;
    PBD_TRY(query_number(store, "PRAGMA application_id", &application));
    return application == 0 ? pbd_store_exec(store, pbd_schema_sql, "creating it") : pbd_ok();
}

/* Writes the schema into an empty file. If two processes do so at once, the second finds it already written. */
static pbd_status create_schema(pbd_store *store) {
    PBD_TRY(pbd_store_start(store, "creating it"));
    return pbd_store_end(store, write_schema(store), "creating it");
}

/* Whether the file is on a network file system. WAL keeps its index in memory shared by processes of one machine only.
 */
static bool is_on_network(const char *path) {
    static const unsigned long network[] = {
        0x6969,     /* NFS */
        0x517B,     /* SMB */
        0xFF534D42, /* CIFS */
        0xFE534D42, /* SMB 2 */
        0x01021997, /* 9P: folders shared with a virtual machine */
        0x65735546, /* FUSE: sshfs and its like */
        0x00C36400, /* Ceph */
        0x5346414F, /* AFS */
        0x73757245, /* Coda */
        0x0BD00BD0, /* Lustre */
        0x19830326, /* BeeGFS */
        0x47504653, /* GPFS */
        0x786F4256, /* shared folders of VirtualBox */
    };
    struct statfs info;
    if (statfs(path, &info) != 0) return true; /* the mode that works everywhere */
    for (size_t i = 0; i < sizeof network / sizeof *network; i++) {
        if (((unsigned long)info.f_type & 0xFFFFFFFF) == network[i]) return true;
    }
    return false;
}

/* Changing the mode needs exclusive access for a moment. If other processes never release the file, their mode stays.
 */
static pbd_status choose_journal(const pbd_store *store) {
    const char *sql = is_on_network(store->path) ? "PRAGMA journal_mode = DELETE" : "PRAGMA journal_mode = WAL";
    for (int attempt = 0; attempt < 50; attempt++) {
        const int code = sqlite3_exec(store->db, sql, NULL, NULL, NULL);
        if (code == SQLITE_OK) return pbd_ok();
        if ((code & 0xff) != SQLITE_BUSY && (code & 0xff) != SQLITE_LOCKED)
            return pbd_store_fault(store, "setting its journal");
        sqlite3_sleep(20);
    }
    return pbd_ok();
}

static pbd_status quick_check(const pbd_store *store) {
    sqlite3_stmt *stmt PBD_CLEANUP(pbd_statement_release) = NULL;
    bool row;
    PBD_TRY(pbd_store_row(store, "PRAGMA quick_check(1)", NULL, 0, "looking through it", &row, &stmt));
    const char *says = row ? pbd_column_text(stmt, 0) : "ok", *second = strchr(says, '\n'); /* a heading, a fault */
    if (strcmp(says, "ok") == 0) return pbd_ok();
    return pbd_store_corrupt(store, second ? second + 1 : says);
}

static pbd_status refuse_write_protection(const pbd_store *store) {
    if (store->mode == PBD_STORE_WRITE && sqlite3_db_readonly(store->db, "main") == 1)
        return pbd_error(PBD_BAD_INPUT, "the store '%s' is read-only: make it writable, or choose another with --db",
                         store->path);
    return pbd_ok();
}

/* Migrates version 1 to 2: adds table `about` and the state `unphysical`. A CHECK is not stored in rows, so that it can
 * be changed as in section 8 of https://www.sqlite.org/lang_altertable.html. Changes nothing if another process has
 * migrated the store meanwhile. */
static pbd_status write_version_2(pbd_store *store) {
    long long version;
    char sql[480];
    PBD_TRY(pbd_store_exec(store, strstr(pbd_schema_sql, "-- ---- Since version 2"), "migrating it to version 2"));
    PBD_TRY(query_number(store, "PRAGMA schema_version", &version));
    snprintf(sql, sizeof sql,
             "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = " PBD_SQL_LAYOUT_NOW
             " WHERE type = 'table' AND name = 'run'; PRAGMA schema_version = %lld; PRAGMA user_version = %d;"
             " PRAGMA writable_schema = RESET",
             version + 1, PBD_STORE_VERSION);
    return pbd_store_exec(store, sql, "migrating it to version 2");
}

static pbd_status migrate(pbd_store *store) {
    PBD_TRY(pbd_store_start(store, "migrating it to version 2"));
    return pbd_store_end(store, write_version_2(store), "migrating it to version 2");
}

/* As check_header, but through SQLite, which reads journals too. */
static pbd_status check_identity(pbd_store *store) {
    long long application, version;
    PBD_TRY(query_number(store, "PRAGMA application_id", &application));
    if (application == 0 && store->mode == PBD_STORE_WRITE) PBD_TRY(create_schema(store));
    PBD_TRY(query_number(store, "PRAGMA application_id", &application));
    PBD_TRY(query_number(store, "PRAGMA user_version", &version));
    if (application == 0)
        return pbd_error(PBD_BAD_INPUT,
                         "the store '%s' is empty: run something first, or choose another file with --db", store->path);
    if (application == PBD_STORE_APPLICATION && version == 1 && store->mode == PBD_STORE_WRITE) {
        PBD_TRY(migrate(store));
        version = PBD_STORE_VERSION;
    }
    if (application != PBD_STORE_APPLICATION || version < PBD_STORE_OLDEST || version > PBD_STORE_VERSION)
        return pbd_error(PBD_BAD_INPUT, "the store '%s' is of version %lld and this pbdbench reads version %d",
                         store->path, version, PBD_STORE_VERSION);
    return pbd_ok();
}

static pbd_status prepare_connection(pbd_store *store, const first_look *look) {
    sqlite3_extended_result_codes(store->db, 1);
    sqlite3_busy_timeout(store->db, BUSY_TIMEOUT_MS);
    PBD_TRY(refuse_write_protection(store));
    PBD_TRY(check_identity(store));
    PBD_TRY(pbd_store_functions(store));
    if (look->exists && look->bytes <= CHECKED_BYTES) PBD_TRY(quick_check(store));
    if (store->mode == PBD_STORE_WRITE) PBD_TRY(choose_journal(store));
    /* 64 MiB of pages: with SQLite's 2 MiB, histories and reports would read the same pages many times. */
    return pbd_store_exec(store, "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -65536",
                          "opening it");
}

/* The name for SQLite, by which paths such as ":memory:" and "file:..." are ordinary files. The caller frees. */
static char *sqlite_name(const char *path, bool immutable) {
    char *name = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&name, &bytes);
    if (out == NULL) return NULL;
    fprintf(out, "%s%s", immutable ? "file:" : "", path[0] == '/' ? "" : "./");
    for (const char *c = path; *c != '\0'; c++) {
        if (immutable && strchr("%?#", *c) != NULL) {
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*c);
        } else {
            fputc(*c, out);
        }
    }
    fputs(immutable ? "?immutable=1" : "", out);
    if (fclose(out) == 0) return name;
    free(name);
    return NULL;
}

static pbd_status connect_store(pbd_store *store, const first_look *look) {
    char *name = sqlite_name(store->path, look->immutable);
    if (name == NULL) return pbd_store_no_memory(store);
    int flags = SQLITE_OPEN_READWRITE;
    if (store->mode == PBD_STORE_WRITE) flags |= SQLITE_OPEN_CREATE;
    if (look->immutable) flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI;
    const int code = sqlite3_open_v2(name, &store->db, flags, NULL);
    free(name);
    if (store->db == NULL) return pbd_store_no_memory(store);
    if (code != SQLITE_OK) return pbd_store_fault(store, "opening it");
    return prepare_connection(store, look);
}

/* untouched: does not write a journal back into the store, since it was refused. */
static void disconnect(pbd_store *store, bool untouched) {
    if (store->db != NULL && untouched) sqlite3_db_config(store->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    pbd_store_forget(store->kept);
    store->kept = NULL;
    sqlite3_close(store->db);
    store->db = NULL;
}

pbd_status pbd_store_open(const char *path, pbd_store_mode mode, pbd_store **out) {
    *out = NULL;
    first_look look;
    PBD_TRY(look_first(path, mode, &look));
    if (mode == PBD_STORE_READ && !look.exists)
        return pbd_error(PBD_BAD_INPUT,
                         "the store '%s' is empty: run something first, or choose another file with --db", path);
    pbd_store *store PBD_CLEANUP(pbd_store_release) = calloc(1, sizeof *store);
    if (store != NULL) *store = (pbd_store){.mode = mode, .path = strdup(path), .kept = calloc(1, sizeof *store->kept)};
    if (store == NULL || store->path == NULL || store->kept == NULL)
        return pbd_error(PBD_FAILED, "out of memory while opening the store '%s'", path);
    const pbd_status status = connect_store(store, &look);
    if (status.code != PBD_OK) {
        disconnect(store, look.wal_in_use);
        return status;
    }
    *out = store;
    store = NULL;
    return pbd_ok();
}

void pbd_store_close(pbd_store *store) {
    if (store == NULL) return;
    disconnect(store, false);
    json_decref(store->origin);
    free(store->path);
    free(store);
}

const char *pbd_store_path(const pbd_store *store) { return store->path; }

sqlite3 *pbd_store_sql(pbd_store *store) { return store->db; }
