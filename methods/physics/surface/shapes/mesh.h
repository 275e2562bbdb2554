/* The surface collider_mesh[mesh] of the scene, in its frame. It has no distance formula: mesh_collider.h. */
#if defined(COLLIDER_SHAPE) && !defined(V)
COLLIDER_SHAPE(MESH, mesh)
#elif !defined(V)

static void vertex_bounds(const pbd_collider_mesh *m, double low[3], double high[3]) {
    for (int d = 0; d < 3; d++) low[d] = INFINITY, high[d] = -INFINITY;
    for (size_t i = 0; i < 3 * m->vertices; i++) {
        low[i % 3] = fmin(low[i % 3], m->vertex[i]);
        high[i % 3] = fmax(high[i % 3], m->vertex[i]);
    }
}

static void mesh_extent(const collider_solid *s, double extent[3]) {
    double low[3], high[3];
    vertex_bounds(s->mesh, low, high);
    for (int d = 0; d < 3; d++) extent[d] = fmax(fabs(low[d]), fabs(high[d]));
}

/* Draws the section of the mesh by the plane x_axis = level. */
static pbd_status mesh_cut(const pbd_collider_mesh *m, int axis, double level, const collider_pen *pen) {
    for (size_t t = 0; t < m->triangles; t++) {
        double end[2][3];
        int ends = 0;
        for (size_t k = 0; k < 3 && ends < 2; k++) {
            const double *a = m->vertex + 3 * (size_t)m->triangle[3 * t + k];
            const double *b = m->vertex + 3 * (size_t)m->triangle[3 * t + (k + 1) % 3];
            if ((a[axis] < level) == (b[axis] < level)) continue;
            const double share = (level - a[axis]) / (b[axis] - a[axis]);
            for (int d = 0; d < 3; d++) end[ends][d] = a[d] + share * (b[d] - a[d]);
            ends++;
        }
        if (ends == 2) PBD_TRY(pen->line(pen->to, end[0], end[1]));
    }
    return pbd_ok();
}

/* All edges of up to 200 triangles; otherwise sections by two vertical and four horizontal planes. */
static pbd_status mesh_outline(const collider_solid *s, const collider_pen *pen) {
    const pbd_collider_mesh *m = s->mesh;
    for (size_t i = 0; i < 3 * m->triangles && m->triangles <= 200; i++) {
        const size_t next = i % 3 == 2 ? i - 2 : i + 1;
        PBD_TRY(pen->line(pen->to, m->vertex + 3 * (size_t)m->triangle[i], m->vertex + 3 * (size_t)m->triangle[next]));
    }
    if (m->triangles <= 200) return pbd_ok();
    double low[3], high[3];
    vertex_bounds(m, low, high);
    for (int axis = 0; axis < 2; axis++) PBD_TRY(mesh_cut(m, axis, 0.5 * (low[axis] + high[axis]), pen));
    for (int k = 0; k < 4; k++) PBD_TRY(mesh_cut(m, 2, low[2] + (0.02 + 0.32 * k) * (high[2] - low[2]), pen));
    return pbd_ok();
}

static const collider_shape mesh_shape = {.name = "mesh", .extent = mesh_extent, .outline = mesh_outline};
#endif
