#include "cases/geometry/triangle_file.h"

#include <assimp/cfileio.h>
#include <assimp/cimport.h>
#include <assimp/postprocess.h>
#include <assimp/scene.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/exec/arena.h"

/* ---- A file system of one file: assimp must not follow what is named in it (materials, textures) ----------------- */

typedef struct held_file {
    const char *bytes;
    size_t size, at;
    bool taken;
    struct aiFile file;
} held_file;

static held_file *held(struct aiFile *file) { return (held_file *)(void *)file->UserData; }

static size_t read_held(struct aiFile *file, char *to, size_t size, size_t count) {
    held_file *h = held(file);
    if (size == 0) return 0;
    const size_t left = (h->size - h->at) / size, got = count < left ? count : left;
    memcpy(to, h->bytes + h->at, got * size);
    h->at += got * size;
    return got;
}

static size_t write_nothing(struct aiFile *file, const char *from, size_t size, size_t count) {
    (void)file, (void)from, (void)size, (void)count;
    return 0;
}

static size_t tell_held(struct aiFile *file) { return held(file)->at; }
static size_t size_of_held(struct aiFile *file) { return held(file)->size; }
static void flush_nothing(struct aiFile *file) { (void)file; }

static aiReturn seek_held(struct aiFile *file, size_t offset, enum aiOrigin origin) {
    held_file *h = held(file);
    const size_t from = origin == aiOrigin_SET ? 0 : origin == aiOrigin_CUR ? h->at : h->size;
    if (from + offset > h->size || from + offset < from) return aiReturn_FAILURE;
    h->at = from + offset;
    return aiReturn_SUCCESS;
}

static struct aiFile *open_held(struct aiFileIO *io, const char *path, const char *mode) {
    held_file *h = (held_file *)(void *)io->UserData;
    (void)mode;
    if (strncmp(path, "mesh.", 5) != 0) return NULL;
    h->at = 0;
    return &h->file;
}

static void close_held(struct aiFileIO *io, struct aiFile *file) { (void)io, (void)file; }

/* ---- Before assimp ----------------------------------------------------------------------------------------------- */

static const char *const endings[] = {"obj", "off", "ply", "stl"};

static const char *ending_of(const char *path) {
    const char *dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcasecmp(dot + 1, endings[i]) == 0) return endings[i];
    return NULL;
}

/* A PLY header declares the number of each kind of element, and memory is allocated accordingly. */
static pbd_status check_ply_header(const pbd_content *content) {
    const char *end = strstr(content->text, "\nend_header");
    const char *after = end ? end + 11 : "";
    if (*after != '\n' && strncmp(after, "\r\n", 2) != 0)
        return pbd_error(PBD_BAD_INPUT, "%.110s: its header has no end: there is no line end_header", content->path);
    for (const char *line = content->text; line < end; line = strchr(line, '\n') + 1) {
        char what[20] = "";
        double count = 0;
        if (sscanf(line, "element %19s %lf", what, &count) == 2 && !(count >= 0 && count <= (double)content->bytes))
            return pbd_error(PBD_BAD_INPUT, "%.110s: %g cannot be the number of its %s: the file has %zu bytes",
                             content->path, count, what, content->bytes);
    }
    return pbd_ok();
}

/* So does an OFF file, after comments and its first three letters, which need no separator. */
static pbd_status check_off_header(const pbd_content *content) {
    const bool known = strncmp(content->text, "OFF", 3) == 0;
    const char *at = content->text + (known ? 3 : 0);
    double vertices = -1, faces = -1;
    for (at += strspn(at, " \t\r\n"); *at == '#'; at += strspn(at, " \t\r\n")) at += strcspn(at, "\n");
    if (!known || sscanf(at, "%lf %lf", &vertices, &faces) != 2)
        return pbd_error(PBD_BAD_INPUT, "%.110s: it does not begin with OFF and the numbers of vertices and faces",
                         content->path);
    if (vertices >= 0 && faces >= 0 && vertices <= (double)content->bytes && faces <= (double)content->bytes)
        return pbd_ok();
    return pbd_error(PBD_BAD_INPUT, "%.110s: it cannot have %g vertices and %g faces: the file has %zu bytes",
                     content->path, vertices, faces, content->bytes);
}

/* ---- What assimp made of it -------------------------------------------------------------------------------------- */

static void count_all(const struct aiScene *scene, size_t *vertices, size_t *triangles) {
    *vertices = *triangles = 0;
    for (unsigned m = 0; m < scene->mNumMeshes; m++) {
        *vertices += scene->mMeshes[m]->mNumVertices;
        for (unsigned f = 0; f < scene->mMeshes[m]->mNumFaces; f++)
            *triangles += scene->mMeshes[m]->mFaces[f].mNumIndices == 3;
    }
}

static void take_mesh(const struct aiMesh *from, triangle_mesh *out) {
    const uint32_t first = (uint32_t)out->vertices;
    for (unsigned v = 0; v < from->mNumVertices; v++) {
        double *x = out->position + 3 * out->vertices++;
        x[0] = (double)from->mVertices[v].x;
        x[1] = (double)from->mVertices[v].y;
        x[2] = (double)from->mVertices[v].z;
    }
    for (unsigned f = 0; f < from->mNumFaces; f++) {
        const struct aiFace *face = &from->mFaces[f];
        if (face->mNumIndices != 3) continue; /* points and lines bound nothing */
        uint32_t *corner = out->triangle + 3 * out->triangles;
        bool known = true;
        for (int k = 0; k < 3; k++) {
            corner[k] = first + face->mIndices[k];
            known = known && face->mIndices[k] < from->mNumVertices;
        }
        out->triangles += known;
    }
}

static pbd_status take_scene(const struct aiScene *scene, triangle_mesh *out) {
    size_t vertices, triangles;
    count_all(scene, &vertices, &triangles);
    if (vertices >= UINT32_MAX / 4 || triangles >= UINT32_MAX / 4)
        return pbd_error(PBD_BAD_INPUT,
                         "a mesh of %zu vertices and %zu triangles is too large: a thousand million at most", vertices,
                         triangles);
    PBD_TRY_NEW(out->position, 3 * vertices);
    PBD_TRY_NEW(out->triangle, 3 * triangles);
    for (unsigned m = 0; m < scene->mNumMeshes; m++) take_mesh(scene->mMeshes[m], out);
    return pbd_ok();
}

static pbd_status import(const pbd_content *content, const char *ending, triangle_mesh *out) {
    char name[] = "mesh.xyz";
    memcpy(name + 5, ending, 3);
    held_file h = {.bytes = content->text,
                   .size = content->bytes,
                   .file = {.ReadProc = read_held,
                            .WriteProc = write_nothing,
                            .TellProc = tell_held,
                            .FileSizeProc = size_of_held,
                            .SeekProc = seek_held,
                            .FlushProc = flush_nothing}};
    h.file.UserData = (char *)(void *)&h;
    struct aiFileIO io = {open_held, close_held, (char *)(void *)&h};
    const struct aiScene *scene = aiImportFileEx(name, aiProcess_Triangulate, &io);
    if (!scene)
        return pbd_error(PBD_BAD_INPUT, "%.110s: cannot be read as %s: %.150s", content->path, ending,
                         aiGetErrorString());
    const pbd_status status = take_scene(scene, out);
    aiReleaseImport(scene);
    return status;
}

/* ---- In a separate process: on some damaged files assimp loops for ever or crashes ------------------------------- */

#ifdef PBD_FUZZ /* in this process, which takes a tenth of the time; tests/fuzz/README.md tells its faults from ours \
                 */
static pbd_status import_apart(const pbd_content *content, const char *ending, triangle_mesh *out) {
    return import(content, ending, out);
}
#else

typedef struct answer {
    pbd_status status;
    size_t vertices, triangles;
} answer;

static bool write_all(int to, const void *bytes, size_t count) {
    for (const char *at = bytes; count > 0;) {
        const ssize_t done = write(to, at, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        count -= (size_t)done;
    }
    return true;
}

static bool read_all(int from, void *bytes, size_t count) {
    for (char *at = bytes; count > 0;) {
        const ssize_t done = read(from, at, count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) return false;
        at += done;
        count -= (size_t)done;
    }
    return true;
}

/* Seconds of CPU time that a file may take: far more than it needs. */
static rlim_t seconds_for(size_t bytes) { return 10 + bytes / 1000000; }

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

/* A number in a file may request any amount of memory: the limit is far above what a file needs. Sanitizers reserve
 * more than any limit. */
static void limit_memory(size_t bytes) {
#ifdef SANITIZED
    (void)bytes;
#else
    unsigned long long pages = 0; /* data pages that this process already has */
    FILE *about = fopen("/proc/self/statm", "r");
    if (about && fscanf(about, "%*u %*u %*u %*u %*u %llu", &pages) == 1) {
        const rlim_t most = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)1 << 30) + 1000 * (rlim_t)bytes;
        setrlimit(RLIMIT_DATA, &(struct rlimit){most, most});
    }
    if (about) fclose(about);
#endif
}

_Noreturn static void import_and_answer(const pbd_content *content, const char *ending, int to) {
    const struct rlimit cpu = {seconds_for(content->bytes), seconds_for(content->bytes) + 1};
    triangle_mesh mesh = {0};
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* no process would read the answer */
    setrlimit(RLIMIT_CPU, &cpu);
    limit_memory(content->bytes);
    if (!freopen("/dev/null", "w", stderr)) fclose(stderr); /* assimp's assertions print there */
    answer a = {.status = import(content, ending, &mesh)};
    a.vertices = mesh.vertices;
    a.triangles = mesh.triangles;
    const bool sent =
        write_all(to, &a, sizeof a) && (a.status.code != PBD_OK || (write_all(to, mesh.position, 24 * a.vertices) &&
                                                                    write_all(to, mesh.triangle, 12 * a.triangles)));
    _exit(sent ? 0 : 1);
}

static bool take_answer(int from, answer *a, triangle_mesh *out) {
    if (!read_all(from, a, sizeof *a)) return false;
    if (a->status.code != PBD_OK) return true;
    *out = (triangle_mesh){.vertices = a->vertices, .triangles = a->triangles};
    out->position = malloc((3 * a->vertices + 1) * sizeof *out->position);
    out->triangle = malloc((3 * a->triangles + 1) * sizeof *out->triangle);
    if (!out->position || !out->triangle) {
        a->status = pbd_no_memory();
        return true;
    }
    return read_all(from, out->position, 24 * a->vertices) && read_all(from, out->triangle, 12 * a->triangles);
}

static pbd_status import_apart(const pbd_content *content, const char *ending, triangle_mesh *out) {
    int ends[2], how = 0;
    answer a = {0};
    if (pipe2(ends, O_CLOEXEC) != 0) return pbd_error(PBD_FAILED, "no pipe to read a mesh: %s", strerror(errno));
    const pid_t child = fork();
    if (child == 0) import_and_answer(content, ending, ends[1]);
    close(ends[1]);
    const bool answered = child > 0 && take_answer(ends[0], &a, out);
    close(ends[0]);
    while (child > 0 && waitpid(child, &how, 0) < 0 && errno == EINTR) continue;
    if (child < 0) return pbd_error(PBD_FAILED, "no process to read a mesh: %s", strerror(errno));
    if (answered) return a.status;
    if (WIFSIGNALED(how) && (WTERMSIG(how) == SIGXCPU || WTERMSIG(how) == SIGKILL))
        return pbd_error(PBD_BAD_INPUT, "%.110s: damaged: assimp did not finish reading it as %s", content->path,
                         ending);
    return pbd_error(PBD_BAD_INPUT, "%.110s: damaged: assimp crashed while reading it as %s", content->path, ending);
}
#endif

pbd_status triangle_file_read(const pbd_content *content, triangle_mesh *out) {
    const char *ending = ending_of(content->path);
    *out = (triangle_mesh){0};
    if (!ending)
        return pbd_error(PBD_BAD_INPUT,
                         "%.200s: its name must end in .obj, .off, .ply or .stl, which selects the format",
                         content->path);
    if (content->bytes == 0) return pbd_error(PBD_BAD_INPUT, "%.110s: the file is empty", content->path);
    if (strcmp(ending, "ply") == 0) PBD_TRY(check_ply_header(content));
    if (strcmp(ending, "off") == 0) PBD_TRY(check_off_header(content));
    const pbd_status status = import_apart(content, ending, out);
    if (status.code != PBD_OK) triangle_mesh_free(out);
    return status;
}

pbd_status triangle_mesh_read(const pbd_content *content, double unit, triangle_mesh *out) {
    triangle_mesh raw = {0};
    *out = (triangle_mesh){0};
    PBD_TRY(triangle_file_read(content, &raw));
    for (size_t i = 0; i < 3 * raw.vertices; i++) raw.position[i] *= unit;
    const pbd_status status =
        triangle_mesh_make(content->path, raw.vertices, raw.position, raw.triangles, raw.triangle, out);
    triangle_mesh_free(&raw);
    return status;
}
