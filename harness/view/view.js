// The page: its controls, its clock, and what keys, pointers and the address set. Runs are drawn by view_draw.js.
(() => {
    'use strict';

    const at = id => document.getElementById(id);
    const {camera, draw} = viewer;
    const canvas = at('canvas'), slider = at('time'), still = matchMedia('(prefers-reduced-motion: reduce)');
    const clock = {steps: 1, end: 0, step: 0, playing: false, speed: 1, begun: 0, from: 0, loaded: 0};
    let field = null, waiting = false, low = [0, 0, 0], high = [1, 1, 1];

    const element = (name, text, className) => {
        const made = document.createElement(name);
        if (text !== undefined) made.textContent = text;
        if (className) made.className = className;
        return made;
    };

    const spell = x => {
        if (x !== 0 && (Math.abs(x) >= 1e5 || Math.abs(x) < 1e-3)) return x.toExponential(2).replace(/\.?0+e/, 'e');
        return String(Number(x.toPrecision(4)));
    };

    const fail = sentence => {
        at('trouble').textContent = sentence;
        at('trouble').hidden = false;
    };

    // ---- The clock: as many steps as the longest run has states; each run shows its last state at or before the time

    const timesOf = run => run.times.every(time => time !== null) && !clock.still ? run.times
        : run.times.map((_, k) => run.times.length > 1 ? k / (run.times.length - 1) : 0);

    const makeClock = () => {
        clock.still = viewer.runs.some(run => run.times.includes(null)); // a solve has no time, but a start and an end
        viewer.runs.forEach(run => run.at = timesOf(run));
        clock.steps = Math.max(...viewer.runs.map(run => run.times.length));
        clock.end = Math.max(...viewer.runs.map(run => run.at[run.at.length - 1]));
        slider.max = clock.steps - 1;
    };

    const timeOf = step => clock.steps > 1 ? clock.end * step / (clock.steps - 1) : 0;

    // Rounding of times must not cost a state: by a hundredth of a step.
    const stateAt = (run, time) => {
        const late = time + 0.01 * timeOf(1);
        let index = 0;
        while (index + 1 < run.states.length && run.at[index + 1] <= late) index++;
        return index;
    };

    const spellNow = () => {
        if (clock.still && clock.steps === 2) return clock.step === 0 ? 'start' : 'end';
        if (clock.still) return `${clock.step + 1} of ${clock.steps}`;
        return `${spell(timeOf(clock.step))} s of ${spell(clock.end)} s`;
    };

    // ---- The section: a plane with its normal towards what is cut away

    viewer.cut = () => {
        if (!draw.section) return null;
        const normal = draw.section.map(x => draw.flip ? -x : x), ends = [];
        for (let corner = 0; corner < 8; corner++)
            ends.push(draw.section.reduce((sum, x, d) => sum + x * (corner >> d & 1 ? high[d] : low[d]), 0));
        const [least, most] = [Math.min(...ends), Math.max(...ends)];
        const offset = least + Number(at('depth').value) * (most - least);
        return {normal, offset: draw.flip ? -offset : offset};
    };

    // The frame of the plane about the middle of the bodies, as four lines.
    viewer.cutFrame = ({normal, offset}) => {
        const middle = low.map((x, d) => (x + high[d]) / 2), half = Math.hypot(...low.map((x, d) => high[d] - x)) / 3.4;
        const off = offset - normal.reduce((sum, x, d) => sum + x * middle[d], 0);
        const first = Math.abs(normal[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0];
        const cross = (a, b) => [0, 1, 2].map(d => a[(d + 1) % 3] * b[(d + 2) % 3] - a[(d + 2) % 3] * b[(d + 1) % 3]);
        const unit = a => a.map(x => x / Math.hypot(...a));
        const u = unit(cross(first, normal)), v = cross(normal, u);
        const corner = (a, b) => middle.map((x, d) => x + off * normal[d] + half * (a * u[d] + b * v[d]));
        const corners = [corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1)];
        return corners.flatMap((from, k) => [from, corners[(k + 1) % 4]]);
    };

    // ---- Showing

    const show = () => {
        waiting = false;
        if (!field || viewer.runs.some(run => run.states.length === 0)) return;
        const time = timeOf(clock.step), shown = viewer.runs.map(run => stateAt(run, time));
        draw.picture(shown, field);
        slider.value = clock.step;
        slider.setAttribute('aria-valuetext', spellNow());
        at('now').textContent = spellNow();
        viewer.runs.forEach((run, k) => {
            const away = run.hidden[shown[k]];
            run.away.textContent = away > 0 ? `${away} of ${run.points} points are outside the view's box` : '';
        });
    };

    const refresh = () => {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(show);
    };

    const go = step => {
        clock.step = Math.max(0, Math.min(clock.steps - 1, Math.round(step)));
        refresh();
    };

    // ---- Playing

    const setPlaying = playing => {
        clock.playing = playing && clock.steps > 1;
        at('play').setAttribute('aria-label', clock.playing ? 'Pause' : 'Play');
        at('play-shape').setAttribute('d', clock.playing ? 'M3 2.5h3.6v11H3zM9.4 2.5H13v11H9.4z' : 'M4 2.5v11l9-5.5z');
        if (!clock.playing) {
            at('said').textContent = spellNow();
            return;
        }
        if (clock.step === clock.steps - 1) clock.step = 0;
        clock.begun = performance.now();
        clock.from = clock.step;
        requestAnimationFrame(tick);
    };

    // A solve's states last half a second each. The end stays for a moment; then it starts again, but not for those who
    // asked for little motion.
    const tick = now => {
        if (!clock.playing) return;
        const seconds = (now - clock.begun) / 1000 * clock.speed;
        const step = clock.from + (clock.still ? 2 * seconds : seconds / timeOf(1));
        go(step);
        if (step < clock.steps - 1) requestAnimationFrame(tick);
        else if (still.matches) setPlaying(false);
        else setTimeout(() => clock.playing && setPlaying(true), 700);
    };

    const SPEEDS = [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10];

    // As it was, if that takes 2 to 30 seconds; else about 8.
    const chooseSpeed = () => {
        const wanted = clock.still || (clock.end >= 2 && clock.end <= 30) ? 1 : clock.end / 8;
        const far = speed => Math.abs(Math.log(speed / wanted));
        clock.speed = SPEEDS.reduce((best, speed) => far(speed) < far(best) ? speed : best);
        for (const speed of SPEEDS) {
            const option = element('option', `${speed} ×`);
            option.value = speed;
            option.selected = speed === clock.speed;
            at('speed').append(option);
        }
    };

    // ---- Colours and their legend

    const css = rgb => `rgb(${rgb.map(x => Math.round(255 * x)).join(' ')})`;

    const numberInput = (label, value, take) => {
        const input = element('input');
        input.type = 'number';
        input.step = 'any';
        input.value = spell(value);
        input.setAttribute('aria-label', label);
        input.addEventListener('change', () => {
            const wanted = input.valueAsNumber;
            if (Number.isFinite(wanted)) take(wanted);
            refresh();
        });
        return input;
    };

    const showLegend = () => {
        const legend = at('legend');
        legend.replaceChildren();
        if (field.kind === 'words') {
            for (const word of field.words.slice(0, 16)) {
                const entry = element('span'), swatch = element('span', undefined, 'swatch');
                swatch.style.background = css(word.rgb);
                entry.append(swatch, word.name);
                legend.append(entry);
            }
            return;
        }
        const bar = element('span', undefined, 'bar');
        bar.style.background = `linear-gradient(90deg, ${viewer.palette.map(css).join(', ')})`;
        bar.setAttribute('role', 'img');
        bar.setAttribute('aria-label', 'from light, low, to dark, high');
        legend.append(numberInput(`${field.title}: lower end`, field.shownLow, x => field.shownLow = x), bar,
            numberInput(`${field.title}: upper end`, field.shownHigh, x => field.shownHigh = x), field.unit);
    };

    const setColour = name => {
        field = viewer.fields.get(name) || viewer.fields.values().next().value;
        at('colour').value = field.name;
        showLegend();
        refresh();
    };

    // ---- The view

    const DIRECTIONS = {front: [0, -1, 0], right: [1, 0, 0], top: [0, 0, 1]};

    // Some points of some states, and the ends of colliders' lines, within the box; before they are there its corners.
    const pointsToFit = () => {
        const points = [], inside = point => point.every((x, d) => x >= low[d] && x <= high[d]);
        for (const run of viewer.runs) {
            const each = Math.ceil(run.points / 400), every = Math.ceil(run.states.length / 25);
            for (let s = 0; s < run.states.length; s += every)
                for (let i = s % each; i < run.points; i += each)
                    if (!viewer.hidden(run, s, i)) points.push(viewer.place(run, s, i));
            const lines = run.states.length > 0 ? run.states[0].lines : [];
            for (let k = 0; k < lines.length; k += 3) points.push([lines[k], lines[k + 1], lines[k + 2]]);
        }
        const seen = points.filter(inside);
        return seen.length > 0 ? seen : [0, 1, 2, 3, 4, 5, 6, 7].map(c => low.map((x, d) => c >> d & 1 ? high[d] : x));
    };

    const setView = name => {
        camera.lookFrom(DIRECTIONS[name] || viewer.runs[0].towards);
        camera.size = Math.hypot(...low.map((x, d) => high[d] - x)) / 2 || 1;
        const captions = Math.max(...viewer.runs.map(run => run.caption.offsetHeight)) / draw.paneHeight();
        const radius = Math.max(...viewer.runs.map(run => run.radius));
        camera.fit(pointsToFit(), radius, draw.paneAspect(), Math.min(captions, 0.3));
        at('view').value = DIRECTIONS[name] ? name : 'start';
        refresh();
    };

    const moved = () => {
        at('view').value = '';
        refresh();
    };

    // What is before the plane is cut away, so that its face is seen.
    const setSection = (axis, place) => {
        const {towards} = camera.axes(), normals = {x: [1, 0, 0], y: [0, 1, 0], z: [0, 0, 1], v: towards};
        const sign = normals[axis] && normals[axis].reduce((sum, x, d) => sum + x * towards[d], 0) < -1e-6 ? -1 : 1;
        draw.section = normals[axis] ? normals[axis].map(x => sign * x) : null;
        at('section').value = draw.section ? axis : '';
        at('depth').disabled = at('flip').disabled = !draw.section;
        if (place !== undefined) at('depth').value = place;
        refresh();
    };

    // ---- What is told of the runs

    const makeCaptions = () => {
        for (const run of viewer.runs) {
            const pane = element('div', undefined, 'pane'), caption = element('div', undefined, 'caption');
            run.caption = caption;
            caption.append(element('strong', run.title), element('span', run.says));
            if (run.state !== 'ok') caption.append(element('span', run.state, 'bad'));
            caption.append(run.away = element('span'));
            pane.append(caption);
            at('panes').append(pane);
        }
        document.title = viewer.runs.map(run => run.title).join(' and ');
    };

    const layPanes = () => {
        at('panes').style.gridTemplateColumns = `repeat(${draw.columns()}, 1fr)`;
        at('panes').classList.toggle('stacked', draw.columns() === 1);
    };

    // All parameters of one run; of several those in which they differ.
    const tellRuns = () => {
        const names = [...new Set(viewer.runs.flatMap(run => Object.keys(run.params)))].sort();
        const differ = name => new Set(viewer.runs.map(run => JSON.stringify(run.params[name]))).size > 1;
        const kept = viewer.runs.length > 1 ? names.filter(differ) : names;
        const table = element('table'), head = element('tr');
        head.append(element('th', viewer.runs.length > 1 ? 'What differs' : 'Parameter'));
        for (const run of viewer.runs) head.append(element('th', run.title));
        table.append(head);
        for (const name of kept) {
            const row = element('tr');
            row.append(element('td', name), ...viewer.runs.map(run => element('td', run.params[name] ?? '—')));
            table.append(row);
        }
        at('runs-said').append(table);
        for (const run of viewer.runs) at('runs-said').append(element('p', `${run.title}: ${run.command}`));
    };

    // ---- Hands

    const listen = () => {
        const pointers = new Map();
        let apart = 0;
        const spread = () => {
            const [a, b] = [...pointers.values()];
            return b ? Math.hypot(a.x - b.x, a.y - b.y) : 0;
        };
        canvas.addEventListener('pointerdown', event => {
            canvas.setPointerCapture(event.pointerId);
            pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
            apart = spread();
        });
        canvas.addEventListener('pointermove', event => {
            const before = pointers.get(event.pointerId);
            if (!before) return;
            const height = canvas.clientHeight, across = event.clientX - before.x, along = event.clientY - before.y;
            pointers.set(event.pointerId, {x: event.clientX, y: event.clientY});
            const shifts = event.shiftKey || event.buttons & 6 || pointers.size > 1;
            if (shifts) camera.move(across / height / pointers.size, along / height / pointers.size);
            else camera.turn(across * 0.008, along * 0.008);
            if (pointers.size === 2 && apart > 0) camera.zoom(apart / Math.max(spread(), 1));
            apart = spread();
            moved();
        });
        for (const end of ['pointerup', 'pointercancel'])
            canvas.addEventListener(end, event => {
                pointers.delete(event.pointerId);
                apart = spread();
            });
        canvas.addEventListener('contextmenu', event => event.preventDefault());
        canvas.addEventListener('wheel', event => {
            event.preventDefault();
            camera.zoom(Math.exp(event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0015)));
            moved();
        }, {passive: false});

        const turn = (across, along) => event =>
            event.shiftKey ? camera.move(across / 3, along / 3) : camera.turn(across, along);
        const views = {
            ArrowLeft: turn(-0.12, 0), ArrowRight: turn(0.12, 0), ArrowUp: turn(0, -0.12), ArrowDown: turn(0, 0.12),
            '+': () => camera.zoom(1 / 1.15), '=': () => camera.zoom(1 / 1.15), '-': () => camera.zoom(1.15),
        };
        const others = {
            ' ': () => setPlaying(!clock.playing), ',': () => go(clock.step - 1), '.': () => go(clock.step + 1),
            Home: () => go(0), End: () => go(clock.steps - 1), r: () => setView('start'), R: () => setView('start'),
        };
        canvas.addEventListener('keydown', event => {
            if (event.ctrlKey || event.metaKey || event.altKey) return;
            if (views[event.key]) views[event.key](event), moved();
            else if (others[event.key]) others[event.key]();
            else return;
            event.preventDefault();
        });

        slider.addEventListener('input', () => {
            if (clock.playing) setPlaying(false);
            go(Number(slider.value));
        });
        at('play').addEventListener('click', () => setPlaying(!clock.playing));
        at('speed').addEventListener('change', () => {
            clock.speed = Number(at('speed').value);
            if (clock.playing) setPlaying(true);
        });
        at('colour').addEventListener('change', () => setColour(at('colour').value));
        at('section').addEventListener('change', () => setSection(at('section').value));
        at('depth').addEventListener('input', refresh);
        at('flip').addEventListener('change', () => {
            draw.flip = at('flip').checked;
            refresh();
        });
        at('view').addEventListener('change', () => setView(at('view').value));
        at('mesh').addEventListener('change', () => {
            draw.mesh = at('mesh').checked;
            refresh();
        });
        at('save').addEventListener('click', () => {
            show(); // what is drawn can be read until the browser shows the next picture
            canvas.toBlob(picture => {
                const link = element('a');
                link.href = URL.createObjectURL(picture);
                link.download = `${document.title} ${spellNow()}.png`.replace(/[^\w.+-]+/g, '_');
                link.click();
                setTimeout(() => URL.revokeObjectURL(link.href), 1000);
            });
        });
        new ResizeObserver(() => {
            layPanes();
            if (at('view').value) setView(at('view').value);
            show(); // before the browser shows the old picture in the new size
        }).observe(canvas);
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refresh);
    };

    // ---- The address: view.html#step=last&colour=speed&section=x:0.5&view=top&flip&mesh

    const readAddress = () => {
        const asked = new URLSearchParams(location.hash.slice(1)), step = asked.get('step');
        if (asked.has('view')) setView(asked.get('view'));
        if (asked.has('section')) setSection(...asked.get('section').split(':'));
        if (asked.has('colour')) setColour(asked.get('colour'));
        at('flip').checked = draw.flip = asked.has('flip');
        at('mesh').checked = draw.mesh = asked.has('mesh');
        if (step !== null) go(step === 'last' ? clock.steps - 1 : Number(step));
    };

    // ---- The start

    const prepare = () => {
        viewer.load();
        makeClock();
        chooseSpeed();
        for (const run of viewer.runs)
            for (let d = 0; d < 3; d++) {
                low[d] = run.index === 0 ? run.bounds[0][d] : Math.min(low[d], run.bounds[0][d]);
                high[d] = run.index === 0 ? run.bounds[1][d] : Math.max(high[d], run.bounds[1][d]);
            }
        for (const known of viewer.fields.values()) {
            const option = element('option', known.title);
            option.value = known.name;
            at('colour').append(option);
        }
        at('mesh-label').hidden = viewer.runs.every(run => run.triangles === 0);
        makeCaptions();
        tellRuns();
        layPanes();
        setView('start');
        setColour(viewer.colour);
        listen();
    };

    const start = async () => {
        if (!draw.start(canvas)) return fail('This page needs WebGL 2, which this browser does not offer here.');
        if (!window.DecompressionStream) return fail('This page needs a browser of 2023 or later.');
        prepare();
        let made = false;
        await viewer.readStates(share => {
            if (!made) draw.makeRuns();
            made = true;
            at('said').textContent = share < 1 ? '' : 'All states are loaded.';
            refresh();
        });
        if (at('view').value) setView(at('view').value); // of all states
        readAddress();
        show();
        document.documentElement.dataset.ready = 'true';
    };

    start().catch(error => fail(`The page could not be shown: ${error.message}`));
})();
