// The shaders. Positions are whole numbers of a run's box, in view space from then on; the eye is at the origin.
(() => {
    'use strict';

    const HEAD = '#version 300 es\nprecision highp float;\nprecision highp int;\n';

    // A point is hidden if all three coordinates are 1. Colours: by a scale of nine stops, or by words.
    const POINT = `
        layout(location = 0) in float x;
        layout(location = 1) in float y;
        layout(location = 2) in float z;
        layout(location = 3) in float value;
        layout(location = 4) in uint word;
        uniform mat4 view, projection;
        uniform vec3 low;
        uniform float size;
        uniform vec2 range;
        uniform vec3 scale[9];
        uniform vec3 words[16];
        uniform bool byWords;
        bool isHidden() { return min(x, min(y, z)) > 0.9999999; }
        vec3 inView() { return (view * vec4(low + size * vec3(x, y, z) * (65535.0 / 65534.0), 1.0)).xyz; }
        vec3 colourOf(float at) {
            float stop = clamp(at, 0.0, 1.0) * 8.0;
            int first = min(int(stop), 7);
            return mix(scale[first], scale[first + 1], stop - float(first));
        }
        vec3 colourOfPoint() { return byWords ? words[int(word) % 16] : colourOf(range.x * value + range.y); }
    `;

    // One lamp at the left and above, light from the sky, and some from the eye.
    const LIGHT = `
        uniform vec3 lamp, sky;
        vec3 lit(vec3 colour, vec3 normal) {
            float light = 0.38 + 0.50 * max(dot(normal, lamp), 0.0) + 0.12 * (0.5 + 0.5 * dot(normal, sky))
                        + 0.16 * max(normal.z, 0.0);
            return min(colour * light, 1.0);
        }
    `;

    // A square before each sphere, across the way to its centre, as large as the sphere is seen.
    const SPHERE_VERTEX = HEAD + POINT + `
        uniform float radius;
        flat out vec3 centre;
        flat out vec3 colour;
        out vec3 at;
        void main() {
            vec2 corner = vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0;
            centre = inView();
            colour = colourOfPoint();
            float away = length(centre);
            vec3 forward = centre / away;
            vec3 across = normalize(cross(forward, vec3(0.0, 1.0, 0.0))), above = cross(across, forward);
            float seen = radius * away / sqrt(max(away * away - radius * radius, 1e-12 * away * away));
            at = centre + 1.15 * seen * (corner.x * across + corner.y * above);
            gl_Position = projection * vec4(at, 1.0);
            if (isHidden() || away <= radius) gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        }
    `;

    // The ray through the pixel meets the sphere. Where that is cut away, the section's face is seen, if it is in it.
    const SPHERE_FRAGMENT = HEAD + LIGHT + `
        uniform mat4 projection;
        uniform float radius;
        uniform vec4 section;
        flat in vec3 centre;
        flat in vec3 colour;
        in vec3 at;
        out vec4 pixel;
        void main() {
            vec3 ray = normalize(at);
            float middle = dot(ray, centre);
            vec3 off = centre - middle * ray;
            float inside = 1.0 - dot(off, off) / (radius * radius);
            float cover = clamp(inside / max(fwidth(inside), 1e-6) + 0.5, 0.0, 1.0);
            if (cover <= 0.0) discard;
            float half_way = radius * sqrt(max(inside, 0.0));
            vec3 point = (middle - half_way) * ray, normal = (point - centre) / radius;
            float rim = 0.78 + 0.22 * clamp(-2.5 * dot(normal, ray), 0.0, 1.0);
            pixel.rgb = lit(colour, normal) * rim;
            if (dot(section.xyz, point) + section.w > 0.0) {
                float cut = -section.w / dot(section.xyz, ray);
                if (!(abs(cut - middle) < half_way)) discard;
                point = cut * ray;
                pixel.rgb = 0.9 * colour;
            }
            vec4 clip = projection * vec4(point, 1.0);
            gl_FragDepth = clamp(0.5 * clip.z / clip.w + 0.5, 0.0, 1.0);
            pixel.a = cover;
        }
    `;

    const FACE_VERTEX = HEAD + POINT + `
        layout(location = 5) in vec3 normal;
        out vec3 at;
        out vec3 smoothNormal;
        out vec3 colour;
        out float gone;
        void main() {
            at = inView();
            smoothNormal = mat3(view) * normal;
            colour = colourOfPoint();
            gone = isHidden() ? 1.0 : 0.0;
            gl_Position = projection * vec4(at, 1.0);
        }
    `;

    // Lit from both sides. The inside of a closed body is seen through a section only, and is flat, so that it looks
    // like the section's face.
    const FACE_FRAGMENT = HEAD + LIGHT + `
        uniform vec4 section;
        uniform bool closed;
        in vec3 at;
        in vec3 smoothNormal;
        in vec3 colour;
        in float gone;
        out vec4 pixel;
        void main() {
            if (gone > 0.0 || dot(section.xyz, at) + section.w > 0.0) discard;
            vec3 flatNormal = normalize(cross(dFdx(at), dFdy(at)));
            if (dot(flatNormal, at) > 0.0) flatNormal = -flatNormal;
            vec3 normal = length(smoothNormal) > 0.0 ? normalize(smoothNormal) : flatNormal;
            if (dot(normal, flatNormal) < 0.0) normal = -normal;
            pixel = vec4(lit(colour, normal), 1.0);
            if (closed && !gl_FrontFacing && section.xyz != vec3(0.0)) pixel.rgb = 0.78 * colour;
        }
    `;

    // Edges of triangles.
    const EDGE_VERTEX = HEAD + POINT + `
        out vec3 at;
        out float gone;
        void main() {
            at = inView();
            gone = isHidden() ? 1.0 : 0.0;
            gl_Position = projection * vec4(at, 1.0);
        }
    `;
    const EDGE_FRAGMENT = HEAD + `
        uniform vec4 section;
        in vec3 at;
        in float gone;
        out vec4 pixel;
        void main() {
            if (gone > 0.0 || dot(section.xyz, at) + section.w > 0.0) discard;
            pixel = vec4(0.0, 0.0, 0.0, 0.35);
        }
    `;

    // Colliders and the section's frame: lines in metres.
    const LINE_VERTEX = HEAD + `
        layout(location = 0) in vec3 place;
        uniform mat4 view, projection;
        void main() { gl_Position = projection * view * vec4(place, 1.0); }
    `;
    const LINE_FRAGMENT = HEAD + `
        uniform vec4 ink;
        out vec4 pixel;
        void main() { pixel = ink; }
    `;

    // A sheet with lines, which ends softly. It hides nothing.
    const GROUND_VERTEX = HEAD + `
        uniform mat4 view, projection;
        uniform vec4 ground;
        out vec2 from_middle;
        void main() {
            from_middle = ground.w * (vec2(gl_VertexID & 1, gl_VertexID >> 1) * 2.0 - 1.0);
            gl_Position = projection * view * vec4(ground.xy + from_middle, ground.z, 1.0);
        }
    `;
    const GROUND_FRAGMENT = HEAD + `
        uniform vec4 ground, ink;
        uniform float grid;
        in vec2 from_middle;
        out vec4 pixel;
        void main() {
            vec2 cell = from_middle / grid, wide = max(fwidth(cell), 1e-6);
            vec2 off = abs(cell - round(cell)) / wide;
            float line = clamp(1.3 - min(off.x, off.y), 0.0, 1.0) * clamp(1.0 - 2.0 * max(wide.x, wide.y), 0.0, 1.0);
            float there = clamp((ground.w - length(from_middle)) / (0.35 * ground.w), 0.0, 1.0);
            pixel = vec4(ink.rgb, there * (0.05 + 0.13 * line));
        }
    `;

    viewer.shaders = {
        sphere: [SPHERE_VERTEX, SPHERE_FRAGMENT],
        face: [FACE_VERTEX, FACE_FRAGMENT],
        edge: [EDGE_VERTEX, EDGE_FRAGMENT],
        line: [LINE_VERTEX, LINE_FRAGMENT],
        ground: [GROUND_VERTEX, GROUND_FRAGMENT],
    };
})();
