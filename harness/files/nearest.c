#include "harness/files/nearest.h"

#include <stdint.h>
#include <string.h>

enum { LONGEST_WORD = 64 };

/* Letters inserted, deleted, replaced, or two neighbours swapped (optimal string alignment); words longer than
 * LONGEST_WORD are no misspelling. */
static size_t edit_distance(const char *a, const char *b) {
    const size_t n = strlen(a), m = strlen(b);
    size_t rows[3][LONGEST_WORD + 1];
    if (n > LONGEST_WORD || m > LONGEST_WORD) return SIZE_MAX;
    for (size_t j = 0; j <= m; j++) rows[0][j] = j;
    for (size_t i = 1; i <= n; i++) {
        const size_t *above = rows[(i - 1) % 3], *higher = rows[(i + 1) % 3];
        size_t *row = rows[i % 3];
        row[0] = i;
        for (size_t j = 1; j <= m; j++) {
            size_t best = above[j - 1] + (a[i - 1] != b[j - 1]);
            if (above[j] + 1 < best) best = above[j] + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
            if (swapped && higher[j - 2] + 1 < best) best = higher[j - 2] + 1;
            row[j] = best;
        }
    }
    return rows[n % 3][m];
}

const char *pbd_nearest(const char *word, const char *const *names, size_t count) {
    const char *best = NULL;
    const size_t length = strlen(word);
    size_t best_distance = length / 2 + 1; /* a distance of more than half the word means another word */
    for (size_t i = 0; i < count; i++) {
        const size_t other = strlen(names[i]), least = other > length ? other - length : length - other;
        size_t distance = least < best_distance ? edit_distance(word, names[i]) : least;
        /* A name that contains the word (`torsion` for cube_torsion) is nearer than its edit distance. */
        if (length >= 3 && strstr(names[i], word)) distance = 1;
        if (distance < best_distance) {
            best_distance = distance;
            best = names[i];
        }
    }
    return best;
}

pbd_status pbd_unknown(const char *kind, const char *word, const char *const *names, size_t count, const char *hint) {
    const char *nearest = pbd_nearest(word, names, count);
    if (nearest)
        return pbd_error(PBD_BAD_INPUT, "unknown %s '%.60s'; did you mean '%s'? `%s` shows them all", kind, word,
                         nearest, hint);
    return pbd_error(PBD_BAD_INPUT, "unknown %s '%.60s'; `%s` lists them", kind, word, hint);
}
