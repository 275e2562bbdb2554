/* The zip format: APPNOTE.TXT of PKWARE, 4.3. The sizes of an entry are known only after it and are then written into
 * its header, so the file must be seekable. */
#include "harness/files/npz_file.h"

#include <errno.h>
#include <string.h>

enum { VERSION = 20, DEFLATED = 8, CHUNK = 1 << 16 };

pbd_status npz_begin(const char *path, npz_file *out) {
    *out = (npz_file){.file = fopen(path, "wb"), .path = path};
    return out->file ? pbd_ok() : pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}

/* Little-endian. */
static void put(FILE *file, uint64_t number, int bytes) {
    for (int i = 0; i < bytes; i++) fputc((int)(number >> 8 * i & 255), file);
}

/* The fields from the version to the length of the name, which are the same in the local header and in the directory.
 * Files are dated 1980, the first year of the format, so that equal runs have equal files. */
static void put_entry(FILE *file, const npz_entry *e) {
    enum { JANUARY_1 = 1 << 5 | 1 };
    put(file, VERSION, 2);
    put(file, 0, 2);
    put(file, DEFLATED, 2);
    put(file, 0, 2);
    put(file, JANUARY_1, 2);
    put(file, e->crc, 4);
    put(file, e->packed, 4);
    put(file, e->bytes, 4);
    put(file, strlen(e->name), 2);
}

static void put_local_head(FILE *file, const npz_entry *e) {
    put(file, 0x04034b50, 4);
    put_entry(file, e);
    put(file, 0, 2);
    fputs(e->name, file);
}

/* ---- Arrays ------------------------------------------------------------------------------------------------------ */

static void deflate_some(npz_file *npz, const void *bytes, size_t count, int flush) {
    unsigned char room[CHUNK];
    npz_entry *e = &npz->entry[npz->entries - 1];
    npz->stream.next_in = (Bytef *)(uintptr_t)bytes;
    npz->stream.avail_in = (uInt)count;
    do {
        npz->stream.next_out = room;
        npz->stream.avail_out = CHUNK;
        if (deflate(&npz->stream, flush) == Z_STREAM_ERROR) npz->failed = true;
        const size_t packed = CHUNK - npz->stream.avail_out;
        if (fwrite(room, 1, packed, npz->file) != packed) npz->failed = true;
        e->packed += packed;
    } while (npz->stream.avail_out == 0 && !npz->failed);
}

static void close_array(npz_file *npz) {
    if (!npz->is_open) return;
    const npz_entry *e = &npz->entry[npz->entries - 1];
    deflate_some(npz, NULL, 0, Z_FINISH);
    deflateEnd(&npz->stream);
    npz->is_open = false;
    if (e->packed > UINT32_MAX || e->bytes > UINT32_MAX || e->place > UINT32_MAX) npz->failed = true;
    if (fseeko(npz->file, (off_t)e->place, SEEK_SET) != 0) npz->failed = true;
    put_local_head(npz->file, e);
    if (fseeko(npz->file, 0, SEEK_END) != 0) npz->failed = true;
}

void npz_write(npz_file *npz, const void *bytes, size_t count) {
    enum { AT_ONCE = 1 << 30 };
    npz_entry *e = &npz->entry[npz->entries - 1];
    const char *at = bytes;
    for (size_t some; count > 0 && !npz->failed; at += some, count -= some) {
        some = count < AT_ONCE ? count : AT_ONCE;
        e->crc = (uint32_t)crc32(e->crc, (const Bytef *)at, (uInt)some);
        e->bytes += some;
        deflate_some(npz, at, some, Z_NO_FLUSH);
    }
}

/* The head of an .npy file is a multiple of 64 bytes long. */
static void write_npy_head(npz_file *npz, const char *type, const size_t *shape, int dimensions) {
    char head[256] = "\x93NUMPY\x01", *text = head + 10;
    size_t used = (size_t)snprintf(text, 200, "{'descr': '%s', 'fortran_order': False, 'shape': (", type);
    for (int d = 0; d < dimensions; d++) used += (size_t)snprintf(text + used, 200 - used, "%zu,", shape[d]);
    used += (size_t)snprintf(text + used, 200 - used, "), }");
    while ((10 + used + 1) % 64 != 0) text[used++] = ' ';
    text[used++] = '\n';
    head[8] = (char)(used & 255);
    head[9] = (char)(used >> 8);
    npz_write(npz, head, 10 + used);
}

void npz_array(npz_file *npz, const char *name, const char *type, const size_t *shape, int dimensions) {
    close_array(npz);
    npz_entry *e = &npz->entry[npz->entries++];
    *e = (npz_entry){.place = (uint64_t)ftello(npz->file)};
    snprintf(e->name, sizeof e->name, "%s.npy", name);
    put_local_head(npz->file, e);
    npz->stream = (z_stream){0};
    if (deflateInit2(&npz->stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) npz->failed = true;
    npz->is_open = !npz->failed;
    if (npz->is_open) write_npy_head(npz, type, shape, dimensions);
}

/* ---- The end ----------------------------------------------------------------------------------------------------- */

static void write_directory(npz_file *npz) {
    const uint64_t from = (uint64_t)ftello(npz->file);
    for (size_t i = 0; i < npz->entries; i++) {
        const npz_entry *e = &npz->entry[i];
        put(npz->file, 0x02014b50, 4);
        put(npz->file, VERSION, 2);
        put_entry(npz->file, e);
        put(npz->file, 0, 8); /* extra field, comment, disk, attributes */
        put(npz->file, 0, 4);
        put(npz->file, e->place, 4);
        fputs(e->name, npz->file);
    }
    const uint64_t to = (uint64_t)ftello(npz->file);
    put(npz->file, 0x06054b50, 4);
    put(npz->file, 0, 4);
    put(npz->file, npz->entries, 2);
    put(npz->file, npz->entries, 2);
    put(npz->file, to - from, 4);
    put(npz->file, from, 4);
    put(npz->file, 0, 2);
    if (to > UINT32_MAX) npz->failed = true;
}

pbd_status npz_end(npz_file *npz) {
    bool large = false;
    close_array(npz);
    write_directory(npz);
    for (size_t i = 0; i < npz->entries; i++) large |= npz->entry[i].bytes > UINT32_MAX;
    large |= ftello(npz->file) > (off_t)UINT32_MAX;
    const bool bad = npz->failed || ferror(npz->file) != 0;
    if (fclose(npz->file) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_FAILED, "cannot write %.250s: %s", npz->path,
                     large ? "it would be larger than 4 GB: ask for fewer states" : strerror(errno));
}
