#include "harness/exec/host_sort.h"

#include <stdbool.h>
#include <string.h>

enum {
    MOST_BITS = 11, /* per digit: 2048 write positions, which fit the L1 cache */
    DIGITS = 1 << MOST_BITS,
    LEAST_PART = 8192 /* elements per thread below which a further thread does not pay */
};

static int parts_of(size_t n, int threads) {
    const size_t most = n / LEAST_PART + 1;
    return (size_t)threads < most ? threads : (int)most;
}

typedef struct span {
    size_t begin, end;
} span;

/* The elements of a part. The functions below copy their arguments first: through the pointer, the compiler would load
 * them again after each write, and divide again. */
static span part_of(size_t n, int parts, size_t part) {
    return (span){n * part / (size_t)parts, n * (part + 1) / (size_t)parts};
}

/* ---- Sort -------------------------------------------------------------------------------------------------------- */

/* One radix pass. Each part of the pairs counts its digits; a scan in the order (digit, part) turns the counts into
 * positions; each part then moves its pairs in order. Stable for any number of parts. */
typedef struct sort_pass {
    const uint32_t *keys, *values;
    uint32_t *out_keys, *out_values;
    size_t n;
    int parts, shift, digits;
    uint32_t *count; /* parts x DIGITS */
} sort_pass;

static void count_digits(const void *args, size_t begin, size_t end) {
    const sort_pass s = *(const sort_pass *)args;
    const uint32_t most = (uint32_t)s.digits - 1;
    for (size_t part = begin; part < end; part++) {
        const span of = part_of(s.n, s.parts, part);
        uint32_t *count = s.count + DIGITS * part;
        memset(count, 0, (size_t)s.digits * sizeof *count);
        for (size_t i = of.begin; i < of.end; i++) count[s.keys[i] >> s.shift & most]++;
    }
}

static void counts_to_places(sort_pass *s) {
    uint32_t place = 0;
    for (int d = 0; d < s->digits; d++)
        for (int part = 0; part < s->parts; part++) {
            uint32_t *count = s->count + (size_t)DIGITS * (size_t)part + d, here = *count;
            *count = place;
            place += here;
        }
}

static void move_pairs(const void *args, size_t begin, size_t end) {
    const sort_pass s = *(const sort_pass *)args;
    const uint32_t most = (uint32_t)s.digits - 1;
    for (size_t part = begin; part < end; part++) {
        const span of = part_of(s.n, s.parts, part);
        uint32_t *place = s.count + DIGITS * part;
        for (size_t i = of.begin; i < of.end; i++) {
            const uint32_t key = s.keys[i], to = place[key >> s.shift & most]++;
            s.out_keys[to] = key;
            s.out_values[to] = s.values[i];
        }
    }
}

size_t pbd_host_sort_bytes(size_t n, int threads) {
    return (2 * n + (size_t)DIGITS * (size_t)parts_of(n, threads)) * sizeof(uint32_t);
}

void pbd_host_sort_pairs(uint32_t *keys, uint32_t *values, size_t n, int bits, void *scratch, int threads,
                         pbd_host_parallel parallel) {
    const int passes = (bits + MOST_BITS - 1) / MOST_BITS, width = passes ? (bits + passes - 1) / passes : 0;
    uint32_t *other = scratch;
    sort_pass s = {.keys = keys,
                   .values = values,
                   .out_keys = other,
                   .out_values = other + n,
                   .n = n,
                   .parts = parts_of(n, threads),
                   .count = other + 2 * n};
    for (int pass = 0; pass < passes; pass++) {
        s.shift = pass * width;
        s.digits = 1 << (bits - s.shift < width ? bits - s.shift : width);
        parallel(threads, count_digits, (size_t)s.parts, &s);
        counts_to_places(&s);
        parallel(threads, move_pairs, (size_t)s.parts, &s);
        const bool home = s.out_keys == keys;
        s.keys = s.out_keys;
        s.values = s.out_values;
        s.out_keys = home ? other : keys;
        s.out_values = home ? other + n : values;
    }
    if (passes % 2 == 0) return;
    memcpy(keys, s.keys, n * sizeof *keys);
    memcpy(values, s.values, n * sizeof *values);
}

/* ---- Scan -------------------------------------------------------------------------------------------------------- */

typedef struct scan_args {
    uint32_t *values;
    size_t n;
    int parts;
    uint64_t *sum; /* per part; then the sum of all parts before it */
} scan_args;

static void sum_parts(const void *args, size_t begin, size_t end) {
    const scan_args s = *(const scan_args *)args;
    for (size_t part = begin; part < end; part++) {
        const span of = part_of(s.n, s.parts, part);
        uint64_t sum = 0;
        for (size_t i = of.begin; i < of.end; i++) sum += s.values[i];
        s.sum[part] = sum;
    }
}

static void scan_parts(const void *args, size_t begin, size_t end) {
    const scan_args s = *(const scan_args *)args;
    for (size_t part = begin; part < end; part++) {
        const span of = part_of(s.n, s.parts, part);
        uint32_t sum = (uint32_t)s.sum[part];
        for (size_t i = of.begin; i < of.end; i++) {
            const uint32_t here = s.values[i];
            s.values[i] = sum;
            sum += here;
        }
    }
}

size_t pbd_host_scan_bytes(int threads) { return (size_t)threads * sizeof(uint64_t); }

uint64_t pbd_host_scan(uint32_t *values, size_t n, void *scratch, int threads, pbd_host_parallel parallel) {
    const scan_args s = {values, n, parts_of(n, threads), scratch};
    parallel(threads, sum_parts, (size_t)s.parts, &s);
    uint64_t total = 0;
    for (int part = 0; part < s.parts; part++) {
        const uint64_t here = s.sum[part];
        s.sum[part] = total;
        total += here;
    }
    parallel(threads, scan_parts, (size_t)s.parts, &s);
    values[n] = (uint32_t)total;
    return total;
}
