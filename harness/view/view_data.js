// The runs of the page, and their states: inflated and put together from differences, as harness/view/pack.h has them.
const viewer = {};
(() => {
    'use strict';

    const HIDDEN = 65535, BY_MOTION = 1, BY_NEIGHBOUR = 2;

    const bytesFromBase64 = text => {
        if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
        const coded = atob(text);
        const bytes = new Uint8Array(coded.length);
        for (let i = 0; i < bytes.length; i++) bytes[i] = coded.charCodeAt(i);
        return bytes;
    };

    // The block is taken out of the page, which would hold it twice else.
    const inflate = async id => {
        const block = document.getElementById(id);
        const bytes = bytesFromBase64(block.textContent);
        block.remove();
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
        return new Uint8Array(await new Response(stream).arrayBuffer());
    };

    const floats = bytes => new Float32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);

    // Numbers wrap at 2^16 here as they did when the differences were taken: a Uint16Array does it.
    const positionsOf = (run, raw, index) => {
        const n = run.points, now = new Uint16Array(3 * n), mode = run.modes[index];
        const before = index > 0 ? run.states[index - 1].position : new Uint16Array(3 * n);
        const longAgo = index > 1 ? run.states[index - 2].position : before;
        for (let axis = 0; axis < 3; axis++) {
            const low = 2 * axis * n, high = low + n;
            let sum = 0;
            for (let i = 0; i < n; i++) {
                const kept = raw[low + i] | raw[high + i] << 8, k = axis * n + i;
                const difference = kept & 1 ? -(kept + 1 >> 1) : kept >> 1;
                sum = mode & BY_NEIGHBOUR ? sum + difference & 65535 : difference;
                now[k] = sum + (mode & BY_MOTION ? 2 * before[k] - longAgo[k] : before[k]);
            }
        }
        return now;
    };

    const fieldsOf = (run, raw, index) => run.fields.map((field, f) => {
        const n = run.points, now = raw.slice((6 + f) * n, (7 + f) * n);
        if (index > 0) {
            const before = run.states[index - 1].fields[f];
            for (let i = 0; i < n; i++) now[i] += before[i];
        }
        return now;
    });

    const readState = async (run, index) => {
        const raw = await inflate(`r${run.index}-s${index}`);
        const changed = run.lines[index] >= 0;
        const lines = !changed ? run.states[index - 1].lines
            : run.lines[index] === 0 ? new Float32Array(0)
            : floats(await inflate(`r${run.index}-l${index}`));
        run.states.push({position: positionsOf(run, raw, index), fields: fieldsOf(run, raw, index), lines});
    };

    // What is the same in all states: the matter and the body of each point; the triangles, of corners, which are
    // points or, where the body has an edge, one of several at a point; and the point of each corner.
    const readRun = async run => {
        const still = await inflate(`r${run.index}-still`), n = run.points;
        run.matterOf = still.slice(0, n);
        run.bodyOf = still.slice(n, 2 * n);
        const indices = new Uint32Array(still.slice(2 * n).buffer);
        run.face = indices.slice(0, 3 * run.triangles);
        run.corner = indices.slice(3 * run.triangles);
        run.triangle = run.face.map(corner => run.corner[corner]);
    };

    // Of point i in a state: whether it is outside the box, and where it is, in metres.
    viewer.hidden = (run, index, i) => [0, 1, 2].every(d => run.states[index].position[d * run.points + i] === HIDDEN);
    viewer.place = (run, index, i) =>
        [0, 1, 2].map(d => run.low[d] + run.size * run.states[index].position[d * run.points + i] / (HIDDEN - 1));

    // The colours' meanings that the page offers, with one range over all runs and states.
    const collectFields = () => {
        const fields = new Map();
        for (const run of viewer.runs)
            for (const field of run.fields) {
                const known = fields.get(field.name);
                const low = Math.min(field.low, known ? known.low : Infinity);
                const high = Math.max(field.high, known ? known.high : -Infinity);
                const title = field.title[0].toUpperCase() + field.title.slice(1);
                fields.set(field.name, {...field, title, kind: 'scale', low, high, shownLow: low, shownHigh: high});
            }
        const words = (name, title, listOf) => {
            const list = [];
            for (const run of viewer.runs)
                for (const word of listOf(run)) if (!list.some(known => known.name === word.name)) list.push(word);
            if (list.length > 0) fields.set(name, {name, title, kind: 'words', words: list, listOf});
        };
        words('matter', 'Matter', run => run.matter);
        words('body', 'Body', run => run.bodies);
        return fields;
    };

    viewer.load = () => {
        const page = JSON.parse(document.getElementById('runs').textContent);
        viewer.palette = page.palette;
        viewer.colour = page.colour;
        viewer.runs = page.runs.map((run, index) => ({...run, index, states: []}));
        viewer.fields = collectFields();
    };

    // Reads all states, those of all runs in step; `each` is called whenever one more is there.
    viewer.readStates = async each => {
        for (const run of viewer.runs) await readRun(run);
        const most = Math.max(...viewer.runs.map(run => run.times.length));
        for (let index = 0; index < most; index++) {
            for (const run of viewer.runs) if (index < run.times.length) await readState(run, index);
            each((index + 1) / most);
        }
    };
})();
