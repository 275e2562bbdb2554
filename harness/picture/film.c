#include "harness/picture/film.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "harness/process/child.h"
#include "harness/process/interrupt.h"
#include "harness/process/progress.h"

enum { RATE = 25, WIDTH = 1280, HEIGHT = 720, STRAINS_SEEN = 50 };

struct pbd_film {
    pbd_film_plan plan;
    const pbd_scene *scene;
    const pbd_method *method;
    int file; /* of the spool */
    pbd_spool *spool;
    double interval;  /* s: between frames */
    double *position; /* one state */
};

static const char *ending_of(const char *path) {
    const char *dot = strrchr(path, '.'), *slash = strrchr(path, '/');
    return dot && (!slash || dot > slash) ? dot : "";
}

static bool has_ffmpeg(void) {
    static const char *const ask[] = {"ffmpeg", "-version", NULL};
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    return pbd_child_run(ask, NULL, -1, &child).code == PBD_OK && child.code == 0;
}

pbd_status pbd_film_check(const char *path) {
    const char *ending = ending_of(path);
    if (strcmp(ending, ".mp4") != 0 && strcmp(ending, ".webm") != 0 && strcmp(ending, ".gif") != 0)
        return pbd_error(PBD_BAD_INPUT, "a film '%.200s' must end in .mp4, .webm or .gif", path);
    FILE *file = fopen(path, "ab");
    if (!file) return pbd_error(PBD_BAD_INPUT, "cannot write the film '%.200s': %s", path, strerror(errno));
    const bool empty = ftell(file) == 0;
    fclose(file);
    if (empty) remove(path);
    if (has_ffmpeg()) return pbd_ok();
    return pbd_error(PBD_NOT_SUPPORTED, "a film needs the program ffmpeg: install the package ffmpeg");
}

pbd_status pbd_film_open(const pbd_film_plan *plan, const pbd_scene *scene, const pbd_method *method, pbd_film **out) {
    *out = NULL;
    if (!(scene->duration > 0) || scene->solved)
        return pbd_error(PBD_BAD_INPUT,
                         "this run is a static solve, of which there is no film: --snapshots 2 shows its "
                         "start and its end");
    pbd_film *f = calloc(1, sizeof *f);
    if (!f) return pbd_no_memory();
    *f = (pbd_film){.plan = *plan, .scene = scene, .method = method};
    f->interval = 1 / (RATE * (plan->slow > 0 ? plan->slow : 1));
    pbd_status status = pbd_spool_file(plan->path, &f->file);
    if (status.code == PBD_OK)
        status = pbd_spool_begin(&(pbd_spool_plan){.file = f->file, .interval = f->interval}, scene, method, &f->spool);
    f->position = malloc((3 * scene->particles.count + 1) * sizeof *f->position);
    if (status.code == PBD_OK && !f->position) status = pbd_no_memory();
    if (status.code == PBD_OK)
        *out = f;
    else
        pbd_film_close(f);
    return status;
}

void pbd_film_close(pbd_film *f) {
    if (!f) return;
    pbd_spool_close(f->spool);
    if (f->file) close(f->file);
    free(f->position);
    free(f);
}

pbd_spool *pbd_film_spool(pbd_film *f) { return f->spool; }

/* Into f->position. */
static pbd_status read_back(pbd_film *f, size_t index) {
    return pbd_spool_read(f->spool, index, PBD_POSITIONS, f->position);
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static pbd_status see_all(pbd_film *f, pbd_album *a) {
    const size_t states = pbd_spool_states(f->spool);
    const size_t stride = a->colour == PBD_COLOUR_STRAIN ? states / STRAINS_SEEN + 1 : 1;
    for (size_t i = 0; i < states; i++) {
        if (i % stride != 0 && i + 1 != states) continue;
        PBD_TRY(read_back(f, i));
        PBD_TRY(pbd_album_see(a, f->position));
    }
    pbd_album_look(a, HEIGHT);
    return pbd_ok();
}

static bool send_image(int socket, const pbd_image *image) {
    const unsigned char *at = image->pixel, *end = at + 3 * (size_t)image->width * (size_t)image->height;
    while (at < end) {
        const ssize_t sent = send(socket, at, (size_t)(end - at), MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR && !pbd_interrupted()) continue;
        if (sent <= 0) return false;
        at += sent;
    }
    return true;
}

static pbd_status draw_state(pbd_film *f, pbd_album *a, size_t index, pbd_image *image) {
    pbd_image_free(image);
    PBD_TRY(read_back(f, index));
    return pbd_album_draw(a, f->position, pbd_spool_time(f->spool, index), image);
}

/* Each frame shows the last state at or before its time. ffmpeg that stops listening says why at its end. */
static pbd_status draw_frames(pbd_film *f, pbd_album *a, int socket) {
    const size_t states = pbd_spool_states(f->spool);
    const size_t frames = (size_t)floor(pbd_spool_time(f->spool, states - 1) / f->interval + 1e-6) + 1;
    pbd_progress progress;
    pbd_status status = pbd_ok();
    pbd_image image PBD_CLEANUP(pbd_image_free) = {0};
    size_t at = 0, drawn = SIZE_MAX; /* steps may be longer than frames */
    pbd_progress_begin(&progress, f->plan.quiet);
    for (size_t k = 0; k < frames && status.code == PBD_OK; k++) {
        while (at + 1 < states && pbd_spool_time(f->spool, at + 1) <= ((double)k + 1e-6) * f->interval) at++;
        if (at != drawn) status = draw_state(f, a, at, &image);
        drawn = at;
        if (status.code == PBD_OK && !send_image(socket, &image)) break;
        pbd_progress_show(&progress, k + 1, frames, true, "frames of the film");
    }
    pbd_progress_end(&progress);
    return status;
}

/* The words of ffmpeg: raw pictures from its standard input, and a codec that players and browsers know. */
static void spell(const char *path, const char *size, const char *word[40]) {
    static const char *const input[] = {"ffmpeg",   "-loglevel",     "error", "-y", "-f",
                                        "rawvideo", "-pixel_format", "rgb24", NULL};
    static const char *const mp4[] = {"-c:v",    "libx264",   "-crf",       "18", "-pix_fmt",
                                      "yuv420p", "-movflags", "+faststart", NULL};
    static const char *const webm[] = {"-c:v", "libvpx-vp9", "-crf", "28", "-b:v", "0", "-pix_fmt", "yuv420p", NULL};
    static const char *const gif[] = {"-vf", "split[a][b];[a]palettegen[p];[b][p]paletteuse", NULL};
    const char *ending = ending_of(path);
    const char *const *codec = strcmp(ending, ".mp4") == 0 ? mp4 : strcmp(ending, ".webm") == 0 ? webm : gif;
    size_t n = 0;
    for (size_t i = 0; input[i]; i++) word[n++] = input[i];
    for (size_t i = 0; i < 6; i++)
        word[n++] = (const char *const[]){"-video_size", size, "-framerate", "25", "-i", "-"}[i];
    for (size_t i = 0; codec[i]; i++) word[n++] = codec[i];
    word[n++] = path;
    word[n] = NULL;
}

static pbd_status shoot(pbd_film *f, pbd_album *a) {
    const char *word[40];
    char size[40], said[200];
    const pbd_child_place place = {.core = -1, .talk = true};
    pbd_child_process process;
    pbd_child child PBD_CLEANUP(pbd_child_free) = {0};
    char file[4100]; /* a name that begins with a dash is no option */
    snprintf(file, sizeof file, "%s%s", *f->plan.path == '-' ? "./" : "", f->plan.path);
    snprintf(size, sizeof size, "%dx%d", a->width, a->height);
    spell(file, size, word);
    PBD_TRY(pbd_child_start(word, &place, &process));
    pbd_status status = draw_frames(f, a, process.talk);
    shutdown(process.talk, SHUT_WR);
    const pbd_status ended = pbd_child_finish(&process, &child);
    PBD_TRY(status);
    PBD_TRY(ended);
    if (child.code == 0) return pbd_ok();
    pbd_last_words(child.err, said, sizeof said);
    return pbd_error(PBD_FAILED, "ffmpeg wrote no film '%.200s' (exit %d): %s", f->plan.path, child.code, said);
}

pbd_status pbd_film_write(pbd_film *f) {
    pbd_album a PBD_CLEANUP(pbd_album_close) = {0};
    if (pbd_spool_states(f->spool) == 0) return pbd_ok();
    PBD_TRY(pbd_album_open(f->scene, f->method, f->plan.colour, f->plan.strain_scale, WIDTH, &a));
    PBD_TRY(see_all(f, &a));
    return shoot(f, &a);
}
