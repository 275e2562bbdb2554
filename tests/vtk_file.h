/* Reads arrays of a VTK XML file with zlib-compressed data in base64, according to the format's description:
 * https://docs.vtk.org/en/latest/design_documents/VTKFileFormats.html. Include after <cmocka.h>. */
#ifndef PBD_TESTS_VTK_FILE_H
#define PBD_TESTS_VTK_FILE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

/* Returns the bytes of a file, which the caller frees. As a string they would end within the data. */
static inline char *vtk_read(const char *folder, const char *name) {
    char path[8192];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (!file) fail_msg("%s cannot be read", path);
    fseek(file, 0, SEEK_END);
    const size_t size = (size_t)ftell(file);
    char *bytes = calloc(1, size + 1);
    rewind(file);
    if (fread(bytes, 1, size, file) != size) fail_msg("%s cannot be read", path);
    fclose(file);
    return bytes;
}

static inline double vtk_number(const char *type, const unsigned char *at, size_t i) {
    double real;
    int64_t whole;
    uint32_t index;
    if (strcmp(type, "Float64") == 0) return memcpy(&real, at + 8 * i, 8), real;
    if (strcmp(type, "Int64") == 0) return memcpy(&whole, at + 8 * i, 8), (double)whole;
    if (strcmp(type, "UInt32") == 0) return memcpy(&index, at + 4 * i, 4), (double)index;
    if (strcmp(type, "UInt8") != 0) fail_msg("an array of type %s", type);
    return at[i];
}

/* Decodes base64 up to the first character that is not base64; the caller frees the bytes. The header and the blocks of
 * an array are padded separately, so every four characters give at most three bytes. */
static inline unsigned char *vtk_bytes(const char *text) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char *bytes = malloc(strlen(text) + 1), *out = bytes;
    for (; *text && (strchr(digits, *text) || *text == '='); text += 4) {
        unsigned group = 0;
        int padding = 0;
        for (int i = 0; i < 4; i++) {
            const char *digit = strchr(digits, text[i]);
            group = group << 6 | (digit ? (unsigned)(digit - digits) : 0);
            padding += !digit;
        }
        for (int i = 0; i < 3 - padding; i++) *out++ = (unsigned char)(group >> (16 - 8 * i));
    }
    return bytes;
}

/* Returns the `count` numbers of the array of this name; the caller frees them. `file`: all bytes of the file. */
static inline double *vtk_array(const char *file, const char *name, size_t count) {
    char wanted[80], type[20] = "";
    size_t blocks, size, last, got = 0, width;
    snprintf(wanted, sizeof wanted, "Name=\"%s\"", name);
    const char *at = strstr(file, wanted), *data = at ? strchr(at, '>') : NULL;
    if (!at || !data) fail_msg("no array %s", name);
    if (!strstr(file, "header_type=\"UInt64\" compressor=\"vtkZLibDataCompressor\"")) fail_msg("another compressor");
    const char *line = at;
    while (*line != '<') line--;
    if (sscanf(line, "<DataArray type=\"%19[A-Za-z0-9]\"", type) != 1) fail_msg("no type of %s", name);
    width = strcmp(type, "UInt8") == 0 ? 1 : strcmp(type, "UInt32") == 0 ? 4 : 8;
    unsigned char *head = vtk_bytes(data + 2);
    memcpy(&blocks, head, 8);
    memcpy(&size, head + 8, 8);
    memcpy(&last, head + 16, 8);
    if ((blocks - (last > 0)) * size + last != count * width) fail_msg("%s has not %zu numbers", name, count);
    unsigned char *bytes = malloc(count * width + 1);
    const unsigned char *packed = head + 24 + 8 * blocks;
    for (size_t k = 0; k < blocks; k++) {
        size_t packed_size;
        uLongf room = count * width - got;
        memcpy(&packed_size, head + 24 + 8 * k, 8);
        if (uncompress(bytes + got, &room, packed, packed_size) != Z_OK) fail_msg("%s is damaged", name);
        got += room;
        packed += packed_size;
    }
    if (got != count * width) fail_msg("%s is cut short", name);
    double *out = malloc((count + 1) * sizeof *out);
    for (size_t i = 0; i < count; i++) out[i] = vtk_number(type, bytes, i);
    free(bytes);
    free(head);
    return out;
}

#endif
