// Draws the page from its data. Texts of the data reach the page as text only, never as markup.
(async () => {
    'use strict';

    // ---- Elements and words

    const $ = id => document.getElementById(id);
    const SVG = 'http://www.w3.org/2000/svg';

    // Attributes by name, functions as listeners; children are elements or texts, and what is null is left out.
    const fill = (element, attributes, children) => {
        for (const [name, value] of Object.entries(attributes || {})) {
            if (value === null || value === undefined || value === false) continue;
            if (typeof value === 'function')
                element.addEventListener(name, value);
            else
                element.setAttribute(name, value === true ? '' : value);
        }
        for (const child of children.flat(Infinity))
            if (child !== null && child !== undefined) element.append(child);
        return element;
    };
    const el = (name, attributes, ...children) => fill(document.createElement(name), attributes, children);
    const svg = (name, attributes, ...children) => fill(document.createElementNS(SVG, name), attributes, children);

    const plural = (count, word) => `${count} ${word}${count === 1 ? '' : 's'}`;
    const short = id => (id || '').slice(0, 8);
    const commit = about => `${(about.commit || 'unknown').slice(0, 12)}${about.dirty ? ' with changes' : ''}`;
    const digits = (value, count = 3) => String(Number(value.toPrecision(count)));
    const timeText = seconds => {
        if (seconds === undefined) return '–';
        const [unit, name] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e-3, 'ms'] : [1e-6, 'µs'];
        return `${digits(seconds / unit)} ${name}`;
    };
    // Error over tolerance in few characters, for a cell.
    const overText = over => {
        if (over < 0.01) return '<.01';
        if (over > 1 && over < 1.05) return digits(over, 3);  // not 1, which is within the tolerance
        if (over < 9.95) return digits(over, 2);
        if (over < 9999.5) return String(Math.round(over));
        return over < 1e6 ? `${Math.round(over / 1000)}k` : '>1M';
    };
    const grade = over => over <= 0.1 ? 'a' : over <= 1 ? 'b' : over <= 3 ? 'c' : over <= 10 ? 'd' : 'e';
    const begin = text => text.charAt(0).toUpperCase() + text.slice(1);
    const verdictWords = verdict => verdict.replace('_', ' ');
    const per = kind => kind === 'moving' ? 'a frame of 1/60 s' : 'a solve';

    const command = text => el('pre', {class: 'command', tabindex: '0'}, el('code', null, text));

    // ---- Tables: a click on a header sorts by it, a second click in reverse. Stable; empty cells stay last.

    // Some hexadecimal ids look like numbers, so a column is numeric only if all its keys are.
    const collator = new Intl.Collator(undefined, {numeric: true, sensitivity: 'base'});
    const keyOf = (row, column) => {
        const cell = row.cells[column];
        if (!cell) return '';
        return cell.dataset.sort !== undefined ? cell.dataset.sort : cell.textContent.trim();
    };
    const sortBy = (table, header) => {
        const column = header.cellIndex;
        const down = header.getAttribute('aria-sort') === 'ascending';
        const rows = Array.from(table.tBodies[0].rows, row => ({row, key: keyOf(row, column)}));
        const numbers = rows.every(({key}) => key === '' || Number.isFinite(Number(key)));
        const compare = numbers ? (a, b) => Number(a) - Number(b) : collator.compare;
        rows.sort((a, b) => {
            if (a.key === '' || b.key === '') return (a.key === '') - (b.key === '');
            return down ? compare(b.key, a.key) : compare(a.key, b.key);
        });
        for (const other of header.parentElement.cells) other.removeAttribute('aria-sort');
        header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        table.tBodies[0].append(...rows.map(entry => entry.row));
    };
    // Columns: [title, class]. Rows: arrays of cells; a cell is a text, an element, or {text, sort, class, th}.
    const cellOf = (content, kind) => {
        const cell =
            content !== null && typeof content === 'object' && !(content instanceof Node) && !Array.isArray(content) ?
            content :
            {text: content};
        const text = cell.text === undefined || cell.text === null ? '–' : cell.text;
        const none = cell.text === undefined || cell.text === null;
        return el(
            cell.th ? 'th' : 'td', {
                class: cell.class || kind || null,
                scope: cell.th ? 'row' : null,
                'data-sort': cell.sort !== undefined ? String(cell.sort) :
                    none                             ? '' :
                                                       null
            },
            text);
    };
    const table = (caption, columns, rows, attributes = {}) => {
        const heads = columns.map(([title, kind]) => el('th', {scope: 'col', class: kind || null}, title));
        const body =
            rows.map(row => fill(el('tr'), row.attributes, row.map((content, i) => cellOf(content, columns[i][1]))));
        const whole =
            el('table', attributes, el('caption', null, caption), el('thead', null, el('tr', null, heads)),
               el('tbody', null, body));
        if (rows.length > 1)
            for (const head of heads) {
                const button = el('button', {type: 'button', click: () => sortBy(whole, head)}, ...head.childNodes);
                head.replaceChildren(button);
            }
        return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption}, whole);
    };

    // A row of buttons of which one is chosen.
    const choice = (label, options, chosen, choose) => {
        const buttons = options.map(
            (option, i) =>
                el('button', {
                    type: 'button',
                    'aria-pressed': String(i === chosen),
                    click: () => {
                        buttons.forEach((button, k) => button.setAttribute('aria-pressed', String(k === i)));
                        choose(i);
                    }
                },
                   option));
        return el(
            'div', {class: 'choice', role: 'group', 'aria-label': label}, el('span', {class: 'choice-label'}, label),
            buttons);
    };

    // ---- The data

    const inflate = async packed => {
        const bytes = Uint8Array.from(atob(packed), letter => letter.charCodeAt(0));
        const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
        return new Response(stream).text();
    };
    let data;
    try {
        data = JSON.parse(await inflate($('data').textContent));
    } catch (error) {
        $('trouble').textContent =
            `The data of this page cannot be read: ${error.message}. A browser of 2023 or later is needed.`;
        $('trouble').hidden = false;
        return;
    }
    const {about, ranked, claims, figures, comparisons, history, runs, machines, beside} = data;
    const problemOf = new Map(ranked.problems.map(problem => [problem.id, problem]));

    // Films and viewers beside the page, by the run whose id their names begin with.
    const films = run => run ? beside.filter(name => run.startsWith(/^[0-9a-f]+/.exec(name)[0].slice(0, 32))) : [];
    const filmLinks = run =>
        films(run).map(name => el('a', {href: encodeURIComponent(name)}, name.endsWith('.html') ? 'viewer' : 'film'));

    $('byline').textContent =
        `Position-based and particle-based solids on frozen problems, and against the papers they come from. ` +
        `Written ${about.written.replace('T', ' ').replace('Z', ' UTC')} by pbdbench ${about.version}, commit ${
            commit(about)}` +
        `${about.store ? `, from ${about.store}` : ''}.`;

    // ---- Problems: what is chosen

    const chosen = {table: 0, threads: 1, budget: {moving: 2, static: 1}, words: ''};
    const tableNow = () => ranked.tables[chosen.table];
    const allRowsOf = id =>
        ((tableNow() || {problems: {}}).problems[id] || []).filter(row => row.threads === chosen.threads);
    const isRun = row => row.refused || row.trials.some(trial => trial.state !== 'missing');
    const rowsOf = id => allRowsOf(id).filter(isRun);
    const bestOf = (row, kind) => {
        const index = row.best[chosen.budget[kind]];
        return index === null || index === undefined ? null : row.trials[index];
    };
    const quickest = row => row.trials.filter(trial => trial.counts).sort((a, b) => a.time - b.time)[0];

    // What a cell shows, its class, its words, and what it is sorted by.
    const stateOf = (problem, row) => {
        const budget = ranked.budgets[problem.kind][chosen.budget[problem.kind]].name;
        if (row.refused) return {text: 'n/a', kind: 'refused', says: `refused: ${row.refused}`};
        const best = bestOf(row, problem.kind);
        if (best)
            return {
                text: overText(best.over) + (best.warnings ? '*' : ''),
                kind: grade(best.over),
                sort: best.over,
                says: `error ${digits(best.over)} of the tolerance in ${timeText(best.time)}` +
                    (best.warnings ? `; the run warns: ${best.warnings}` : '')
            };
        const first = quickest(row);
        if (first)
            return {
                text: 'slow',
                kind: 'slow',
                says: `no trial within ${budget}; the fastest takes ${timeText(first.time)}`
            };
        if (row.trials.every(trial => trial.late))
            return {text: 'late', kind: 'fails', says: 'every trial takes longer than the limit of a trial'};
        const reasons = [...new Set(row.trials.map(trial => trial.late ? 'longer than the limit' : trial.state))];
        return {text: 'fails', kind: 'fails', says: `no trial counts: ${reasons.join(', ')}`};
    };

    const openProblem = (id, method) => {
        location.hash = `problem=${id}${method ? `&method=${encodeURIComponent(method)}` : ''}`;
    };

    // ---- Problems: the matrix

    const matrixRow = (problem, methods) => {
        const rows = rowsOf(problem.id);
        const cells = methods.map(method => {
            const row = rows.find(one => one.method === method);
            const out = row ? null : problem.left_out.find(entry => entry.method === method);
            if (!row)
                return el('td', {
                    class: 'mark none',
                    'data-sort': '',
                    title: `${method} on ${problem.id}: ${out ? `left out: ${out.because}` : 'not run'}`
                });
            const state = stateOf(problem, row), words = `${method} on ${problem.id}: ${state.says}`;
            return el(
                'td', {class: `mark ${state.kind}`, 'data-sort': state.sort !== undefined ? state.sort : ''},
                el('button',
                   {type: 'button', title: words, 'aria-label': words, click: () => openProblem(problem.id, method)},
                   el('span', {class: 'chip-name', 'aria-hidden': 'true'}, method),
                   el('span', {class: 'chip-value'}, state.text)));
        });
        return el(
            'tr', {'data-problem': problem.id},
            el('th', {scope: 'row', 'data-sort': problem.title},
               el('a', {href: `#problem=${problem.id}`}, begin(problem.title)),
               el('span', {class: 'muted id'}, problem.id)),
            cells);
    };

    const solved = (problems, method, kind) => {
        let good = 0, all = 0;
        for (const problem of problems) {
            const row = rowsOf(problem.id).find(one => one.method === method);
            if (!row || row.refused) continue;
            const best = bestOf(row, kind);
            all += 1;
            good += best && best.over <= 1 ? 1 : 0;
        }
        return {good, all};
    };

    const matches = problem => {
        const text = `${problem.title} ${problem.id} ${problem.case}`.toLowerCase();
        return chosen.words.toLowerCase().split(/\s+/).every(word => text.includes(word));
    };

    const matrix = kind => {
        const have = ranked.problems.filter(problem => problem.kind === kind && rowsOf(problem.id).length > 0);
        if (have.length === 0) return null;
        const problems = have.filter(matches);
        const names =
            [...new Set(have.flatMap(problem => rowsOf(problem.id).map(row => row.method)))].sort(collator.compare);
        const budgets = ranked.budgets[kind];
        const host = el('div', {class: 'matrix-host'});
        const draw = () => {
            const heads = [
                el('th', {scope: 'col', class: 'problem'}, 'Problem'),
                ...names.map(name => el('th', {scope: 'col', class: 'method'}, el('span', null, name)))
            ];
            const feet = names.map(name => {
                const {good, all} = solved(problems, name, kind);
                return el(
                    'td', null, el('span', {class: 'chip-name', 'aria-hidden': 'true'}, name),
                    all ? `${good}/${all}` : '');
            });
            const whole =
                el('table', {class: 'matrix', id: `matrix-${kind}`},
                   el('caption', null,
                      `Least error over tolerance within ${
                          budgets[chosen.budget[kind]].name === 'any' ?
                              'any time' :
                              budgets[chosen.budget[kind]].name} of ${per(kind)}. 1 or less is within the tolerance.`),
                   el('thead', null, el('tr', null, heads)),
                   el('tbody', null, problems.map(problem => matrixRow(problem, names))),
                   el('tfoot', null, el('tr', null, el('th', {scope: 'row'}, 'Within the tolerance'), feet)));
            if (problems.length > 1)
                for (const head of heads)
                    head.replaceChildren(
                        el('button', {type: 'button', click: () => sortBy(whole, head)}, ...head.childNodes));
            host.replaceChildren(problems.length ? whole : el('p', {class: 'muted'}, 'No problem has these words.'));
        };
        draw();
        return el(
            'div', {class: 'kind'}, el('h3', null, kind === 'moving' ? 'Problems that move' : 'Static problems'),
            choice(
                kind === 'moving' ? 'Time a frame' : 'Time a solve', budgets.map(budget => budget.name),
                chosen.budget[kind],
                i => {
                    chosen.budget[kind] = i;
                    draw();
                }),
            host);
    };

    const legend = () =>
        el('p', {class: 'legend', 'aria-label': 'Legend'},
           [
               ['a', '≤ 0.1'], ['b', '≤ 1: within the tolerance'], ['c', '≤ 3'], ['d', '≤ 10'], ['e', 'more'],
               ['slow', 'slow: none within the time'],
               ['fails', 'fails: no trial counts; late: all take longer than the limit']
           ].map(([kind, words]) => el('span', null, el('i', {class: `mark ${kind}`, 'aria-hidden': 'true'}), words)),
           el('span', null, '* the run warns'), el('span', null, 'empty: left out, or not run'));

    const drawTables = () => {
        const kinds = [matrix('moving'), matrix('static')];
        const host = $('problem-tables');
        const missing = ranked.problems.filter(problem => rowsOf(problem.id).length === 0);
        const now = tableNow();
        host.replaceChildren(
            ...[now ? legend() : null, ...kinds,
                now ? el('p', {class: 'muted'},
                         `${now.cpu}, commit ${commit(now)}, backend ${now.backend}, ${now.newest.slice(0, 10)}; ` +
                             `${plural(now.runs, 'run')}; ${now.trials} trials for each method, each of ${
                                 now.limit} s at most` +
                             `${now.quick ? ' (quick)' : ''}. Wall times of this machine only.` +
                             (ranked.tables_left_out ? ` ${
                                                           plural(
                                                               ranked.tables_left_out,
                                                               'older table')} of other builds or machines not shown.` :
                                                       '')) :
                                                       null,
                missing.length === 0 ?
                    null :
                    el('details', {id: 'missing-problems', open: !now},
                       el('summary', null,
                          now ? `${plural(missing.length, 'problem')} without stored trials` :
                                `No trial of a problem is stored yet. ${
                                    plural(missing.length, 'problem')} can be ranked:`),
                       command('./pbdbench rank --quick\n./pbdbench rank --problem PROBLEM'),
                       el('ul', {class: 'plain'},
                          missing.map(problem => el('li', null, problem.title, ' ', el('code', null, problem.id)))))]
                .filter(Boolean));
    };

    const drawControls = () => {
        const parts = [];
        if (ranked.trouble) parts.push(el('p', {class: 'trouble'}, ranked.trouble));
        const now = tableNow();
        if (now) {
            parts.push(el('label', {class: 'find'}, 'Find ', el('input', {
                              type: 'search',
                              id: 'problem-words',
                              placeholder: 'soft rubber, cloth, nu…',
                              input: event => {
                                  chosen.words = event.target.value;
                                  drawTables();
                              }
                          })));
            if (now.threads > 1)
                parts.push(choice('Threads', ['1', String(now.threads)], chosen.threads === 1 ? 0 : 1, i => {
                    chosen.threads = i ? tableNow().threads : 1;
                    drawTables();
                }));
            if (ranked.tables.length > 1)
                parts.push(
                    el('label', null, 'Table ',
                       el('select', {
                           id: 'problem-table',
                           change: event => {
                               chosen.table = Number(event.target.value);
                               drawProblems();
                           }
                       },
                          ranked.tables.map(
                              (one, i) =>
                                  el('option', {value: String(i), selected: i === chosen.table},
                                     `${one.newest.slice(0, 10)}, ${one.cpu}, ${commit(one)}, ${one.backend}${
                                         one.quick ? ', quick' : ''}`)))));
        }
        $('problem-controls').replaceChildren(...parts);
    };
    const anyRun = threads => Object.values((tableNow() || {problems: {}}).problems)
                                  .flat()
                                  .some(row => row.threads === threads && isRun(row));
    const drawProblems = () => {
        chosen.threads = anyRun(1) || !tableNow() ? 1 : tableNow().threads;
        drawControls();
        drawTables();
    };

    // ---- A chart: error over tolerance against time, both logarithmic. Hover, zoom, series on and off.

    const MARKS = [
        'M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z', 'M-3.6-3.6h7.2v7.2h-7.2z', 'M0-5l4.6 8h-9.2z', 'M0-5l5 5l-5 5l-5-5z',
        'M0 5l4.6-8h-9.2z', 'M-1.6-4.6h3.2v3h3v3.2h-3v3h-3.2v-3h-3v-3.2h3z'
    ];

    const ticksOf = (low, high) => {
        const all = [];
        for (let decade = Math.floor(Math.log10(low)); decade <= Math.ceil(Math.log10(high)); decade++)
            for (const lead of [1, 2, 5]) {
                const value = lead * 10 ** decade;
                if (value >= low * 0.999 && value <= high * 1.001) all.push({value, lead});
            }
        return all.length > 7 ? all.filter(tick => tick.lead === 1) : all;
    };

    const chart = (problem, rows, select) => {
        const budget = ranked.budgets[problem.kind][chosen.budget[problem.kind]];
        const series = rows.map((row, i) => ({
                                    name: row.method,
                                    row,
                                    tone: i % 12,
                                    mark: MARKS[i % MARKS.length],
                                    shown: true,
                                    points: row.trials.map((trial, k) => ({trial, k, row}))
                                                .filter(({trial}) => trial.over > 0 && trial.time > 0)
                                                .sort((a, b) => a.trial.time - b.trial.time)
                                }))
                           .filter(one => one.points.length > 0);
        const everything = series.flatMap(one => one.points);
        if (everything.length === 0) return el('p', {class: 'muted'}, 'No trial has both an error and a time.');
        const span = key => {
            const values = everything.map(point => point.trial[key]);
            return [Math.min(...values) / 1.7, Math.max(...values) * 1.7];
        };
        const whole = {x: span('time'), y: span('over')};
        whole.y = [Math.min(whole.y[0], 0.5), Math.max(whole.y[1], 2)];
        let view = {x: [...whole.x], y: [...whole.y]};
        let order = [], at = -1, drag = null;

        const host = el('div', {class: 'chart-host'});
        const hint = el('div', {class: 'hint', role: 'status', hidden: true});
        const picture = svg('svg', {
            class: 'work-chart',
            tabindex: '0',
            role: 'application',
            'aria-label': `Error over tolerance against time of ${per(problem.kind)}, ${
                everything
                    .length} trials. Arrow keys go from point to point, Enter selects the run, plus and minus zoom, 0 shows all.`
        });
        const frame = el('div', {class: 'chart-frame'}, picture, hint);

        const pointWords = ({trial, row}) =>
            `${row.method}: error ${digits(trial.over)} of the tolerance, ${timeText(trial.time)}` +
            `${trial.settings ? `; ${trial.settings}` : ''}${
                trial.counts ? '' : `; does not count: ${trial.late ? 'longer than the limit' : trial.state}`}` +
            `${trial.warnings ? `; warns: ${trial.warnings}` : ''}; run ${short(trial.run)}`;
        const tell = point => {
            hint.hidden = !point;
            for (const mark of picture.querySelectorAll('.hot')) mark.classList.remove('hot');
            if (!point || !point.mark) return;
            point.mark.classList.add('hot');
            hint.textContent = pointWords(point);
            const box = frame.getBoundingClientRect(), spot = point.mark.getBoundingClientRect();
            hint.style.left = '0px';
            const room = box.width - hint.offsetWidth - 4;
            hint.style.left = `${Math.max(4, Math.min(room, spot.left - box.left - hint.offsetWidth / 2))}px`;
            const above = spot.top - box.top - hint.offsetHeight - 8;
            hint.style.top = `${above > 0 ? above : spot.bottom - box.top + 8}px`;
        };

        const draw = () => {
            const width = Math.max(280, Math.floor(frame.clientWidth || 700)),
                  height = Math.round(Math.min(420, Math.max(280, width * 0.55)));
            const left = 52, right = 14, top = 14, bottom = 46;
            const scale = (range, from, to) => value =>
                from + (to - from) * Math.log(value / range[0]) / Math.log(range[1] / range[0]);
            const x = scale(view.x, left, width - right), y = scale(view.y, height - bottom, top);
            draw.invert = (px, py) =>
                [view.x[0] * (view.x[1] / view.x[0]) ** ((px - left) / (width - right - left)),
                 view.y[0] * (view.y[1] / view.y[0]) ** ((height - bottom - py) / (height - bottom - top))];
            draw.size = {width, height, left, right, top, bottom};
            const inside = point => point.trial.time >= view.x[0] && point.trial.time <= view.x[1] &&
                point.trial.over >= view.y[0] && point.trial.over <= view.y[1];
            const parts = [];
            const floor = problem.uncertainty / problem.tolerance;
            if (floor > view.y[0])
                parts.push(svg('rect', {
                    class: 'floor',
                    x: left,
                    y: Math.max(top, y(floor)),
                    width: width - right - left,
                    height: Math.max(0, height - bottom - Math.max(top, y(floor)))
                }));
            const many = ticksOf(...view.x), wide = (width - right - left) / Math.max(1, many.length) > 56;
            let end = 0;  // where the text before ends
            for (const {value, lead} of many) {
                parts.push(svg('line', {class: 'grid', x1: x(value), x2: x(value), y1: top, y2: height - bottom}));
                // Half of the text's width, at 7 px a letter. At the right edge it moves left, into the chart.
                const text = timeText(value), half = 3.5 * text.length, middle = Math.min(x(value), width - half);
                if ((!wide && lead !== 1) || middle - half < end + 2) continue;
                end = middle + half;
                parts.push(
                    svg('text', {class: 'tick', x: middle, y: height - bottom + 16, 'text-anchor': 'middle'}, text));
            }
            for (const {value} of ticksOf(...view.y)) {
                parts.push(svg('line', {class: 'grid', x1: left, x2: width - right, y1: y(value), y2: y(value)}));
                parts.push(
                    svg('text', {class: 'tick', x: left - 6, y: y(value) + 4, 'text-anchor': 'end'}, digits(value)));
            }
            if (1 >= view.y[0] && 1 <= view.y[1]) {
                parts.push(svg('line', {class: 'tolerance', x1: left, x2: width - right, y1: y(1), y2: y(1)}));
                parts.push(
                    svg('text', {class: 'line-name', x: width - right - 4, y: y(1) - 5, 'text-anchor': 'end'},
                        'tolerance'));
            }
            if (budget.seconds && budget.seconds >= view.x[0] && budget.seconds <= view.x[1]) {
                const near = x(budget.seconds) > width - right - 50;
                parts.push(
                    svg('line',
                        {class: 'budget', x1: x(budget.seconds), x2: x(budget.seconds), y1: top, y2: height - bottom}));
                parts.push(
                    svg('text', {
                        class: 'line-name',
                        x: x(budget.seconds) + (near ? -5 : 5),
                        y: top + 10,
                        'text-anchor': near ? 'end' : 'start'
                    },
                        budget.name));
            }
            parts.push(svg(
                'rect', {class: 'edge', x: left, y: top, width: width - right - left, height: height - bottom - top}));
            parts.push(
                svg('text', {class: 'axis', x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle'},
                    `Time of ${per(problem.kind)}`));
            parts.push(
                svg('text', {
                    class: 'axis',
                    x: 14,
                    y: (top + height - bottom) / 2,
                    'text-anchor': 'middle',
                    transform: `rotate(-90 14 ${(top + height - bottom) / 2})`
                },
                    'Error / tolerance'));
            order = [];
            for (const one of series) {
                if (!one.shown) continue;
                const group = svg('g', {class: `tone-${one.tone}`, 'data-series': one.name});
                let least = Infinity;
                const front =
                    one.points.filter(({trial}) => trial.counts && trial.over < least && (least = trial.over, true))
                        .filter(inside);
                if (front.length > 1)
                    group.append(svg('polyline', {
                        class: 'front',
                        points:
                            front.map(({trial}) => `${x(trial.time).toFixed(1)},${y(trial.over).toFixed(1)}`).join(' ')
                    }));
                for (const point of one.points.filter(inside)) {
                    point.mark = svg('path', {
                        class: `point ${point.trial.counts ? 'counts' : 'hollow'}`,
                        d: one.mark,
                        'data-run': point.trial.run || '',
                        transform: `translate(${x(point.trial.time).toFixed(1)} ${y(point.trial.over).toFixed(1)})`,
                        pointerenter: () => tell(point),
                        pointerleave: () => tell(null),
                        click: () => select(point.row, point.trial, true)
                    });
                    group.append(point.mark);
                    order.push(point);
                }
                parts.push(group);
            }
            order.sort((a, b) => a.trial.time - b.trial.time);
            at = -1;
            fill(picture, {viewBox: `0 0 ${width} ${height}`, width, height}, []);
            picture.replaceChildren(...parts);
        };

        const zoom = factor => {
            for (const key of ['x', 'y']) {
                const middle = Math.sqrt(view[key][0] * view[key][1]), all = Math.sqrt(whole[key][1] / whole[key][0]),
                      half = Math.min(Math.sqrt(view[key][1] / view[key][0]) ** factor, 10 * all);
                view[key] = [middle / half, middle * half];
            }
            draw();
        };
        const reset = () => {
            view = {x: [...whole.x], y: [...whole.y]};
            draw();
        };
        const step = by => {
            if (order.length === 0) return;
            at = (at + by + order.length) % order.length;
            tell(order[at]);
        };
        picture.addEventListener('keydown', event => {
            const keys = {
                ArrowRight: () => step(1),
                ArrowDown: () => step(1),
                ArrowLeft: () => step(at < 0 ? 0 : -1),
                ArrowUp: () => step(at < 0 ? 0 : -1),
                '+': () => zoom(0.6),
                '=': () => zoom(0.6),
                '-': () => zoom(1 / 0.6),
                '0': reset,
                Enter: () => at >= 0 && select(order[at].row, order[at].trial, true)
            };
            if (!keys[event.key]) return;
            event.preventDefault();
            keys[event.key]();
        });
        picture.addEventListener('blur', () => tell(null));
        // Drag a box to see it large.
        const spotOf = event => {
            const box = picture.getBoundingClientRect();
            return [event.clientX - box.left, event.clientY - box.top];
        };
        picture.addEventListener('pointerdown', event => {
            if (event.pointerType === 'touch' || event.button !== 0 || event.target.classList.contains('point')) return;
            drag = {from: spotOf(event), box: svg('rect', {class: 'zoom-box'})};
            picture.append(drag.box);
            picture.setPointerCapture(event.pointerId);
        });
        picture.addEventListener('pointermove', event => {
            if (!drag) return;
            const [px, py] = spotOf(event), [fx, fy] = drag.from;
            fill(
                drag.box,
                {x: Math.min(px, fx), y: Math.min(py, fy), width: Math.abs(px - fx), height: Math.abs(py - fy)}, []);
        });
        picture.addEventListener('pointerup', event => {
            if (!drag) return;
            const [px, py] = spotOf(event), [fx, fy] = drag.from;
            drag.box.remove();
            drag = null;
            if (Math.abs(px - fx) < 8 || Math.abs(py - fy) < 8) return;
            const a = draw.invert(Math.min(px, fx), Math.max(py, fy)),
                  b = draw.invert(Math.max(px, fx), Math.min(py, fy));
            view = {x: [a[0], b[0]], y: [a[1], b[1]]};
            draw();
        });
        picture.addEventListener('dblclick', reset);

        const keys = series.map(
            one =>
                el('button', {
                    type: 'button',
                    'aria-pressed': 'true',
                    class: `key tone-${one.tone}`,
                    click: event => {
                        one.shown = !one.shown;
                        event.currentTarget.setAttribute('aria-pressed', String(one.shown));
                        draw();
                    }
                },
                   svg('svg', {width: 12, height: 12, viewBox: '-6 -6 12 12', 'aria-hidden': 'true'},
                       svg('path', {class: 'point counts', d: one.mark})),
                   one.name));
        const others = show =>
            el('button', {
                type: 'button',
                class: 'plain-button',
                click: () => {
                    series.forEach((one, i) => {
                        one.shown = show;
                        keys[i].setAttribute('aria-pressed', String(show));
                    });
                    draw();
                }
            },
               show ? 'all' : 'none');
        host.append(
            el('div', {class: 'chart-tools', role: 'group', 'aria-label': 'Zoom'},
               el('button', {type: 'button', click: () => zoom(0.6), 'aria-label': 'Zoom in'}, '+'),
               el('button', {type: 'button', click: () => zoom(1 / 0.6), 'aria-label': 'Zoom out'}, '−'),
               el('button', {type: 'button', click: reset}, 'All'),
               el('span', {class: 'muted'},
                  'Drag a box to zoom. Hollow: does not count. Grey below: within the uncertainty of the reference.')),
            frame,
            el('div', {class: 'keys', role: 'group', 'aria-label': 'Series'}, keys, others(true), others(false)));
        host.redraw = draw;
        return host;
    };

    // ---- A figure's chart: gnuplot's drawing, built anew from the elements and attributes that are listed here.
    // Panels have the pixels and values of their axes; drawings that have none are shown without values.

    const DRAWN = {
        g: ['transform', 'fill', 'stroke', 'stroke-width', 'stroke-dasharray', 'color', 'font-size', 'text-anchor'],
        path: ['d', 'stroke', 'fill', 'fill-opacity', 'stroke-width', 'stroke-dasharray'],
        polygon: ['points', 'fill', 'fill-opacity', 'stroke'],
        circle: ['cx', 'cy', 'r', 'fill', 'stroke', 'fill-opacity', 'stroke-width'],
        rect: ['x', 'y', 'width', 'height', 'fill', 'fill-opacity', 'stroke'],
        text: ['x', 'y', 'transform'],
        tspan: ['dx', 'dy', 'fill', 'font-size', 'font-style', 'font-weight']
    };
    // Its points by number: outline, and whether it is filled.
    const POINTS = [
        ['M-1 0h2M0-1v2'], ['M-1-1L1 1M1-1L-1 1'], ['M-1 0h2M0-1v2M-1-1L1 1M-1 1L1-1'], ['M-1-1h2v2h-2z'],
        ['M-1-1h2v2h-2z', true], ['M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z'], ['M-1 0a1 1 0 1 0 2 0a1 1 0 1 0-2 0z', true],
        ['M0-1.33L-1.33.67h2.66z'], ['M0-1.33L-1.33.67h2.66z', true], ['M0 1.33L1.33-.67h-2.66z'],
        ['M0 1.33L1.33-.67h-2.66z', true], ['M0-1.41L1.41 0L0 1.41L-1.41 0z'], ['M0-1.41L1.41 0L0 1.41L-1.41 0z', true],
        ['M0 1.33L1.265.411L.782-1.067L-.782-1.076L-1.265.411z'],
        ['M0 1.33L1.265.411L.782-1.067L-.782-1.076L-1.265.411z', true]
    ];
    const numbersOf = text => (text.match(/-?[\d.]+(e-?\d+)?/g) || []).map(Number);
    const innocent = value => !/url|javascript|data:/i.test(value);

    // The vertices of data: points, else corners of lines; {x, y} in the drawing's pixels.
    const copyDrawn = (from, series) => {
        if (from.nodeType === Node.TEXT_NODE) return from.textContent.trim() ? from.textContent : null;
        if (from.nodeName === 'use') {
            const shape = POINTS[Number((/^#gpPt(\d+)$/.exec(from.getAttribute('xlink:href') || '') || [])[1])];
            const transform = from.getAttribute('transform') || '', [x, y] = numbersOf(transform);
            if (!shape) return null;
            if (series) series.spots.push({x, y});
            const colour = from.getAttribute('color');
            return svg('path', {
                d: shape[0],
                transform,
                color: colour && innocent(colour) ? colour : null,
                stroke: 'currentColor',
                'stroke-width': '0.178',
                fill: shape[1] ? 'currentColor' : 'none'
            });
        }
        const names = DRAWN[from.nodeName];
        if (!names) return null;
        const attributes = {};
        for (const name of names) {
            const value = from.getAttribute(name);
            if (value !== null && innocent(value)) attributes[name] = value;
        }
        if (series && from.nodeName === 'path') {
            const corners = (attributes.d || '').matchAll(/[ML]\s*(-?[\d.]+),(-?[\d.]+)/g);
            for (const [, x, y] of corners) series.corners.push({x: Number(x), y: Number(y)});
            series.colour = series.colour || attributes.stroke;
        }
        if (series && from.nodeName === 'circle')
            series.spots.push({x: Number(attributes.cx), y: Number(attributes.cy)});
        if (series && from.nodeName === 'g' && from.querySelector(':scope > text') && !series.key)
            series.key = numbersOf(attributes.transform || '');
        return svg(from.nodeName, attributes, Array.from(from.childNodes, child => copyDrawn(child, series)));
    };
    const copyPart = (from, all) => {
        const [, index, letter] =
            /^gnuplot_plot_(\d+)([a-z]*)$/.exec((from.getAttribute && from.getAttribute('id')) || '') || [];
        if (!index) return copyDrawn(from, null);
        // A title that the key does not show is gnuplot's own word for the plot.
        const bare = node => node.textContent.replace(/\s/g, '');
        const title = from.querySelector(':scope > title');
        const told = title && Array.from(from.querySelectorAll('text')).some(text => bare(text) === bare(title));
        const name = told ? title.textContent.trim() : '';
        const panel = Array.from(letter).reduce((sum, one) => 26 * sum + one.charCodeAt(0) - 96, 0);
        const one = {name, panel: Math.max(0, panel - 1), spots: [], corners: [], colour: null, key: null};
        one.group = svg('g', {'data-series': name}, Array.from(from.childNodes, child => copyDrawn(child, one)));
        const use = from.querySelector('use');
        one.colour = (use && use.getAttribute('color')) || one.colour || 'black';
        all.push(one);
        return one.group;
    };
    const valueAt = (panel, axis, place) => {
        const [from, to] = panel.pixel.slice(2 * axis), [low, high] = panel.range.slice(2 * axis);
        const share = (place - from) / (to - from);
        return panel.log[axis] ? low * (high / low) ** share : low + (high - low) * share;
    };

    const figureChart = async (figure, picture) => {
        const source = new DOMParser().parseFromString(await inflate(picture.chart), 'image/svg+xml');
        const canvas = source.getElementById('gnuplot_canvas');
        const [, , width, height] = numbersOf(source.documentElement.getAttribute('viewBox') || '');
        if (!canvas || !(width > 0 && height > 0)) throw new Error('it is no drawing of gnuplot');
        const all = [], panels = picture.panels || [];
        const parts =
            Array.from(canvas.childNodes, child => child.nodeType === Node.ELEMENT_NODE ? copyPart(child, all) : null);
        // A series without a name goes with the one of its colour.
        for (const one of all)
            one.goesWith = one.name ||
                (all.find(other => other.name && other.panel === one.panel && other.colour === one.colour) || one).name;
        for (const one of all) {
            const panel = panels[one.panel];
            const [left, right, low, high] = panel ? panel.pixel : [0, width, 0, height];
            const inKey = ({x, y}) => one.key && Math.abs(y - one.key[1] + 5) < 3 && Math.abs(x - one.key[0]) < 80;
            one.vertices = (one.spots.length > 1 ? one.spots : one.corners.concat(one.spots))
                               .filter(
                                   ({x, y}) => x > left - 1 && x < right + 1 && height - y > low - 1 &&
                                       height - y < high + 1 && !inKey({x, y}))
                               .sort((a, b) => a.x - b.x);
        }
        const shown = new Map([...new Set(all.map(one => one.goesWith).filter(Boolean))].map(name => [name, true]));
        const visible = () => all.filter(one => one.vertices.length && shown.get(one.goesWith) !== false);
        const hint = el('div', {class: 'hint', role: 'status', hidden: true});
        const ring = svg('circle', {class: 'ring', r: 9, cx: -20, cy: -20});
        const drawing =
            svg('svg', {
                class: 'figure-chart',
                viewBox: `0 0 ${width} ${height}`,
                tabindex: '0',
                role: 'application',
                'aria-label': `${picture.alt}. Arrow keys go from point to point and from series to series.`
            },
                svg('rect', {width, height, fill: '#fff'}), parts, ring);
        const scroll = el('div', {class: 'scroll figure-scroll'}, drawing);
        const frame = el('div', {class: 'chart-frame'}, scroll, hint);
        let at = null;

        const words = (one, {x, y}) => {
            const panel = panels[one.panel], name = one.name || one.goesWith;
            if (!panel || panel.pixel[0] === panel.pixel[1]) return name || 'a point';
            return `${name ? `${name}: ` : ''}${digits(valueAt(panel, 0, x), 4)}, ${
                digits(valueAt(panel, 1, height - y), 4)}`;
        };
        const tell = next => {
            at = next;
            hint.hidden = !at;
            fill(ring, {cx: at ? at.vertex.x : -20, cy: at ? at.vertex.y : -20}, []);
            if (!at) return;
            hint.textContent = words(at.one, at.vertex);
            const box = frame.getBoundingClientRect(), spot = ring.getBoundingClientRect();
            hint.style.left = '0px';
            const room = box.width - hint.offsetWidth - 4;
            hint.style.left = `${Math.max(4, Math.min(room, spot.left - box.left - hint.offsetWidth / 2))}px`;
            const above = spot.top - box.top - hint.offsetHeight - 8;
            hint.style.top = `${above > 0 ? above : spot.bottom - box.top + 8}px`;
        };
        drawing.addEventListener('pointermove', event => {
            const box = drawing.getBoundingClientRect(), scale = width / box.width;
            const x = (event.clientX - box.left) * scale, y = (event.clientY - box.top) * scale;
            let near = null, least = (24 * scale) ** 2;
            for (const one of visible())
                for (const vertex of one.vertices) {
                    const far = (vertex.x - x) ** 2 + (vertex.y - y) ** 2;
                    if (far < least) [near, least] = [{one, vertex}, far];
                }
            tell(near);
        });
        drawing.addEventListener('pointerleave', () => tell(null));
        drawing.addEventListener('blur', () => tell(null));
        drawing.addEventListener('keydown', event => {
            const list = visible();
            const along = {ArrowRight: 1, ArrowLeft: -1}[event.key], across = {ArrowDown: 1, ArrowUp: -1}[event.key];
            if (!list.length || !(along || across)) return;
            event.preventDefault();
            const row = at ? list.indexOf(at.one) : -1;
            const one = row < 0 ? list[0] : list[(row + (across || 0) + list.length) % list.length];
            const place = row < 0 || across ? -1 : one.vertices.indexOf(at.vertex);
            const next = row < 0 || across ? 0 : (place + along + one.vertices.length) % one.vertices.length;
            tell({one, vertex: one.vertices[next]});
        });

        const natural = () => Math.max(Math.min(width, 760), Math.min(width, frame.clientWidth || width));
        let zoomed = 1;
        const resize = () => {
            drawing.style.width = `${Math.round(natural() * zoomed)}px`;
            tell(null);
        };
        const zoom = factor => {
            zoomed = Math.max(1, Math.min(8, zoomed * factor));
            resize();
        };
        const toggle = (name, button, show) => {
            shown.set(name, show);
            button.setAttribute('aria-pressed', String(show));
            for (const one of all)
                if (one.goesWith === name) one.group.setAttribute('visibility', show ? 'visible' : 'hidden');
            tell(null);
        };
        const keys = [...shown.keys()].map(name => {
            const colour = all.find(one => one.name === name).colour;
            const button =
                el('button', {
                    type: 'button',
                    class: 'key',
                    'aria-pressed': 'true',
                    click: () => toggle(name, button, !shown.get(name))
                },
                   svg('svg', {class: 'swatch', width: 12, height: 12, viewBox: '0 0 12 12', 'aria-hidden': 'true'},
                       svg('rect', {width: 12, height: 12, fill: innocent(colour) ? colour : 'black'})),
                   name);
            return button;
        });
        const every = show =>
            el('button', {
                type: 'button',
                class: 'plain-button',
                click: () => keys.forEach((button, i) => toggle([...shown.keys()][i], button, show))
            },
               show ? 'all' : 'none');
        const host =
            el('div', {class: 'chart-host'},
               el('div', {class: 'chart-tools', role: 'group', 'aria-label': 'Zoom'},
                  el('button', {type: 'button', click: () => zoom(1.5), 'aria-label': 'Zoom in'}, '+'),
                  el('button', {type: 'button', click: () => zoom(1 / 1.5), 'aria-label': 'Zoom out'}, '−'),
                  el('span', {class: 'muted'}, 'Values under the pointer are read off the drawing.')),
               frame,
               keys.length ?
                   el('div', {class: 'keys', role: 'group', 'aria-label': 'Series'}, keys, every(true), every(false)) :
                   null);
        host.redraw = resize;
        return host;
    };

    // ---- One problem

    const detail = $('detail');
    let redraw = null;

    const runPanel = (problem, row, trial) => {
        const links = filmLinks(trial.run);
        return [
            el('p', null, el('strong', null, row.method), trial.settings ? ` ${trial.settings}` : '', ': ',
               trial.over !== undefined ? `error ${digits(trial.over)} of the tolerance` : 'no error',
               trial.value !== undefined ?
                   ` (${problem.error.replace(/^\|| - .*$/g, '')} = ${digits(trial.value, 5)})` :
                   '',
               `, ${timeText(trial.time)} of ${per(problem.kind)}. `,
               trial.counts ? '' :
                              `It does not count: ${trial.late ? '' : `${trial.state}: `}${
                                  trial.says || 'longer than the limit'}. `,
               trial.warnings ? `It warns: ${trial.warnings}. ` : ''),
            trial.run ? el('p', null, 'Run ', el('code', null, trial.run),
                           links.length ? [': ', links.flatMap((link, i) => i ? [', ', link] : [link])] : null) :
                        null,
            trial.command ? command(trial.command) : null,
            trial.run && links.length === 0 ?
                el('p', {class: 'muted'}, 'To see it move: ',
                   el('code', null, `./pbdbench view ${short(trial.run)} -o results/${short(trial.run)}.html`),
                   ', then the report again.') :
                null
        ].filter(Boolean);
    };

    const answer = (problem, rows) => {
        const budget = ranked.budgets[problem.kind][chosen.budget[problem.kind]];
        const within = budget.name === 'any' ? 'In any time' : `Within ${budget.name} of ${per(problem.kind)}`;
        const places = rows.map(row => ({row, best: bestOf(row, problem.kind)}))
                           .filter(place => place.best)
                           .sort((a, b) => a.best.over - b.best.over || a.best.time - b.best.time);
        if (places.length === 0)
            return {text: [`${within}: none of ${plural(rows.length, 'method')} has an answer.`], places};
        const {row, best} = places[0];
        const words = best.over <= 1 ? [el('strong', null, row.method)] :
                                       ['none is within the tolerance; nearest is ', el('strong', null, row.method)];
        return {
            places,
            text: [
                `${within}: `, words, `, error ${digits(best.over)} of the tolerance in ${timeText(best.time)}`,
                best.settings ? ` (${best.settings})` : '', best.warnings ? `; the run warns: ${best.warnings}` : '',
                '.'
            ]
        };
    };

    const drawDetail = (problem, method) => {
        const kind = problem.kind, rows = rowsOf(problem.id), now = tableNow();
        const budgets = ranked.budgets[kind];
        const panel = el(
            'div', {class: 'panel', id: 'selected-run', tabindex: '-1', 'aria-label': 'Selected run', role: 'region'});
        const idle = allRowsOf(problem.id).filter(row => !isRun(row)).map(row => row.method);
        const {text, places} = answer(problem, rows);
        const select = (row, trial, move) => {
            panel.replaceChildren(el('h3', null, 'Run'), ...runPanel(problem, row, trial));
            for (const one of detail.querySelectorAll('.chosen')) one.classList.remove('chosen');
            if (trial.run)
                for (const one of detail.querySelectorAll(`[data-run="${CSS.escape(trial.run)}"]`))
                    one.classList.add('chosen');
            if (move) panel.scrollIntoView({block: 'nearest'});
        };
        const trialRow = (row, trial) => Object.assign(
            [
                {text: row.method + (row.undeclared ? ' (own trials)' : ''), th: true}, trial.settings || '–',
                {text: trial.over === undefined ? undefined : digits(trial.over), sort: trial.over, class: 'number'},
                {text: trial.time === undefined ? undefined : timeText(trial.time), sort: trial.time, class: 'number'},
                trial.counts   ? 'counts' :
                    trial.late ? 'longer than the limit' :
                                 trial.state,
                trial.warnings || '–', {
                    text: trial.run ?
                        el('button', {type: 'button', class: 'link', click: () => select(row, trial, true)},
                           short(trial.run)) :
                        undefined,
                    sort: trial.run || ''
                },
                {text: filmLinks(trial.run).length ? filmLinks(trial.run) : undefined}
            ],
            {attributes: {'data-run': trial.run || '', 'data-method': row.method}});
        const runsHost = el('div');
        const only =
            el('select', {change: () => drawRuns()}, el('option', {value: ''}, 'all methods'),
               rows.map(row => el('option', {value: row.method, selected: row.method === method}, row.method)));
        const drawRuns = () => runsHost.replaceChildren(table(
            `Every trial, ${plural(chosen.threads, 'thread')}`,
            [
                ['Method'], ['Settings that differ', 'settings'], ['Error / tolerance', 'number'], ['Time', 'number'],
                ['State'], ['Warnings'], ['Run'], ['Film']
            ],
            rows.filter(row => !only.value || row.method === only.value)
                .flatMap(row => row.trials.map(trial => trialRow(row, trial))),
            {id: 'trial-table'}));
        const drawing = rows.length ? chart(problem, rows, select) : null;
        redraw = drawing && drawing.redraw ? drawing.redraw : null;
        $('detail-heading').textContent = begin(problem.title);
        const again = () => {
            drawDetail(problem, only.value);
            drawTables();
        };
        $('detail-body')
            .replaceChildren(
                ...[el('p', {class: 'muted'}, el('code', null, problem.id),
                       `: ${problem.error} at most ${problem.tolerance}; reference uncertain by ${
                           problem.uncertainty}: ${problem.reference}.`),
                    rows.length ?
                        el('div', {class: 'detail-controls'},
                           choice(
                               kind === 'moving' ? 'Time a frame' : 'Time a solve', budgets.map(budget => budget.name),
                               chosen.budget[kind],
                               i => {
                                   chosen.budget[kind] = i;
                                   again();
                               }),
                           now.threads > 1 ? choice(
                                                 'Threads', ['1', String(now.threads)], chosen.threads === 1 ? 0 : 1,
                                                 i => {
                                                     chosen.threads = i ? now.threads : 1;
                                                     drawControls();
                                                     again();
                                                 }) :
                                             null) :
                        null,
                    rows.length ? el('p', {class: 'answer', id: 'answer'}, text) :
                                  el('p', null, 'No trial is stored with this number of threads.'),
                    drawing, rows.length ? panel : null,
                    places.length ?
                        table(
                            `Methods within ${
                                budgets[chosen.budget[kind]].name === 'any' ?
                                    'any time' :
                                    budgets[chosen.budget[kind]].name}, the least error first`,
                            [
                                ['Method'], ['Error / tolerance', 'number'], ['Time', 'number'],
                                ['Time to the tolerance', 'number'], ['Settings', 'settings'], ['Run']
                            ],
                            places.map(({row, best}) => {
                                const exact = row.fastest[1] === null ? null : row.trials[row.fastest[1]];
                                return [
                                    {text: row.method, th: true}, {
                                        text: digits(best.over) + (best.warnings ? '*' : ''),
                                        sort: best.over,
                                        class: 'number'
                                    },
                                    {text: timeText(best.time), sort: best.time, class: 'number'}, {
                                        text: exact ? timeText(exact.time) : undefined,
                                        sort: exact ? exact.time : '',
                                        class: 'number'
                                    },
                                    best.settings || '–', {
                                        text:
                                            el('button',
                                               {type: 'button', class: 'link', click: () => select(row, best, true)},
                                               short(best.run)),
                                        sort: best.run
                                    }
                                ];
                            }),
                            {id: 'place-table'}) :
                        null,
                    rows.length ? el('p', {class: 'runs-filter'}, el('label', null, 'Runs of ', only)) : null,
                    rows.length ? runsHost : null,
                    rows.some(row => row.authors) ?
                        el('details', null, el('summary', null, 'Settings of the authors'),
                           el('ul', null,
                              rows.filter(row => row.authors)
                                  .map(row => el('li', null, `${row.method}: ${row.authors}`)))) :
                        null,
                    idle.length ? el('p', {class: 'muted'}, `Not run: ${idle.join(', ')}.`) : null,
                    problem.left_out.length ?
                        el('details', null,
                           el('summary', null, `${plural(problem.left_out.length, 'method')} left out`),
                           el('ul', null,
                              problem.left_out.map(out => el('li', null, `${out.method}: ${out.because}`)))) :
                        null,
                    el('p', null, 'The same on a terminal, and the chart for print by gnuplot:'),
                    command(
                        `./pbdbench rank ${now && now.quick ? '--quick ' : ''}--problem ${problem.id}` +
                        `${
                            budgets[chosen.budget[kind]].seconds ?
                                ` --budget ${budgets[chosen.budget[kind]].name.replace(' ', '')}` :
                                ''}\n` +
                        `./pbdbench plot work-precision --problem ${problem.id} -o ${problem.id}.pdf`)]
                    .filter(Boolean));
        if (rows.length) drawRuns();
        if (redraw) redraw();
        const own = rows.find(row => row.method === method);
        const first = own ? bestOf(own, kind) || own.trials.find(trial => trial.run) :
            places.length ? places[0].best :
                            null;
        if (first)
            select(own || places[0].row, first, false);
        else
            panel.replaceChildren(el('p', {class: 'muted'}, 'No run.'));
    };

    // ---- One figure's chart, in the same place

    const chartedOf = id => {
        const figure = figures.find(one => one.id === id);
        const picture = figure && (figure.pictures || []).find(one => one.chart);
        return picture ? {figure, picture} : null;
    };
    const drawFigureDetail = async ({figure, picture}) => {
        const host = el('div', {class: 'chart-place'}, el('p', {class: 'muted'}, 'Drawing…'));
        redraw = null;
        $('detail-heading').textContent = figure.title;
        $('detail-body')
            .replaceChildren(
                el('p', {class: 'muted'}, el('code', null, figure.id)), host,
                ...[figure.caption && figure.caption !== figure.title ? el('p', {class: 'caption'}, figure.caption) :
                                                                        null,
                    picture.href ? el('p', null, el('a', {href: picture.href}, 'The picture for print')) : null,
                    command(`./pbdbench reproduce ${figure.id}`)]
                    .filter(Boolean));
        try {
            const drawn = await figureChart(figure, picture);
            if (!host.isConnected) return;
            host.replaceChildren(drawn);
            redraw = drawn.redraw;
            redraw();
        } catch (error) {
            host.replaceChildren(el('p', {class: 'trouble'}, `The chart cannot be drawn: ${error.message}.`));
        }
    };

    $('detail-close').addEventListener('click', () => detail.close());
    detail.addEventListener('click', event => {
        if (event.target === detail) detail.close();
    });
    detail.addEventListener('close', () => {
        redraw = null;
        document.body.classList.remove('detail-open');
        if (/^#(problem|chart)=/.test(location.hash))
            window.history.replaceState(null, '', location.pathname + location.search);
    });
    window.addEventListener('resize', () => {
        if (redraw) redraw();
    });

    // ---- Claims by paper

    const verdictMark = verdict => el('span', {class: `verdict ${verdict}`}, verdictWords(verdict));
    const runLine = id => {
        const run = runs[id];
        if (!run)
            return el(
                'li', null, el('code', null, short(id)),
                ' (this page is limited: ', el('code', null, `./pbdbench show ${short(id)}`), ')');
        return el(
            'li', null,
            el('details', {class: 'run'},
               el('summary', null, el('code', null, short(id)),
                  ` ${run.case} ${run.method}${run.settings ? ` ${run.settings}` : ''}${
                      run.state === 'ok' ? '' : `: ${run.state}`}`),
               el('div', null,
                  el('p', null,
                     `${run.backend}, ${run.precision}, ${plural(run.threads, 'thread')}; ${
                         run.started.slice(0, 19)}; commit ${commit(run)}; ${run.cpu}`,
                     run.says ? `. ${run.says}` : ''),
                  filmLinks(id).length ? el('p', null, filmLinks(id)) : null, command(run.command),
                  el('p', {class: 'metrics'},
                     run.metrics.map(
                         ([name, value,
                           unit]) => [el('span', null, `${name} ${value}${unit ? ` ${unit}` : ''}`), ' '])))));
    };
    // Long lists of runs are written when they are opened.
    const lazy = (summary, make) => {
        const folded =
            el('details', {
                toggle: event => {
                    if (!folded.open || folded.dataset.made) return;
                    folded.dataset.made = 'yes';
                    folded.append(make());
                }
            },
               el('summary', null, summary));
        return folded;
    };
    const runList = ids =>
        el('ul', {class: 'runs'}, ids.slice(0, 500).map(runLine),
           ids.length > 500 ? el('li', null, `${ids.length - 500} more`) : null);

    const VERDICTS = ['reproduced', 'partly', 'not_reproduced', 'not_run'];
    const bar = list => {
        const counts = VERDICTS.map(verdict => list.filter(claim => !claim.ours && claim.verdict === verdict).length);
        return [
            el('div', {class: 'bar', 'aria-hidden': 'true'},
               counts.map(
                   (count, i) => count ? (() => {
                       const part = el('span', {class: `bar-${VERDICTS[i]}`}, String(count));
                       part.style.flexGrow = String(count);
                       return part;
                   })() :
                                         null)),
            el('p', {class: 'muted'}, counts.map((count, i) => `${count} ${verdictWords(VERDICTS[i])}`).join(', '))
        ];
    };
    const claimRow = claim => {
        const name = claim.id.includes('.') ? claim.id.slice(claim.id.indexOf('.') + 1) : claim.id;
        const figure =
            claim.figure.startsWith(`${claim.paper}-`) ? claim.figure.slice(claim.paper.length + 1) : claim.figure;
        return Object.assign(
            [
                {text: el('a', {href: `#figure-${claim.figure}`}, figure), sort: claim.figure},
                {text: name + (claim.ours ? ' (ours)' : ''), th: true},
                {text: verdictMark(claim.verdict), sort: VERDICTS.indexOf(claim.verdict), class: 'state'}, {
                    text: claim.value === undefined ? undefined : digits(claim.value, 4),
                    sort: claim.value,
                    class: 'number'
                },
                {
                    class: 'says',
                    text: [
                        claim.says, claim.note ? el('span', {class: 'note'}, claim.note) : null,
                        claim.other_sources ? el('span', {class: 'note'}, 'Judged with other sources.') : null,
                        claim.reworded ? el('span', {class: 'note'}, 'The sentence has changed since it was judged.') :
                                         null,
                        claim.why ?
                            el('details', null, el('summary', null, 'Why this result'), el('p', null, claim.why)) :
                            null,
                        claim.set !== undefined ?
                            lazy(plural(claim.runs, 'run'), () => runList(claims.sets[claim.set])) :
                            null
                    ]
                },
                {
                    text: !claim.accepted                ? 'none yet' :
                        claim.accepted === claim.verdict ? 'the same' :
                                                           verdictMark(claim.accepted),
                    class: 'accepted',
                    sort: claim.accepted ? VERDICTS.indexOf(claim.accepted) : ''
                }
            ],
            {attributes: {'data-verdict': claim.verdict, id: `claim-${claim.id}`}});
    };
    const drawClaims = () => {
        const t = claims.tally, total = t.reproduced + t.partly + t.not_reproduced + t.not_run;
        const words =
            el('input', {type: 'search', id: 'claim-words', placeholder: 'shear, fig8, poly…', input: () => filter()});
        const verdict =
            el('select', {id: 'claim-verdict', change: () => filter()}, el('option', {value: ''}, 'all'),
               VERDICTS.map(one => el('option', {value: one}, verdictWords(one))));
        const count = el('output', {id: 'claim-count'});
        const papers =
            claims.papers.map(paper => ({paper, list: claims.claims.filter(claim => claim.paper === paper.key)}));
        const known = new Set(claims.papers.map(paper => paper.key));
        const rest = claims.claims.filter(claim => !known.has(claim.paper));
        if (rest.length) papers.push({paper: {key: 'others', title: 'figures without a paper'}, list: rest});
        const folded = papers.filter(({list}) => list.length).map(({paper, list}) => {
            const whole =
                el('details', {class: 'paper card', 'data-paper': paper.key},
                   el('summary', null,
                      el('span', {class: 'paper-name'}, el('strong', null, paper.key),
                         ` ${paper.year ? `${paper.year}, ` : ''}${paper.title}`),
                      bar(list)),
                   paper.citation ? el('p', {class: 'citation'}, paper.citation, ' ',
                                       paper.href ? el('a', {href: paper.href, rel: 'noreferrer'}, paper.href) : null) :
                                    null,
                   table(
                       `Claims of ${paper.key}`,
                       [
                           ['Figure'], ['Claim'], ['Verdict'], ['Value', 'number'], ['What it says', 'says'],
                           ['Accepted verdict']
                       ],
                       list.map(claimRow), {class: 'claim-table'}));
            return whole;
        });
        const filter = () => {
            const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
            const active = wanted.length > 0 || verdict.value !== '';
            let shown = 0, all = 0;
            for (const one of folded) {
                let here = 0;
                for (const row of one.querySelectorAll('.claim-table tbody > tr')) {
                    const text = row.id.toLowerCase() + row.textContent.toLowerCase();
                    row.hidden =
                        !((verdict.value === '' || row.dataset.verdict === verdict.value) &&
                          wanted.every(word => text.includes(word)));
                    here += row.hidden ? 0 : 1;
                    all += 1;
                }
                one.hidden = here === 0;
                if (active) one.open = here > 0;
                shown += here;
            }
            count.textContent = `${shown} of ${all} shown`;
        };
        const others = claims.claims.filter(claim => claim.other_sources).length,
              ours = claims.claims.filter(claim => claim.ours).length;
        $('claims-body')
            .replaceChildren(
                ...[el('p', {class: 'summary'}, el('strong', null, `${plural(total, 'claim')} of papers`),
                       VERDICTS.map(
                           one => [' ', el('span', {class: `verdict ${one}`}, `${t[one]} ${verdictWords(one)}`)])),
                    el('p', null,
                       'Each sentence is one checkable claim of a paper; a query over stored runs gives its value and verdict. The accepted verdict is kept with the figure: where the two differ, something changed.' +
                           (ours ? ` ${plural(ours, 'more claim')} of our own ${
                                       ours === 1 ? 'is' : 'are'} listed, and not counted.` :
                                   '')),
                    others ? el('p', {class: 'trouble'},
                                others === claims.claims.length ?
                                    'All verdicts were' :
                                    `${others === 1 ? '1 verdict was' : `${others} verdicts were`}`,
                                ' computed on runs of other sources than this build\'s: ',
                                el('code', null, './pbdbench reproduce all'), ' computes new ones.') :
                                                      null,
                    claims.claims.length ? el('div', {class: 'filter'}, el('label', null, 'Find ', words),
                                              el('label', null, 'Verdict ', verdict), count) :
                                           null,
                    ...folded]
                    .filter(Boolean));
        filter();
    };

    // ---- Figures

    const dataTable = one => one.trouble ?
        el('p', null, one.trouble) :
        table(
            `${one.name}${one.cut ? ' (the first rows)' : ''}`, one.header.map(title => [title]),
            one.rows.map(row => row.map(field => ({text: field, sort: field}))));
    // As an image a drawing runs no script and loads nothing. Drawn after the page, one by one.
    const waiting = [];
    const chartLink = (figure, picture) => {
        const image = el('img', {alt: picture.alt, class: 'drawn'});
        waiting.push(async () => {
            const text = await inflate(picture.chart);
            image.src = `data:image/svg+xml,${encodeURIComponent(text)}`;
        });
        return el(
            'a', {href: `#chart=${figure.id}`}, image, el('span', {class: 'muted'}, 'Chart: values, series, zoom'));
    };
    const drawWaiting = async () => {
        for (const draw of waiting.splice(0)) {
            await draw().catch(() => {});
            await new Promise(next => setTimeout(next));
        }
        document.body.dataset.pictures = 'yes';
    };
    const figureCard = figure => {
        const list = claims.claims.filter(claim => claim.figure === figure.id);
        return el(
            'article', {class: 'card figure', id: `figure-${figure.id}`, 'data-paper': figure.paper},
            el('h3', null, figure.title, ' ', el('span', {class: 'muted id'}, figure.id)),
            figure.trouble ? el('p', {class: 'trouble'}, figure.trouble) : null,
            (figure.pictures || [])
                .map(
                    picture => picture.none ? el('p', {class: 'muted'}, picture.none) :
                        picture.chart       ? chartLink(figure, picture) :
                        picture.href        ? el('a', {href: picture.href},
                                                 el('img', {src: picture.src, alt: picture.alt, loading: 'lazy'})) :
                                              el('img', {src: picture.src, alt: picture.alt, loading: 'lazy'})),
            (figure.pictures ||
             []).map(picture => picture.no_chart ? el('p', {class: 'muted'}, picture.no_chart) : null),
            figure.no_picture ?
                el('p', {class: 'muted'},
                   figure.accepted_picture ? 'The accepted picture, not of this store. ' : 'No picture here. ',
                   figure.no_picture) :
                null,
            !figure.caption || figure.caption === figure.title ? null :
                figure.caption.length < 160                    ? el('p', {class: 'caption'}, figure.caption) :
                                                                 el('details', null, el('summary', null, 'Caption'),
                                                                    el('p', {class: 'caption'}, figure.caption)),
            list.length ? el('ul', {class: 'verdicts'},
                             list.map(
                                 claim =>
                                     el('li', null, verdictMark(claim.verdict), ' ',
                                        el('a', {href: `#claim-${claim.id}`}, claim.id)))) :
                          null,
            figure.notes ? el('details', null, el('summary', null, 'Notes'), el('p', null, figure.notes)) : null,
            (figure.paper_data || []).length ?
                lazy('The paper\'s data', () => el('div', null, figure.paper_data.map(dataTable))) :
                null,
            (figure.drawn_data || []).length ?
                lazy('The numbers drawn', () => el('div', null, figure.drawn_data.map(dataTable))) :
                null,
            command(`./pbdbench reproduce ${figure.id}`));
    };
    const drawFigures = () => {
        const here = figures.filter(figure => !figure.absent), absent = figures.filter(figure => figure.absent);
        const keys = [...new Set(here.map(figure => figure.paper))];
        const cards = here.map(figureCard);
        const words =
            el('input', {type: 'search', id: 'figure-words', placeholder: 'cantilever, fig3…', input: () => filter()});
        const only =
            el('select', {id: 'figure-paper', change: () => filter()}, el('option', {value: ''}, 'all papers'),
               keys.map(key => el('option', {value: key}, key || 'ours')));
        const count = el('output', {id: 'figure-count'});
        const filter = () => {
            const wanted = words.value.toLowerCase().split(/\s+/).filter(Boolean);
            let shown = 0;
            for (const card of cards) {
                const text = card.textContent.toLowerCase();
                card.hidden =
                    !((only.value === '' || card.dataset.paper === only.value) &&
                      wanted.every(word => text.includes(word)));
                shown += card.hidden ? 0 : 1;
            }
            count.textContent = `${shown} of ${cards.length} shown`;
        };
        $('figures-body')
            .replaceChildren(
                el('p', null,
                   'Drawn by gnuplot from stored runs. A picture leads to its chart, or to its whole size where that lies beside the page.'),
                el('div', {class: 'filter'}, el('label', null, 'Find ', words), el('label', null, 'Paper ', only),
                   count),
                el('div', {class: 'gallery'}, cards),
                absent.length ?
                    el('details', null,
                       el('summary', null,
                          `${absent.length} figures and tables of the papers that cannot be reproduced here`),
                       table(
                           'Not here', [['Figure or table'], ['Paper'], ['What it shows'], ['Why not']],
                           absent.map(
                               figure => [{text: figure.id, th: true}, figure.paper, figure.title, figure.absent]))) :
                    '');
        filter();
    };

    // ---- Comparisons, history

    const errorsText = list => list && list.length ?
        list.map(
                error =>
                    `${error.name} ${digits(error.value)}${error.unit && error.unit !== '1' ? ` ${error.unit}` : ''}`)
            .join('; ') :
                                                                                              'none known';
    const runLink = (id, text) =>
        runs[id] ? lazy(text || short(id), () => el('ul', {class: 'runs'}, runLine(id))) : text || short(id);
    const drawComparisons = () => {
        $('comparisons-body')
            .replaceChildren(...(
                comparisons.length ?
                    [
                        el('p', null,
                           'Two arms timed in alternation. The ratio is the time of B over that of A, with its 98 % interval.'),
                        table(
                            'Comparisons, newest first (200 at most)',
                            [
                                ['A'], ['B'], ['B is'], ['Time of B / A', 'number'], ['Error of A'], ['Error of B'],
                                ['Margin', 'number'], ['Pairs', 'number'], ['Clock'], ['Purpose'], ['Machine'], ['When']
                            ],
                            comparisons.map(
                                one =>
                                    [one.a, one.b,
                                     [
                                         el('strong', null,
                                            one.verdict === 'errors_differ' ? 'errors differ: no time is claimed' :
                                                                              one.verdict),
                                         one.says ? `: ${one.says}` : ''
                                     ],
                                     {
                                         text: one.ratio === undefined ?
                                             undefined :
                                             `${one.ratio.toFixed(3)} (${one.low.toFixed(3)} to ${
                                                 one.high.toFixed(3)})`,
                                         sort: one.ratio,
                                         class: 'number'
                                     },
                                     errorsText(one.errors_a), errorsText(one.errors_b),
                                     {text: `${digits(100 * one.margin)} %`, sort: one.margin, class: 'number'},
                                     {text: String(one.pairs), sort: one.pairs, class: 'number'}, one.clock,
                                     one.purpose, one.cpu, one.decided.slice(0, 16)]),
                            {id: 'comparison-table'})
                    ] :
                    [
                        el('p', null, 'No comparison is stored yet. This makes one:'),
                        command('./pbdbench compare METHOD:key=value METHOD:key=value --case CASE')
                    ]));
    };

    // The values as dots and the levels as a line. The row has the numbers as text.
    const course = one => {
        if (!one.values) return '–';
        const width = 150, height = 34, edge = 4;
        const low = Math.min(...one.values), high = Math.max(...one.values);
        const x = i => edge + (width - 2 * edge) * i / Math.max(1, one.values.length - 1);
        const y = value => height - edge - (high > low ? (height - 2 * edge) * (value - low) / (high - low) : 0);
        return svg(
            'svg', {class: 'course', viewBox: `0 0 ${width} ${height}`, width, height, 'aria-hidden': 'true'},
            svg('polyline',
                {points: one.levels.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(' ')}),
            svg('path', {d: one.values.map((value, i) => `M${x(i).toFixed(1)} ${y(value).toFixed(1)}h0`).join('')}));
    };
    const stepText = step => step ?
        `${step.is ? `${step.is}: ` : ''}${digits(step.before, 4)} to ${digits(step.after, 4)}` +
            `${
                step.change !== undefined ? ` (${step.change >= 0 ? '+' : ''}${(100 * step.change).toFixed(1)} %)` :
                                            ''} at ${commit(step)}, p = ${digits(step.p, 2)}` +
            `${step.steps > 1 ? `; ${step.steps - 1} before` : ''}` :
                                undefined;
    const drawHistory = () => {
        $('history-body')
            .replaceChildren(
                el('p', null,
                   'A point is a build: the median over its runs of one cell on one machine. A step is where the level changed permanently, confirmed by a permutation test.'),
                history.length ?
                    table(
                        'Histories of the cells run last; those with a step come first',
                        [
                            ['Case'], ['Method'], ['Settings', 'settings'], ['On'], ['Metric'], ['Builds', 'number'],
                            ['Course'], ['Newest', 'number'], ['Last step', 'settings'], ['Machine']
                        ],
                        history.map(
                            one =>
                                [one.case, one.method, one.settings || '–',
                                 `${one.backend}, ${one.precision}, ${plural(one.threads, 'thread')}`, one.metric,
                                 {text: String(one.builds), sort: one.builds, class: 'number'}, course(one), {
                                     text: `${digits(one.newest, 4)}${one.unit ? ` ${one.unit}` : ''}`,
                                     sort: one.newest,
                                     class: 'number'
                                 },
                                 {
                                     text: stepText(one.step),
                                     sort: one.step && one.step.change !== undefined ? one.step.change : '',
                                     class: 'settings'
                                 },
                                 `${one.cpu}, ${one.preset}`]),
                        {id: 'history-table'}) :
                    el('p', null, 'No cell has been run by two builds yet.'),
                command('./pbdbench history'));
    };

    // ---- Machines

    const fact = (name, value) => [el('dt', null, name), el('dd', null, value)];
    const machineCard = one => el('article', {class: 'card', id: `machine-${one.id}`},
        el('h3', null, one.cpu),
        el('p', {class: 'muted'}, [one.os, one.isa, plural(one.cores, 'core'), plural(one.threads, 'thread'), `L1d/L2/L3 ${one.l1d}/${one.l2}/${one.l3} KiB`,
            `${one.memory} MiB`, one.gpu ? one.gpu : 'no GPU'].join(', '), '; fingerprint ', el('code', null, short(one.fingerprint))),
        one.limits.length ? table('Limits, newest measurement', [['Limit'], ['Backend'], ['Precision'], ['Threads', 'number'], ['Best', 'number'], ['Median', 'number']],
            one.limits.map(limit => [{text: limit.name, th: true}, limit.backend, limit.precision, {text: String(limit.threads), class: 'number'}, {text: limit.best, class: 'number'}, {text: limit.median, class: 'number'}])) : null,
        one.benches.length ? table('Benches: speed, beside the machine\'s limits and the error of the same cell',
            [['Case'], ['Method'], ['Name', 'settings'], ['On'], ['Step or solve', 'number'], ['Constraint solves/s', 'number'], ['% of bandwidth', 'number'], ['% of multiply-adds', 'number'], ['Error']],
            one.benches.map(bench => [bench.case, {text: bench.method, th: true}, bench.name, `${bench.backend}, ${bench.precision}, ${plural(bench.threads, 'thread')}`,
                {text: timeText(bench.seconds), sort: bench.seconds, class: 'number'},
                ...['solves', 'bandwidth', 'flops'].map(key => ({text: bench[key] === undefined ? undefined : digits(bench[key]), sort: bench[key], class: 'number'})),
                bench.error || 'none known'])) : null);
    const drawMachines = () => {
        $('machines-body')
            .replaceChildren(
                ...[...machines.machines.map(machineCard),
                    machines.machines.some(one => one.limits.length || one.benches.length) ?
                        null :
                        el('p', null, 'No limits and benches are stored yet. These make some:'),
                    command('./pbdbench env --measure\n./pbdbench bench'), el('h3', null, 'This build'),
                    el('dl', {class: 'facts'}, fact('Version', `${about.version}, commit ${commit(about)}`),
                       fact('Sources', about.source), fact('Compiler', about.compiler), fact('Flags', about.flags),
                       fact('Preset', about.preset), about.store ? fact('Store', about.store) : null),
                    (machines.builds || []).length ?
                        el('details', null,
                           el('summary', null,
                              `${plural(machines.builds.length, 'build')} behind the claims and comparisons`),
                           table(
                               'Builds',
                               [
                                   ['Version'], ['Commit'], ['Preset'], ['Compiler'], ['Flags', 'settings'],
                                   ['Sources'], ['Runs here', 'number']
                               ],
                               machines.builds.map(
                                   build =>
                                       [{text: build.version, th: true}, commit(build), build.preset, build.compiler,
                                        build.flags, short(build.source),
                                        {text: String(build.runs), sort: build.runs, class: 'number'}]))) :
                        null,
                    el('details', null, el('summary', null, 'Backends, libraries, licence'),
                       table(
                           'Where kernels can run', [['Backend'], ['What it is'], ['In this build']],
                           machines.backends.map(one => [{text: one.name, th: true}, one.summary, one.here])),
                       table(
                           'Linked with', [['Library'], ['Version'], ['Licence'], ['For']],
                           machines.libraries.map(
                               one => [{text: one.name, th: true}, one.version, one.licence, one.use])),
                       el('p', null, machines.licence))]
                    .filter(Boolean));
    };

    drawProblems();
    drawClaims();
    drawFigures();
    drawComparisons();
    drawHistory();
    drawMachines();

    // ---- Links: into a problem, and into what is folded or filtered away

    const route = () => {
        const hash = decodeURIComponent(location.hash.slice(1));
        const words = new URLSearchParams(location.hash.slice(1));
        const problem = problemOf.get(words.get('problem')), charted = chartedOf(words.get('chart'));
        if (problem || charted) {
            if (!detail.open) detail.showModal();
            document.body.classList.add('detail-open');
            if (problem)
                drawDetail(problem, words.get('method') || '');
            else
                drawFigureDetail(charted);
            detail.scrollTop = 0;
            $('detail-heading').focus();
            return;
        }
        if (detail.open) detail.close();
        const target = hash && $(hash);
        if (!target) return;
        for (let hidden = target.closest('[hidden]'); hidden; hidden = hidden.parentElement.closest('[hidden]'))
            hidden.hidden = false;
        for (let folded = target.closest('details'); folded; folded = folded.parentElement.closest('details'))
            folded.open = true;
        target.scrollIntoView();
    };
    window.addEventListener('hashchange', route);
    if (location.hash) route();

    // ---- In print nothing can be unfolded: claims are printed open, the rest is not.

    let opened = [];
    window.addEventListener('beforeprint', () => {
        opened = Array.from(document.querySelectorAll('details.paper:not([open])'));
        for (const folded of opened) folded.open = true;
    });
    window.addEventListener('afterprint', () => {
        for (const folded of opened) folded.open = false;
    });
    document.body.dataset.drawn = 'yes';
    drawWaiting();
})();
