/* Radius half[0]. */
#if defined(COLLIDER_SHAPE)
COLLIDER_SHAPE(SPHERE, sphere)
#elif defined(V)

PBD_FN V(collider_gap) V(sphere_gap)(const real half[3], V(vec3) x) {
    return V(gap_from_middle)(x, half[0], vec3_make(0, 0, 1));
}

#else

static void sphere_extent(const collider_solid *s, double extent[3]) { extent[0] = extent[1] = extent[2] = s->half[0]; }

static pbd_status sphere_outline(const collider_solid *s, const collider_pen *pen) {
    for (int axis = 0; axis < 3; axis++) PBD_TRY(draw_circle(pen, axis, (double[3]){0, 0, 0}, s->half[0]));
    return pbd_ok();
}

static const collider_shape sphere_shape = {
    .name = "sphere", .size = {{"radius", 0, ABOVE_0}}, .extent = sphere_extent, .outline = sphere_outline};
#endif
