// The camera: it turns about a point, z is up. One for all runs. Matrices are column-major, as WebGL has them.
(() => {
    'use strict';

    const FIELD_OF_VIEW = 25 * Math.PI / 180;
    const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];

    const camera = {yaw: 0, pitch: 0, distance: 1, target: [0, 0, 0], size: 1};

    // Unit vectors of the picture: to the right, up, and towards the eye.
    camera.axes = () => {
        const {cos, sin} = Math, {yaw, pitch} = camera;
        const [cy, sy, cp, sp] = [cos(yaw), sin(yaw), cos(pitch), sin(pitch)];
        return {right: [cy, sy, 0], up: [-sy * sp, cy * sp, cp], towards: [sy * cp, -cy * cp, sp]};
    };

    camera.eye = () => {
        const {towards} = camera.axes();
        return camera.target.map((x, d) => x + camera.distance * towards[d]);
    };

    camera.view = () => {
        const {right, up, towards} = camera.axes(), eye = camera.eye();
        return [right[0], up[0], towards[0], 0, right[1], up[1], towards[1], 0, right[2], up[2], towards[2], 0,
            -dot(right, eye), -dot(up, eye), -dot(towards, eye), 1];
    };

    camera.projection = aspect => {
        const near = Math.max(camera.distance - 4 * camera.size, 0.01 * camera.distance);
        const far = camera.distance + 8 * camera.size;
        const focus = 1 / Math.tan(FIELD_OF_VIEW / 2);
        return [focus / aspect, 0, 0, 0, 0, focus, 0, 0, 0, 0, (near + far) / (near - far), -1,
            0, 0, 2 * near * far / (near - far), 0];
    };

    // So far away that these points, with a margin, fill a pane of this aspect but for its head, a part of its height.
    camera.fit = (points, margin, aspect, head) => {
        const {right, up, towards} = camera.axes(), slope = Math.tan(FIELD_OF_VIEW / 2) / 1.04;
        const low = [Infinity, Infinity], high = [-Infinity, -Infinity];
        for (const point of points)
            [right, up].forEach((axis, k) => {
                low[k] = Math.min(low[k], dot(point, axis));
                high[k] = Math.max(high[k], dot(point, axis));
            });
        const inFront = points.reduce((sum, point) => sum + dot(point, towards) / points.length, 0);
        camera.target = [0, 1, 2].map(d => (low[0] + high[0]) / 2 * right[d] + (low[1] + high[1]) / 2 * up[d]
            + inFront * towards[d]);
        camera.distance = 0.1 * camera.size;
        for (const point of points) {
            const at = point.map((x, d) => x - camera.target[d]);
            const half = margin + Math.max(Math.abs(dot(at, right)) / aspect, Math.abs(dot(at, up)) / (1 - head));
            camera.distance = Math.max(camera.distance, half / slope + dot(at, towards));
        }
        const rise = head * camera.distance * Math.tan(FIELD_OF_VIEW / 2);
        camera.target = camera.target.map((x, d) => x + rise * up[d]);
    };

    camera.lookFrom = towards => {
        camera.yaw = Math.hypot(towards[0], towards[1]) > 1e-6 ? Math.atan2(towards[0], -towards[1]) : 0;
        camera.pitch = Math.asin(Math.max(-1, Math.min(1, towards[2])));
    };

    camera.turn = (across, along) => {
        camera.yaw -= across;
        camera.pitch = Math.max(-Math.PI / 2, Math.min(Math.PI / 2, camera.pitch + along));
    };

    // By parts of a pane's height: what is under the pointer stays under it.
    camera.move = (across, along) => {
        const {right, up} = camera.axes(), metres = 2 * camera.distance * Math.tan(FIELD_OF_VIEW / 2);
        camera.target = camera.target.map((x, d) => x - metres * (across * right[d] - along * up[d]));
    };

    camera.zoom = factor => {
        camera.distance = Math.max(0.02 * camera.size, Math.min(40 * camera.size, camera.distance * factor));
    };

    viewer.camera = camera;
})();
