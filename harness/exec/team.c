#include "harness/exec/team.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { MOST_THREADS = 64 };

static int wanted;

typedef struct team {
    atomic_size_t next; /* the first piece that no thread has begun */
    size_t items, piece;
    pbd_team_work work;
    void *context;
} team;

void pbd_team_set_threads(int threads) { wanted = threads; }

static size_t processors(void) {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? (size_t)CPU_COUNT(&set) : 1;
}

static void *do_pieces(void *of) {
    team *t = of;
    for (;;) {
        const size_t begin = atomic_fetch_add(&t->next, 1) * t->piece;
        if (begin >= t->items) return NULL;
        t->work(t->context, begin, t->items - begin < t->piece ? t->items : begin + t->piece);
    }
}

void pbd_team_run(size_t items, size_t piece, pbd_team_work work, void *context) {
    team t = {.items = items, .piece = piece, .work = work, .context = context};
    const size_t pieces = items / piece + (items % piece > 0), most = wanted > 0 ? (size_t)wanted : processors();
    size_t threads = most < pieces ? most : pieces, started = 0;
    pthread_t thread[MOST_THREADS];
    if (threads > MOST_THREADS) threads = MOST_THREADS;
    /* The calling thread is one of them. There are fewer if the system refuses one. */
    while (started + 1 < threads && pthread_create(&thread[started], NULL, do_pieces, &t) == 0) started++;
    do_pieces(&t);
    for (size_t i = 0; i < started; i++) pthread_join(thread[i], NULL);
}
