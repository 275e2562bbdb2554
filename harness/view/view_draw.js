// Drawing: one canvas, a pane for each run.
(() => {
    'use strict';

    const draw = {section: null, flip: false, mesh: false};
    let gl, programs;

    const compile = (kind, source) => {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, source);
        gl.compileShader(shader);
        if (!gl.getShaderParameter(shader, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(shader));
        return shader;
    };

    const link = ([vertex, fragment]) => {
        const program = gl.createProgram(), place = {};
        gl.attachShader(program, compile(gl.VERTEX_SHADER, vertex));
        gl.attachShader(program, compile(gl.FRAGMENT_SHADER, fragment));
        gl.linkProgram(program);
        if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
        for (let i = 0; i < gl.getProgramParameter(program, gl.ACTIVE_UNIFORMS); i++) {
            const name = gl.getActiveUniform(program, i).name.replace('[0]', '');
            place[name] = gl.getUniformLocation(program, name);
        }
        return {program, place};
    };

    // ---- What is on the GPU: of each run the state and the field that are shown

    const fill = (buffer, target, data) => {
        gl.bindBuffer(target, buffer);
        gl.bufferData(target, data, gl.DYNAMIC_DRAW);
    };

    // Each edge once, without the diagonals of square faces, whose two triangles are 0 1 2 and 0 2 3.
    const edgesOf = run => {
        const seen = new Set(), edges = [];
        for (let t = 0; t < run.triangle.length / 3; t++)
            for (let k = 0; k < 3; k++) {
                if (run.quads && k === (t % 2 ? 0 : 2)) continue;
                const a = run.triangle[3 * t + k], b = run.triangle[3 * t + (k + 1) % 3];
                const key = Math.min(a, b) * run.points + Math.max(a, b);
                if (seen.has(key)) continue;
                seen.add(key);
                edges.push(a, b);
            }
        return new Uint32Array(edges);
    };

    // The normal of each triangle, as long as twice its area.
    const facesOf = (run, position) => {
        const n = run.points, triangle = run.triangle, normal = new Float32Array(triangle.length), e = [], f = [];
        for (let t = 0; t < triangle.length; t += 3) {
            for (let d = 0; d < 3; d++) {
                e[d] = position[d * n + triangle[t + 1]] - position[d * n + triangle[t]];
                f[d] = position[d * n + triangle[t + 2]] - position[d * n + triangle[t]];
            }
            for (let d = 0; d < 3; d++)
                normal[t + d] = e[(d + 1) % 3] * f[(d + 2) % 3] - e[(d + 2) % 3] * f[(d + 1) % 3];
        }
        return normal;
    };

    // Means over the triangles at each corner, weighted by area.
    const normalsOf = (run, position) => {
        const normal = facesOf(run, position), sum = new Float32Array(3 * run.corner.length);
        for (let k = 0; k < run.face.length; k++)
            for (let d = 0; d < 3; d++) sum[3 * run.face[k] + d] += normal[k - k % 3 + d];
        for (let i = 0; i < sum.length; i += 3) {
            const length = Math.hypot(sum[i], sum[i + 1], sum[i + 2]) || 1;
            for (let d = 0; d < 3; d++) sum[i + d] /= length;
        }
        return sum;
    };

    // What points have, for each corner; `planes`: 3 of positions.
    const atCorners = (run, data, planes = 1) => {
        const count = run.corner.length, out = new data.constructor(planes * count);
        for (let plane = 0; plane < planes; plane++)
            for (let k = 0; k < count; k++) out[plane * count + k] = data[plane * run.points + run.corner[k]];
        return out;
    };

    const makeRun = run => {
        const names = ['position', 'value', 'word', 'corners', 'cornerValue', 'cornerWord', 'normal', 'face', 'edge',
            'lines'];
        run.buffer = Object.fromEntries(names.map(name => [name, gl.createBuffer()]));
        run.spheresArray = gl.createVertexArray();
        run.facesArray = gl.createVertexArray();
        run.edgesArray = gl.createVertexArray();
        run.linesArray = gl.createVertexArray();
        const points = (count, each, position, value, word) => {
            for (let axis = 0; axis < 3; axis++) {
                gl.bindBuffer(gl.ARRAY_BUFFER, position);
                gl.enableVertexAttribArray(axis);
                gl.vertexAttribPointer(axis, 1, gl.UNSIGNED_SHORT, true, 2, 2 * axis * count);
                gl.vertexAttribDivisor(axis, each);
            }
            gl.bindBuffer(gl.ARRAY_BUFFER, value);
            gl.enableVertexAttribArray(3);
            gl.vertexAttribPointer(3, 1, gl.UNSIGNED_BYTE, true, 1, 0);
            gl.vertexAttribDivisor(3, each);
            gl.bindBuffer(gl.ARRAY_BUFFER, word);
            gl.enableVertexAttribArray(4);
            gl.vertexAttribIPointer(4, 1, gl.UNSIGNED_BYTE, 1, 0);
            gl.vertexAttribDivisor(4, each);
        };
        const {position, value, word, corners, cornerValue, cornerWord} = run.buffer;
        gl.bindVertexArray(run.spheresArray);
        points(run.points, 1, position, value, word);
        gl.bindVertexArray(run.edgesArray);
        points(run.points, 0, position, value, word);
        fill(run.buffer.edge, gl.ELEMENT_ARRAY_BUFFER, run.edges = edgesOf(run));
        gl.bindVertexArray(run.facesArray);
        points(run.corner.length, 0, corners, cornerValue, cornerWord);
        gl.bindBuffer(gl.ARRAY_BUFFER, run.buffer.normal);
        gl.enableVertexAttribArray(5);
        gl.vertexAttribPointer(5, 3, gl.FLOAT, false, 0, 0);
        fill(run.buffer.face, gl.ELEMENT_ARRAY_BUFFER, run.face);
        gl.bindVertexArray(run.linesArray);
        gl.bindBuffer(gl.ARRAY_BUFFER, run.buffer.lines);
        gl.enableVertexAttribArray(0);
        gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 0, 0);
        gl.bindVertexArray(null);
    };

    const wordsOf = (run, field) => {
        const place = field.listOf(run).map(word => field.words.findIndex(other => other.name === word.name));
        return (field.name === 'matter' ? run.matterOf : run.bodyOf).map(k => place[k % place.length] % 16);
    };

    const upload = (run, index, field) => {
        if (run.shown === index && run.shownField === field) return;
        const state = run.states[index], f = run.fields.findIndex(other => other.name === field.name);
        if (run.shown !== index) {
            fill(run.buffer.position, gl.ARRAY_BUFFER, state.position);
            fill(run.buffer.lines, gl.ARRAY_BUFFER, state.lines);
            fill(run.buffer.corners, gl.ARRAY_BUFFER, atCorners(run, state.position, 3));
            fill(run.buffer.normal, gl.ARRAY_BUFFER, normalsOf(run, state.position));
        }
        const value = f >= 0 ? state.fields[f] : new Uint8Array(run.points);
        fill(run.buffer.value, gl.ARRAY_BUFFER, value);
        fill(run.buffer.cornerValue, gl.ARRAY_BUFFER, atCorners(run, value));
        if (run.shownField !== field) {
            const word = field.kind === 'words' ? wordsOf(run, field) : new Uint8Array(run.points);
            fill(run.buffer.word, gl.ARRAY_BUFFER, word);
            fill(run.buffer.cornerWord, gl.ARRAY_BUFFER, atCorners(run, word));
        }
        run.shown = index;
        run.shownField = field;
    };

    // ---- One pane

    const use = (name, view, projection) => {
        const {program, place} = programs[name];
        gl.useProgram(program);
        gl.uniformMatrix4fv(place.view, false, view);
        gl.uniformMatrix4fv(place.projection, false, projection);
        return place;
    };

    const turned = (view, v) => [0, 1, 2].map(row => view[row] * v[0] + view[4 + row] * v[1] + view[8 + row] * v[2]);

    // The plane in view space, its normal towards what is cut away; zeros: nothing is.
    const sectionInView = view => {
        const cut = viewer.cut();
        if (!cut) return [0, 0, 0, 0];
        const normal = turned(view, cut.normal), origin = [view[12], view[13], view[14]];
        return [...normal, -cut.offset - normal.reduce((sum, x, d) => sum + x * origin[d], 0)];
    };

    const setPoints = (place, run, field, view) => {
        const own = run.fields.find(other => other.name === field.name);
        gl.uniform3fv(place.low, run.low);
        gl.uniform1f(place.size, run.size);
        gl.uniform4fv(place.section, sectionInView(view));
        if (place.lamp) {
            gl.uniform3fv(place.lamp, [-0.42, 0.68, 0.6]);
            gl.uniform3fv(place.sky, turned(view, [0, 0, 1]));
        }
        if (place.byWords) gl.uniform1i(place.byWords, field.kind === 'words' ? 1 : 0);
        if (field.kind === 'words') {
            if (place.words) gl.uniform3fv(place.words, field.words.slice(0, 16).flatMap(word => word.rgb));
        } else if (own) {
            const span = field.shownHigh - field.shownLow || 1;
            gl.uniform2f(place.range, (own.high - own.low) / span, (own.low - field.shownLow) / span);
        } else {
            gl.uniform2f(place.range, 0, 0);
        }
        if (place.scale) gl.uniform3fv(place.scale, viewer.palette.flat());
    };

    const drawGround = (run, view, projection, ink) => {
        if (!run.ground) return;
        const place = use('ground', view, projection);
        gl.uniform4fv(place.ground, run.ground.place);
        gl.uniform1f(place.grid, run.ground.grid);
        gl.uniform4fv(place.ink, ink);
        gl.bindVertexArray(null);
        gl.depthMask(false);
        gl.enable(gl.BLEND);
        gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
        gl.depthMask(true);
        gl.disable(gl.BLEND);
    };

    const drawLines = (run, count, view, projection, ink) => {
        const place = use('line', view, projection);
        gl.uniform4fv(place.ink, ink);
        gl.bindVertexArray(run.linesArray);
        gl.enable(gl.BLEND);
        gl.drawArrays(gl.LINES, 0, count);
        gl.disable(gl.BLEND);
    };

    // Where the plane goes through the box of the view.
    const drawSection = (run, view, projection, ink) => {
        const cut = viewer.cut();
        if (!cut) return;
        fill(run.buffer.lines, gl.ARRAY_BUFFER, new Float32Array(viewer.cutFrame(cut).flat()));
        drawLines(run, 8, view, projection, ink);
        fill(run.buffer.lines, gl.ARRAY_BUFFER, run.states[run.shown].lines);
    };

    const drawBodies = (run, field, view, projection) => {
        if (run.spheres > 0) {
            const place = use('sphere', view, projection);
            setPoints(place, run, field, view);
            gl.uniform1f(place.radius, run.radius);
            gl.bindVertexArray(run.spheresArray);
            gl.enable(gl.SAMPLE_ALPHA_TO_COVERAGE);
            gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, run.spheres);
            gl.disable(gl.SAMPLE_ALPHA_TO_COVERAGE);
        }
        if (run.triangle.length === 0) return;
        const place = use('face', view, projection);
        setPoints(place, run, field, view);
        gl.uniform1i(place.closed, run.closed ? 1 : 0);
        gl.bindVertexArray(run.facesArray);
        gl.enable(gl.POLYGON_OFFSET_FILL);
        gl.drawElements(gl.TRIANGLES, run.triangle.length, gl.UNSIGNED_INT, 0);
        gl.disable(gl.POLYGON_OFFSET_FILL);
        if (!draw.mesh) return;
        setPoints(use('edge', view, projection), run, field, view);
        gl.bindVertexArray(run.edgesArray);
        gl.enable(gl.BLEND);
        gl.drawElements(gl.LINES, run.edges.length, gl.UNSIGNED_INT, 0);
        gl.disable(gl.BLEND);
    };

    // ---- The picture

    // Three numbers in [0, 1] of a colour of the style sheet, which is written #rrggbb.
    const styled = name => {
        const text = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
        return [1, 3, 5].map(k => parseInt(text.slice(k, k + 2), 16) / 255);
    };

    draw.start = canvas => {
        gl = canvas.getContext('webgl2', {antialias: true, alpha: false});
        if (!gl) return false;
        programs = Object.fromEntries(Object.entries(viewer.shaders).map(([name, source]) => [name, link(source)]));
        gl.enable(gl.DEPTH_TEST);
        gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
        gl.polygonOffset(1, 1);
        draw.canvas = canvas;
        return true;
    };

    draw.makeRuns = () => viewer.runs.forEach(makeRun);

    // How many panes are beside each other: as near to a square each as can be.
    draw.columns = () => {
        const {clientWidth, clientHeight} = draw.canvas, runs = viewer.runs.length;
        let best = 1, most = 0;
        for (let columns = 1; columns <= runs; columns++) {
            const side = Math.min(clientWidth / columns, clientHeight / Math.ceil(runs / columns));
            if (side > most * 1.001) [best, most] = [columns, side];
        }
        return best;
    };

    draw.paneHeight = () => draw.canvas.clientHeight / Math.ceil(viewer.runs.length / draw.columns()) || 1;
    draw.paneAspect = () => draw.canvas.clientWidth / draw.columns() / draw.paneHeight() || 1;

    // `shown`: the state of each run.
    draw.picture = (shown, field) => {
        const {canvas} = draw, scale = window.devicePixelRatio || 1;
        const width = Math.round(canvas.clientWidth * scale), height = Math.round(canvas.clientHeight * scale);
        if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
        const back = styled('--back'), ink = styled('--ink'), columns = draw.columns();
        const rows = Math.ceil(viewer.runs.length / columns);
        const view = viewer.camera.view(), projection = viewer.camera.projection(draw.paneAspect());
        gl.viewport(0, 0, width, height);
        gl.clearColor(...back, 1);
        gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
        viewer.runs.forEach((run, k) => {
            const column = k % columns;
            const left = Math.round(width * column / columns), right = Math.round(width * (column + 1) / columns);
            const row = rows - 1 - Math.floor(k / columns);
            const low = Math.round(height * row / rows), high = Math.round(height * (row + 1) / rows);
            gl.viewport(left, low, right - left, high - low);
            upload(run, shown[k], field);
            drawGround(run, view, projection, [...ink, 1]);
            drawBodies(run, field, view, projection);
            drawLines(run, run.states[shown[k]].lines.length / 3, view, projection, [...ink, 0.4]);
            drawSection(run, view, projection, [...styled('--link'), 0.8]);
        });
        gl.bindVertexArray(null);
    };

    viewer.draw = draw;
})();
