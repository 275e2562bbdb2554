#include "harness/picture/ply.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void write_head(FILE *file, const ply_state *s) {
    fprintf(file,
            "ply\nformat binary_little_endian 1.0\ncomment written by pbdbench; metres, seconds\nelement vertex %zu\n"
            "property double x\nproperty double y\nproperty double z\n",
            s->particles);
    if (s->velocity) fputs("property float vx\nproperty float vy\nproperty float vz\n", file);
    fputs("property float strain\nproperty int body\n", file);
    if (s->triangles > 0) fprintf(file, "element face %zu\nproperty list uchar int vertex_indices\n", s->triangles);
    fputs("end_header\n", file);
}

static void write_floats(FILE *file, const double *x, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const float rounded = (float)x[i];
        fwrite(&rounded, sizeof rounded, 1, file);
    }
}

pbd_status ply_write(const char *path, const ply_state *s) {
    FILE *file = fopen(path, "wb");
    if (!file) return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
    write_head(file, s);
    for (size_t i = 0; i < s->particles; i++) {
        fwrite(s->position + 3 * i, sizeof *s->position, 3, file);
        if (s->velocity) write_floats(file, s->velocity + 3 * i, 3);
        write_floats(file, s->strain + i, 1);
        fwrite(s->body + i, sizeof *s->body, 1, file);
    }
    for (size_t t = 0; t < s->triangles; t++) {
        fputc(3, file);
        fwrite(s->triangle + 3 * t, sizeof *s->triangle, 3, file);
    }
    const bool bad = ferror(file) != 0;
    if (fclose(file) == 0 && !bad) return pbd_ok();
    return pbd_error(PBD_FAILED, "cannot write %.250s: %s", path, strerror(errno));
}
