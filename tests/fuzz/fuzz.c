/* Inputs from outside, a function for each format (fuzz.h): libFuzzer's entry calls the one that FUZZ_FORMAT names.
 * Without libFuzzer (FUZZ_FORMAT undefined) this is a test that replays the kept corpus: fuzz_corpus FOLDER [FORMAT].
 * README.md tells how a campaign is run. */
#include "tests/fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- Surroundings ------------------------------------------------------------------------------------------------ */

_Noreturn void give_up(const char *what) {
    fprintf(stderr, "fuzz: %s: %s\n", what, strerror(errno));
    abort();
}

static int remove_entry(const char *path, const struct stat *about, int type, struct FTW *walk) {
    (void)about, (void)type, (void)walk;
    return remove(path);
}

static char place[PATH_MAX]; /* a folder of this process, PBDBENCH_ROOT */

static void remove_place(void) { nftw(place, remove_entry, 16, FTW_DEPTH | FTW_PHYS); }

const char *in_place(const char *name) {
    static char path[2][PATH_MAX + 64];
    static unsigned next;
    char *mine = path[next++ % 2];
    snprintf(mine, sizeof path[0], "%s/%s", place, name);
    return mine;
}

static void make_place(void) {
    if (*place) return;
    const char *parent = getenv("TMPDIR");
    if (!parent) parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp"; /* each input is a file: in memory */
    snprintf(place, sizeof place, "%s/pbdbench-fuzz-XXXXXX", parent);
    if (!mkdtemp(place)) give_up(place);
    atexit(remove_place);
    setenv("PBDBENCH_ROOT", place, 1);
    const char *const folders[] = {"plots", "plots/fuzz-fig1", "sweep", "cases"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        if (mkdir(in_place(folders[i]), 0777) != 0) give_up(folders[i]);
}

const char *write_file(const char *name, const void *bytes, size_t size) {
    const char *path = in_place(name);
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) give_up(path);
    return path;
}

bool judge(pbd_status status) {
    if (status.code == PBD_OK) return true;
    const bool expected = status.code == PBD_BAD_INPUT || status.code == PBD_NOT_SUPPORTED;
    if ((expected && *status.text) || strstr(status.text, "out of memory")) return false;
    fprintf(stderr, "fuzz: code %d: '%s'\n", (int)status.code, status.text);
    abort();
}

char *text_of(const uint8_t *data, size_t size) {
    char *text = malloc(size + 1);
    if (!text) give_up("memory");
    if (size > 0) memcpy(text, data, size);
    text[size] = '\0';
    return text;
}

/* ---- Entries ----------------------------------------------------------------------------------------------------- */

typedef struct format {
    const char *name;
    void (*take)(const uint8_t *data, size_t size);
} format;
#define ROW(NAME) {#NAME, fuzz_##NAME},
static const format formats[] = {FORMATS(ROW)};
enum { FORMATS_COUNT = sizeof formats / sizeof *formats };

static const format *find_format(const char *name) {
    for (size_t i = 0; i < FORMATS_COUNT; i++)
        if (strcmp(formats[i].name, name) == 0) return &formats[i];
    fprintf(stderr, "fuzz: there is no format '%s'\n", name);
    exit(2);
}

#ifdef FUZZ_FORMAT
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const format *mine;
    if (!mine) mine = find_format(FUZZ_FORMAT);
    make_place();
    mine->take(data, size);
    return 0;
}
#else
enum { PATIENCE = 60 }; /* s for one input */

static void replay(const format *f, const char *path) {
    FILE *file = fopen(path, "rb");
    struct stat about;
    if (!file || fstat(fileno(file), &about) != 0) give_up(path);
    uint8_t *data = malloc((size_t)about.st_size + 1);
    if (!data || fread(data, 1, (size_t)about.st_size, file) != (size_t)about.st_size) give_up(path);
    fclose(file);
    printf("%s\n", path); /* the last one is the one that crashes */
    fflush(stdout);
    alarm(PATIENCE);
    f->take(data, (size_t)about.st_size);
    alarm(0);
    free(data);
}

/* Of one format's folder; how many. */
static size_t replay_all(const char *corpus, const format *f) {
    char folder[PATH_MAX];
    struct dirent **entry;
    snprintf(folder, sizeof folder, "%s/%s", corpus, f->name);
    const int count = scandir(folder, &entry, NULL, alphasort);
    size_t inputs = 0;
    if (count < 0) give_up(folder);
    for (int i = 0; i < count; i++) {
        char path[PATH_MAX + 300];
        snprintf(path, sizeof path, "%s/%s", folder, entry[i]->d_name);
        if (entry[i]->d_name[0] != '.') {
            replay(f, path);
            inputs++;
        }
        free(entry[i]);
    }
    free(entry);
    return inputs;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: fuzz_corpus FOLDER [FORMAT]\n");
        return 2;
    }
    make_place();
    size_t inputs = 0;
    for (size_t i = 0; i < FORMATS_COUNT; i++)
        if (argc < 3 || &formats[i] == find_format(argv[2])) inputs += replay_all(argv[1], &formats[i]);
    printf("%zu inputs of %s\n", inputs, argc < 3 ? "all formats" : argv[2]);
    return inputs > 0 ? 0 : 1;
}
#endif
