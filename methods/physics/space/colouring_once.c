#include "methods/physics/space/colouring.h"

pbd_status pbd_colour(size_t count, int arity, const uint32_t *particle, size_t particles, uint32_t *order,
                      size_t *first, int *colours) {
    pbd_arena a PBD_ARENA;
    uint64_t *used = pbd_new(&a, uint64_t, particles); /* by particle: bit mask of the colours in use */
    uint8_t *colour = pbd_new(&a, uint8_t, count);
    size_t size[PBD_MOST_COLOURS] = {0}, next[PBD_MOST_COLOURS];
    PBD_TRY(pbd_arena_check(&a));
    *colours = 0;
    for (size_t c = 0; c < count; c++) {
        const uint32_t *mine = particle + c * (size_t)arity;
        uint64_t taken = 0;
        for (int k = 0; k < arity; k++) taken |= used[mine[k]];
        if (taken == UINT64_MAX)
            return pbd_error(PBD_NOT_SUPPORTED,
                             "constraint %zu needs more than %d colours: too many share one particle", c,
                             PBD_MOST_COLOURS);
        const int free_colour = __builtin_ctzll(~taken);
        for (int k = 0; k < arity; k++) used[mine[k]] |= UINT64_C(1) << free_colour;
        colour[c] = (uint8_t)free_colour;
        size[free_colour]++;
        if (free_colour >= *colours) *colours = free_colour + 1;
    }
    first[0] = 0;
    for (int k = 0; k < *colours; k++) {
        next[k] = first[k];
        first[k + 1] = first[k] + size[k];
    }
    for (size_t c = 0; c < count; c++) order[next[colour[c]]++] = (uint32_t)c;
    return pbd_ok();
}

enum { SLAB = 1 << 20 }; /* bytes, for each thread */

bool pbd_is_large(size_t particles, size_t bytes) { return particles >= 4 * (SLAB / bytes); }

size_t pbd_slab(const pbd_exec *exec, size_t particles, size_t bytes) {
    const bool cut = pbd_is_large(particles, bytes) && !pbd_exec_is_gpu(exec);
    return cut ? SLAB / bytes * (size_t)pbd_exec_threads(exec) : 0;
}

/* Sorts constraints by stage. of: the stage of before[k]. offset: zeros with the size of stage s in offset[s + 2];
 * becomes stages + 1 offsets into order. */
static void sort_by_stage(size_t count, const uint32_t *of, const uint32_t *before, size_t stages, size_t *offset,
                          uint32_t *order) {
    for (size_t s = 1; s <= stages; s++) offset[s + 1] += offset[s];
    for (size_t k = 0; k < count; k++) order[offset[of[k] + 1]++] = before[k];
}

/* The slab of a constraint. reached: by particle, the last slab of the constraints of former colours. */
static uint32_t slab_of(const uint32_t *mine, size_t touched, size_t slab, uint32_t *reached) {
    uint32_t lowest = touched > 0 ? mine[0] : 0, out = 0;
    for (size_t k = 0; k < touched; k++) {
        if (mine[k] < lowest) lowest = mine[k];
        if (reached[mine[k]] > out) out = reached[mine[k]];
    }
    if (lowest / slab > out) out = (uint32_t)(lowest / slab);
    for (size_t k = 0; k < touched; k++) reached[mine[k]] = out;
    return out;
}

pbd_status pbd_cut_colours(size_t count, int arity, const size_t *list, const uint32_t *particle, size_t particles,
                           size_t slab, uint32_t *order, const size_t *first, int colours, pbd_arena *arena,
                           size_t **stage_first, size_t *stages) {
    const size_t slabs = slab > 0 ? particles / slab + 1 : 1;
    *stages = slabs * (size_t)colours;
    size_t *offset = *stage_first = pbd_new(arena, size_t, *stages + 2);
    PBD_TRY(pbd_arena_check(arena));
    if (slabs == 1) {
        memcpy(offset, first, (*stages + 1) * sizeof *offset);
        return pbd_ok();
    }
    pbd_arena a PBD_ARENA;
    uint32_t *reached = pbd_new(&a, uint32_t, particles), *of = pbd_new(&a, uint32_t, count);
    uint32_t *before = pbd_new(&a, uint32_t, count);
    PBD_TRY(pbd_arena_check(&a));
    memcpy(before, order, count * sizeof *before);
    for (int c = 0; c < colours; c++)
        for (size_t k = first[c]; k < first[c + 1]; k++) {
            const size_t mine = before[k], begin = list ? list[mine] : mine * (size_t)arity;
            const size_t touched = list ? list[mine + 1] - begin : (size_t)arity;
            const uint32_t at = slab_of(particle + begin, touched, slab, reached);
            of[k] = at * (uint32_t)colours + (uint32_t)c;
            offset[of[k] + 2]++;
        }
    sort_by_stage(count, of, before, *stages, offset, order);
    return pbd_ok();
}

/* ---- Blocks ------------------------------------------------------------------------------------------------------ */

enum { BLOCK = 1 << 15 }; /* rows of four numbers: 512 KB in f32, 1 MB in f64 */

size_t pbd_colour_block(const pbd_exec *exec, size_t particles) {
    return particles >= 2 * BLOCK && !pbd_exec_is_gpu(exec) ? BLOCK : 0;
}

pbd_status pbd_block_colours(size_t count, size_t block, uint32_t *order, const size_t *first, int colours,
                             pbd_arena *arena, size_t **stage_first, size_t *stages) {
    const size_t blocks = block > 0 ? (count + block - 1) / block : 1, most = blocks * (size_t)colours;
    size_t *offset = *stage_first = pbd_new(arena, size_t, most + 2);
    pbd_arena a PBD_ARENA;
    uint32_t *of = pbd_new(&a, uint32_t, count), *before = pbd_new(&a, uint32_t, count);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_arena_check(arena));
    memcpy(before, order, count * sizeof *before);
    for (int c = 0; c < colours; c++)
        for (size_t k = first[c]; k < first[c + 1]; k++) {
            of[k] = (uint32_t)((block > 0 ? before[k] / block : 0) * (size_t)colours) + (uint32_t)c;
            offset[of[k] + 2]++;
        }
    sort_by_stage(count, of, before, most, offset, order);
    *stages = 0;
    for (size_t s = 0; s < most; s++)
        if (offset[s + 1] > offset[*stages]) offset[++*stages] = offset[s + 1];
    return pbd_ok();
}

/* ---- Lists ------------------------------------------------------------------------------------------------------- */

/* Bit masks of the colours in use, rows of `words` 64-bit words by particle. Widened when a constraint finds no free
 * colour. */
typedef struct used_colours {
    pbd_arena *arena;
    uint64_t *bits;
    size_t particles, words;
} used_colours;

static pbd_status widen(used_colours *u) {
    const size_t words = u->words ? 2 * u->words : 2;
    if (words * 64 > PBD_MOST_LIST_COLOURS)
        return pbd_error(PBD_NOT_SUPPORTED,
                         "more than %d colours would be needed: too many constraints share one particle",
                         PBD_MOST_LIST_COLOURS);
    uint64_t *bits = pbd_new(u->arena, uint64_t, u->particles * words);
    PBD_TRY(pbd_arena_check(u->arena));
    for (size_t p = 0; p < u->particles; p++)
        for (size_t w = 0; w < u->words; w++) bits[p * words + w] = u->bits[p * u->words + w];
    u->bits = bits;
    u->words = words;
    return pbd_ok();
}

/* Returns the first colour that is not in use at any of the particles; words * 64 if there is none. */
static size_t free_colour(const used_colours *u, const uint32_t *mine, size_t count, const uint32_t *own) {
    for (size_t w = 0; w < u->words; w++) {
        uint64_t taken = own ? u->bits[*own * u->words + w] : 0;
        for (size_t k = 0; k < count && ~taken; k++) taken |= u->bits[mine[k] * u->words + w];
        if (~taken) return 64 * w + (size_t)__builtin_ctzll(~taken);
    }
    return 64 * u->words;
}

static pbd_status colour_one(used_colours *u, const uint32_t *mine, size_t count, const uint32_t *own, size_t *out) {
    while ((*out = free_colour(u, mine, count, own)) == 64 * u->words) PBD_TRY(widen(u));
    const uint64_t bit = UINT64_C(1) << *out % 64;
    for (size_t k = 0; k < count; k++) u->bits[mine[k] * u->words + *out / 64] |= bit;
    if (own) u->bits[*own * u->words + *out / 64] |= bit;
    return pbd_ok();
}

pbd_status pbd_colour_lists(size_t count, const size_t *first, const uint32_t *particle, size_t particles,
                            bool with_own, pbd_arena *arena, uint32_t *order, size_t **colour_first, int *colours) {
    pbd_arena a PBD_ARENA;
    used_colours used = {.arena = &a, .particles = particles};
    uint16_t *colour = pbd_new(&a, uint16_t, count);
    size_t *offset = *colour_first = pbd_new(arena, size_t, PBD_MOST_LIST_COLOURS + 2);
    PBD_TRY(pbd_arena_check(&a));
    PBD_TRY(pbd_arena_check(arena));
    *colours = 0;
    for (size_t c = 0; c < count; c++) {
        const uint32_t own = (uint32_t)c;
        size_t mine;
        PBD_TRY(colour_one(&used, particle + first[c], first[c + 1] - first[c], with_own ? &own : NULL, &mine));
        colour[c] = (uint16_t)mine;
        offset[mine + 2]++;
        if ((int)mine >= *colours) *colours = (int)mine + 1;
    }
    for (int k = 1; k <= *colours; k++) offset[k + 1] += offset[k];
    for (size_t c = 0; c < count; c++) order[offset[colour[c] + 1]++] = (uint32_t)c;
    return pbd_ok();
}
