// Looks at the pages that report_browser.sh makes. node report_browser.js BROWSER FOLDER
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');
const {launch} = require('./browser.js');

const [program, folder] = process.argv.slice(2);
const WIDTHS = [360, 768, 1400];
const failures = [];
let stopAtFirst = false;  // for a mutant, of which later checks say no more
let checks = 0, where = '';
const check = (good, what) => {
    checks += 1;
    if (good) return;
    failures.push(`${where}: ${what}`);
    if (stopAtFirst) throw new Error(what);
};
const url = (name, hash = '') => `file://${path.join(folder, `${name}.html`)}${hash}`;
const dataOf = name => JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'));

// ---- In the page

// What is wrong with the boxes of elements: beyond the window, clipped, or over one another.
const boxes = width => {
    const wrong = [];
    const seen = element => element.checkVisibility() && element.getBoundingClientRect().width > 0;
    const root = document.querySelector('dialog[open]') || document.body;
    const all = selector => Array.from(root.querySelectorAll(selector)).filter(seen);
    const tell = (element, what) => wrong.push(
        `${element.tagName}.${element.getAttribute('class') || ''} "${element.textContent.slice(0, 30)}" ${what}`);
    if (document.documentElement.scrollWidth > width)
        wrong.push(`the page is ${document.documentElement.scrollWidth} px wide`);
    if (root !== document.body && root.scrollWidth > root.clientWidth + 1)
        wrong.push(`the problem is ${root.scrollWidth} px wide in ${root.clientWidth}`);
    for (
        const element of all(
            'h1, h2, h3, p, pre, li, button, input, select, summary, img, td, th, caption, label, dd, svg, article, .bar, .scroll')) {
        if (element.closest('.scroll') && !element.classList.contains('scroll'))
            continue;  // these scroll by themselves
        if (element.matches('.skip, .unseen')) continue;
        const box = element.getBoundingClientRect();
        if (box.left < -1 || box.right > width + 1)
            tell(element, `reaches from ${box.left.toFixed(0)} to ${box.right.toFixed(0)}`);
        if (element.matches('button, p, pre, h1, h2, h3, td button, .bar span') &&
            element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).display !== 'inline')
            tell(element, `is clipped: ${element.scrollWidth} px of text in ${element.clientWidth}`);
    }
    const groups = [
        'nav a', '.legend > span', '#problem-controls > *', '.choice > *', '.matrix tbody td button',
        '.matrix th.method span', '.matrix tbody th', '.gallery > article', '.key', '.chart-tools > *', '.bar span',
        '.figure > *', '.detail-head > *', '.detail-controls > *', '#detail-body > *', '.work-chart .tick', 'section'
    ];
    for (const selector of groups) {
        const list = all(selector)
                         .map(element => [element, element.getBoundingClientRect()])
                         .sort((a, b) => a[1].top - b[1].top);
        for (let i = 0; i < list.length; i++)
            for (let k = i + 1; k < list.length && list[k][1].top < list[i][1].bottom - 1; k++) {
                const [a, b] = [list[i][1], list[k][1]];
                if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && !list[i][0].contains(list[k][0]) &&
                    !list[k][0].contains(list[i][0]))
                    tell(list[i][0], `lies over "${list[k][0].textContent.slice(0, 30)}"`);
            }
    }
    for (const text of all('.work-chart text')) {
        const box = text.getBoundingClientRect(), edge = text.closest('svg').getBoundingClientRect();
        if (box.left < edge.left - 1 || box.right > edge.right + 1 || box.top < edge.top - 1 ||
            box.bottom > edge.bottom + 1)
            tell(text, 'is outside the chart');
    }
    return wrong.slice(0, 5);
};

// Text stands out from what is behind it (WCAG AA: 4.5 to 1).
const contrasts = () => {
    const wrong = [];
    const numbers = colour => colour.match(/[\d.]+/g).slice(0, 3).map(Number);
    const luminance = colour => {
        const [r, g, b] =
            numbers(colour).map(v => v / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const backOf = element => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (colour !== 'rgba(0, 0, 0, 0)') return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    for (const selector
             of ['body', 'a[href]', '.muted', '.caption', '.note', '.command', 'th button', '.bar span', '.verdict',
                 'caption', 'summary', '.matrix td button', '.choice button', '.legend'])
        for (const element of Array.from(document.querySelectorAll(selector)).slice(0, 60)) {
            const [a, b] =
                [luminance(getComputedStyle(element).color), luminance(backOf(element))].sort((x, y) => y - x);
            const value = (a + 0.05) / (b + 0.05);
            if (value < 4.5)
                wrong.push(`${selector} "${element.textContent.slice(0, 20)}" has a contrast of ${value.toFixed(2)}`);
        }
    return wrong.slice(0, 5);
};

// Sorts every table of the page by every column, both ways.
const sorting = () => {
    const wrong = [];
    let sorted = 0;
    for (const details of document.querySelectorAll('details')) details.open = true;
    const key = cell => cell.dataset.sort ?? cell.textContent.trim();
    const order = (cells, down) => {
        const keys = cells.map(key), full = keys.filter(one => one !== '');
        if (keys.slice(0, full.length).includes('')) return false;  // empty cells are the last ones
        const numbers = full.every(one => isFinite(one));
        const before = (a, b) => numbers ?
            Number(a) <= Number(b) :
            new Intl.Collator(undefined, {numeric: true, sensitivity: 'base'}).compare(a, b) <= 0;
        return full.every((one, i) => i === 0 || (down ? before(one, full[i - 1]) : before(full[i - 1], one)));
    };
    for (const table of document.querySelectorAll('table')) {
        const name = table.caption && table.caption.textContent;
        if (!name) {
            wrong.push('a table without caption');
            continue;
        }
        const headers = Array.from(table.tHead.rows[0].cells);
        if (!headers.every(header => header.scope === 'col')) wrong.push(`${name}: a header without scope`);
        const rows = () => Array.from(table.tBodies[0].rows), before = rows().length;
        if (before < 2) continue;
        for (const header of headers) {
            const button = header.querySelector('button'), title = `${name}: ${header.textContent}`;
            if (!button) {
                wrong.push(`${title} has no button`);
                continue;
            }
            const column = () => rows().map(row => row.cells[header.cellIndex]);
            button.click();
            if (header.getAttribute('aria-sort') !== 'ascending' || !order(column(), false))
                wrong.push(`${title} is not ascending`);
            const forwards = new Map(rows().map((row, i) => [row, i]));
            button.click();
            if (header.getAttribute('aria-sort') !== 'descending' || !order(column(), true))
                wrong.push(`${title} is not descending`);
            if (headers.filter(other => other.hasAttribute('aria-sort')).length !== 1)
                wrong.push(`${title}: two columns say that they are sorted`);
            const cell = row => key(row.cells[header.cellIndex]);
            if (!rows().every(
                    (row, i) => i === 0 || cell(row) !== cell(rows()[i - 1]) ||
                        forwards.get(row) > forwards.get(rows()[i - 1])))
                wrong.push(`${title} is not stable`);
            if (rows().length !== before) wrong.push(`${title} loses rows`);
            sorted += 1;
        }
    }
    return {sorted, wrong: wrong.slice(0, 5)};
};

const links = () => {
    const wrong = [], files = [];
    const ids = Array.from(document.querySelectorAll('[id]'), element => element.id);
    if (new Set(ids).size !== ids.length) wrong.push(`the id ${ids.find((id, i) => ids.indexOf(id) !== i)} twice`);
    for (const link of document.querySelectorAll('a[href]')) {
        const href = link.getAttribute('href');
        if (/^#(problem|chart)=/.test(href)) continue;  // followed below
        if (href.startsWith('#')) {
            if (!document.getElementById(decodeURIComponent(href.slice(1)))) wrong.push(`${href} leads nowhere`);
        } else if (!href.startsWith('https://'))
            files.push(href);
    }
    for (const image of document.querySelectorAll('img'))
        if (!/^data:image\/(png;|svg\+xml,)/.test(image.src) || image.alt.length < 10 ||
            (image.classList.contains('drawn') && image.naturalWidth === 0))
            wrong.push(`an image of ${image.src.slice(0, 40)}, or without words`);
    const loaded = performance.getEntriesByType('resource')
                       .map(entry => entry.name)
                       .filter(name => !name.startsWith('data:') && !name.startsWith('blob:'));
    if (loaded.length) wrong.push(`loads ${loaded[0]}`);
    return {wrong: wrong.slice(0, 5), files, count: document.querySelectorAll('a[href]').length};
};

// ---- Looking

const sleep = ms => new Promise(done => setTimeout(done, ms));
// Waits until `condition` (of the page, or a function here) holds; gives up after a minute, on a busy machine too.
const until = async (page, condition, ...args) => {
    for (let i = 0; i < 1200; i++) {
        if (await page.evaluate(condition, ...args)) return true;
        await sleep(50);
    }
    return false;
};
// Waits until events that are queued were handled and drawn, and the page has not changed for a while.
const settled = page => page.evaluate(() => new Promise(done => {
    let changed = performance.now();
    const begin = changed, observer = new MutationObserver(() => {
        changed = performance.now();
    });
    observer.observe(document, {subtree: true, childList: true, attributes: true, characterData: true});
    const look = frames => {
        if (frames < 3 || (performance.now() - changed < 100 && performance.now() - begin < 10000))
            return requestAnimationFrame(() => setTimeout(look, 10, frames + 1));
        observer.disconnect();
        done();
    };
    look(0);
}));
const text = (page, selector) => page.evaluate(name => document.querySelector(name)?.textContent || '', selector);

// Small pictures are drawn after the page.
const drawn = page => until(page, 'Boolean(document.body.dataset.pictures)');
// A page with other data than that of page two.
const packed = value => zlib.deflateSync(value).toString('base64');
const pageOf = (name, data) => fs.writeFileSync(
    path.join(folder, `${name}.html`),
    fs.readFileSync(path.join(folder, 'two.html'), 'utf8')
        .replace(/(id="data">)[^<]*/, (all, head) => head + packed(JSON.stringify(data))));

const lookAtLayout = async (page, name) => {
    for (const scheme of ['light', 'dark']) {
        await page.scheme(scheme);
        for (const width of scheme === 'light' ? WIDTHS : WIDTHS.slice(-1)) { // a scheme changes colours alone
            where = `${name}, ${scheme}, ${width} px`;
            await page.size(width);
            await page.goto(url(name));
            for (const wrong of await page.evaluate(boxes, width)) check(false, wrong);
            await page.evaluate(() => {
                for (const details of document.querySelectorAll('details')) details.open = true;
            });
            await settled(page);
            for (const wrong of await page.evaluate(boxes, width)) check(false, `unfolded, ${wrong}`);
            for (const wrong of await page.evaluate(contrasts)) check(false, wrong);
            checks += 3;
            const dark = await page.evaluate('parseInt(getComputedStyle(document.body).backgroundColor.slice(4)) < 60');
            check(dark === (scheme === 'dark'), 'the page does not follow the scheme');
        }
    }
    await page.scheme('light');
    where = name;
    check(fs.statSync(path.join(folder, `${name}.html`)).size < 3e6, 'the page has 3 MB or more');
};

const lookAtLinks = async (page, name, fewest) => {
    where = `${name}, links`;
    await page.goto(url(name));
    await drawn(page);
    await page.evaluate(() => {
        for (const details of document.querySelectorAll('details')) details.open = true;
    });
    await settled(page);
    const found = await page.evaluate(links);
    for (const wrong of found.wrong) check(false, wrong);
    for (const file of found.files)
        check(fs.existsSync(path.join(folder, decodeURIComponent(file))), `${file} is not beside the page`);
    check(found.count > fewest, `only ${found.count} links`);
};

// The question of a person, by clicks alone. Which method is the answer is computed here from the trials.
const askSoftRubber = async (page, width) => {
    where = `soft rubber, large bending, 10 ms a frame, at ${width} px`;
    await page.size(width);
    await page.goto(url('two'));
    let clicks = 0;
    const click = async selector => {
        clicks += 1;
        await page.click(selector);
    };
    const mark = (words, selector, within) => page.evaluate((w, s, root) => {
        for (const old of document.querySelectorAll('[data-here]')) old.removeAttribute('data-here');
        const found = Array.from((document.querySelector(root) || document).querySelectorAll(s))
                          .find(one => one.textContent.includes(w));
        if (found) found.dataset.here = 'yes';
        return Boolean(found);
    }, words, selector, within);
    check(await mark('10 ms', '.choice button', '#problem-tables'), 'no budget of 10 ms');
    await click('[data-here]');
    check(await mark('oft rubber bar, large bending', '#matrix-moving tbody th a', 'body'), 'no such problem');
    await click('[data-here]');
    const trials = dataOf('two')
                       .ranked.tables[0]
                       .problems['cantilever-soft']
                       .filter(row => row.threads === 1)
                       .flatMap(row => row.trials.map(trial => ({...trial, method: row.method})))
                       .filter(trial => trial.counts && trial.time <= 0.01)
                       .sort((a, b) => a.over - b.over || a.time - b.time);
    const answer = await text(page, 'dialog[open] #answer');
    check(trials.length > 0, 'no trial within 10 ms');
    check(
        answer.startsWith('Within 10 ms of a frame of 1/60 s: ') && answer.includes(trials[0].method) &&
            answer.includes(String(Number(trials[0].over.toPrecision(3)))),
        `the answer is "${answer}", not ${trials[0].method} with ${trials[0].over}`);
    const shown = await page.evaluate(
        () => Array.from(document.querySelectorAll('dialog[open] #trial-table tbody tr'), row => row.dataset.run));
    const all = dataOf('two')
                    .ranked.tables[0]
                    .problems['cantilever-soft']
                    .filter(row => row.threads === 1 && row.trials.some(trial => trial.run))
                    .flatMap(row => row.trials.map(trial => trial.run || ''));
    check(
        shown.length === all.length && all.every(run => shown.includes(run)),
        `${shown.length} of ${all.length} runs behind it`);
    check((await text(page, 'dialog[open] #selected-run')).includes(trials[0].command), 'no command of the run');
    check(clicks <= 3, `${clicks} clicks`);
    for (const wrong of await page.evaluate(boxes, width)) check(false, wrong);
    return clicks;
};

const lookAtProblem = async page => {
    where = 'a problem';
    await page.size(1400, 1500);
    const row = dataOf('two').ranked.tables[0].problems['cantilever-soft'].find(
        one => one.method === 'strain_energy' && one.threads === 1);
    await page.goto(url('two'));
    await page.click('#matrix-moving tr[data-problem="cantilever-soft"] button[title^="strain_energy "]');
    check(
        (await page.evaluate('location.hash')) === '#problem=cantilever-soft&method=strain_energy',
        'a cell does not open its problem and method');
    check(
        (await page.evaluate(() => document.querySelectorAll('#trial-table tbody tr').length)) === row.trials.length,
        'not the runs of the method');
    const points = () => page.evaluate(() => document.querySelectorAll('.work-chart .point').length);
    const whole = await points();
    check(whole > 8, `only ${whole} points`);
    // Hover
    const spot = await page.evaluate(() => {
        const box = document.querySelector('.work-chart [data-series="strain_energy"] .point').getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    });
    await page.mouse('mouseMoved', ...spot);
    await settled(page);
    const hint = await text(page, '.hint:not([hidden])');
    check(/strain_energy: error .* of the tolerance, .*run [0-9a-f]{8}/.test(hint), `the hint says "${hint}"`);
    // Series off and on
    await page.click('.keys .key');
    check(await points() < whole, 'a series does not go');
    await page.click('.keys .key');
    check(await points() === whole, 'a series does not come back');
    // Zoom by a box, by keys, and back
    const box = await page.evaluate(() => {
        const b = document.querySelector('.work-chart').getBoundingClientRect();
        return [b.x, b.y, b.width, b.height];
    });
    await page.mouse('mouseMoved', box[0] + 70, box[1] + 30);
    await page.mouse('mousePressed', box[0] + 70, box[1] + 30);
    await page.mouse('mouseMoved', box[0] + 200, box[1] + 120, {buttons: 1});
    await page.mouse('mouseReleased', box[0] + 200, box[1] + 120);
    await settled(page);
    const zoomed = await points();
    check(zoomed < whole, 'a box does not zoom');
    await page.evaluate(() => document.querySelector('.work-chart').focus());
    await page.key('0');
    check(await points() === whole, 'the key 0 does not show all');
    await page.key('ArrowRight');
    check((await text(page, '.hint:not([hidden])')).includes('run '), 'an arrow key goes to no point');
    await page.key('Enter');
    check(
        (await page.evaluate(() => document.querySelectorAll('#trial-table tr.chosen, .point.chosen').length)) > 0,
        'Enter selects no run');
    // The viewer beside the page
    where = 'a viewer beside the page';
    const file = fs.readdirSync(folder).find(name => /^[0-9a-f]{8}\.html$/.test(name));
    const table = dataOf('two').ranked.tables[0];
    const [id, owner] = Object.entries(table.problems)
                            .flatMap(([key, rows]) => rows.map(one => [key, one]))
                            .find(
                                ([, one]) => one.threads === 1 &&
                                    one.trials.some(trial => (trial.run || '').startsWith(file.slice(0, 8)))) ||
        [];
    if (id) {  // a run on one thread is what is shown first
        await page.goto(url('two', `#problem=${id}&method=${owner.method}`));
        check(
            await page.evaluate(name => Boolean(document.querySelector(`#trial-table a[href="${name}"]`)), file),
            'no link to the viewer');
    }
    where = 'sorting in a problem';
    const sorted = await page.evaluate(sorting);
    for (const wrong of sorted.wrong) check(false, wrong);
    for (const width of WIDTHS) {
        where = `a problem at ${width} px`;
        await page.size(width);
        await page.goto(url('two', '#problem=cantilever-soft'));
        for (const wrong of await page.evaluate(boxes, width)) check(false, wrong);
        checks += 1;
        // Ticks come near the edges of the chart as its range changes, which depends on the times measured.
        await page.evaluate(() => document.querySelector('.work-chart').focus());
        for (const key of '--+++++++') {
            where = `a problem at ${width} px, after the key ${key}`;
            await page.key(key);
            for (const wrong of await page.evaluate(boxes, width)) check(false, wrong);
            checks += 1;
        }
    }
};

// What each cell of the matrix shows, from the trials alone.
const lookAtMatrix = async page => {
    where = 'the matrix';
    await page.size(1400);
    await page.goto(url('two'));
    const {ranked} = dataOf('two'), table = ranked.tables[0];
    const grades = [[0.1, 'a'], [1, 'b'], [3, 'c'], [10, 'd'], [Infinity, 'e']];
    let cells = 0;
    for (const threads of table.threads > 1 ? [1, table.threads] : [1]) {
        if (table.threads > 1)
            await page.click(`#problem-controls .choice button:nth-of-type(${threads === 1 ? 1 : 2})`);
        for (const kind of ['moving', 'static'])
            for (const [b, budget] of ranked.budgets[kind].entries()) {
                where = `the matrix, ${kind}, ${budget.name}, ${threads} threads`;
                await page.evaluate((k, i) => {
                    const host = document.getElementById(`matrix-${k}`).closest('.kind');
                    host.querySelectorAll('.choice button')[i].click();
                }, kind, b);
                const shown = await page.evaluate(
                    k => Array.from(
                        document.querySelectorAll(`#matrix-${k} tbody tr`),
                        row =>
                            [row.dataset.problem,
                             Array.from(row.querySelectorAll('td'), cell => [cell.className, cell.textContent])]),
                    kind);
                const feet = await page.evaluate(
                    k => Array.from(document.querySelectorAll(`#matrix-${k} tfoot td`), cell => cell.textContent),
                    kind);
                const tally = {};
                for (const [id, row] of shown)
                    for (const [className, words] of row) {
                        if (className === 'mark none') continue;
                        const own = table.problems[id].find(
                            one => one.threads === threads && words.startsWith(one.method) &&
                                    !/^[a-z_]/.test(words.slice(one.method.length)) ||
                                (one.threads === threads &&
                                 ['slow', 'late', 'fails', 'n/a'].some(state => words === one.method + state)));
                        check(own, `no row for "${words}"`);
                        if (!own) continue;
                        cells += 1;
                        const good = own.trials.filter(trial => trial.counts);
                        const within = good.filter(trial => !budget.seconds || trial.time <= budget.seconds);
                        const least = Math.min(...within.map(trial => trial.over));
                        const kindOf = within.length ? grades.find(([most]) => least <= most)[1] :
                            good.length              ? 'slow' :
                                                       'fails';
                        check(className === `mark ${kindOf}`, `${words} of ${id} is ${className}, not ${kindOf}`);
                        const number = parseFloat(words.slice(own.method.length).replace('<.', '0.'));
                        if (within.length && least > 0.01 && least < 100)
                            check(
                                Math.abs(number / least - 1) < 0.06, `${words} of ${id}: the least error is ${least}`);
                        const one = tally[own.method] = tally[own.method] || [0, 0];
                        one[0] += within.length && least <= 1 ? 1 : 0;
                        one[1] += 1;
                    }
                for (const [method, [good, all]] of Object.entries(tally))
                    check(
                        feet.includes(`${method}${good}/${all}`), `${method} solves ${good}/${all}: ${feet.join(' ')}`);
            }
    }
    where = 'the matrix';
    check(cells > 20, `only ${cells} cells`);
};

// Trials set by hand, and the class and the words of their cell.
const lookAtGrades = async page => {
    where = 'grades';
    const data = dataOf('two'), row = data.ranked.tables[0].problems['cantilever-soft'].find(one => one.threads === 1);
    const counts = over => ({over, counts: true, warnings: '', time: 1e-4});
    const rows = data.ranked.tables[0].problems['cantilever-soft'];
    let other = rows.find(one => one.threads !== 1 && one.method === row.method); // never to be shown here
    if (!other) rows.push(other = {...row, threads: 2});
    other.trials = row.trials.map(trial => ({...trial, ...counts(7)}));
    other.best = row.best.map(() => 0);
    const wanted = [
        [counts(0.1), 0, 'a', '0.1'], [counts(1), 0, 'b', '1'], [counts(1.2), 0, 'c', '1.2'],
        [counts(3.1), 0, 'd', '3.1'], [counts(11), 0, 'e', '11'], [{...counts(1), warnings: 'torn'}, 0, 'b', '1*'],
        [{...counts(1), time: 1}, null, 'slow', 'slow'],
        [{...counts(1), counts: false, state: 'diverged'}, null, 'fails', 'fails'],
        [{...counts(1), counts: false, late: true}, null, 'fails', 'late']
    ];
    for (const [trial, best, kind, words] of wanted) {
        row.trials.forEach(one => Object.assign(one, {late: undefined}, trial));
        row.best = row.best.map(() => best);
        pageOf('grades', data);
        await page.goto(url('grades'));
        const cell = await page.evaluate(method => {
            const button =
                document.querySelector(`#matrix-moving tr[data-problem="cantilever-soft"] button[title^="${method} "]`);
            return [button.parentElement.className, button.querySelector('.chip-value').textContent];
        }, row.method);
        check(
            cell[0] === `mark ${kind}` && cell[1] === words,
            `${JSON.stringify(trial)} is shown as ${cell.join(' ')}, not ${kind} ${words}`);
    }
};

const CHARTED = 'rodero2016-fig4';
const pictureOf = data => data.figures.find(figure => figure.id === CHARTED).pictures.find(one => one.chart);
// A page of a few figures loads faster: for looks at what is not a gallery.
const withFewFigures = data => ({
    ...data,
    figures: data.figures.filter(one => one.id === CHARTED)
                 .concat(data.figures.filter(one => one.paper !== 'rodero2016' && !one.absent).slice(0, 2))
});
const hintOf = page => text(page, '#detail-body .hint:not([hidden])');
const press = async (page, key, times = 1) => {
    await page.evaluate(() => document.querySelector('.figure-chart').focus());
    for (let i = 0; i < times; i++) await page.key(key);
};

// The chart of a figure: its layout, values against the numbers that gnuplot drew, series, zoom.
const lookAtChart = async page => {
    for (const width of WIDTHS) {
        where = `a figure's chart at ${width} px`;
        await page.size(width);
        await page.goto(url('two', `#chart=${CHARTED}`));
        check(
            await until(page, 'document.querySelectorAll("dialog[open] .figure-chart path").length > 50'),
            'no chart');
        await settled(page);
        for (const wrong of await page.evaluate(boxes, width)) check(false, wrong);
    }
    where = 'a figure\'s chart';
    const figure = dataOf('two').figures.find(one => one.id === CHARTED);
    const rows = name => figure.drawn_data.find(table => table.name === name).rows.map(row => row.map(Number));
    const near = (a, b) => Math.abs(a - b) < 2e-4;  // a hundredth of a pixel, and four digits
    for (const [name, data] of [['printed polynomial', 'printed'], ['our fit', 'fitted']]) {
        await press(page, 'ArrowRight', 12);
        const hint = await hintOf(page), [, x, y] = (/: ([-\d.e]+), ([-\d.e]+)$/.exec(hint) || []).map(Number);
        check(hint.startsWith(`${name}: `), `the hint says "${hint}", not of ${name}`);
        check(rows(data).some(row => near(row[0], x) && near(row[1], y)), `${hint} is no row of ${data}`);
        await press(page, 'ArrowDown');
    }
    // The pointer
    const spot = await page.evaluate(() => {
        const marks = Array.from(document.querySelectorAll('.figure-chart [data-series="our fit"] path[transform]'));
        const box = marks[marks.length >> 1].getBoundingClientRect();
        return [box.x + box.width / 2, box.y + box.height / 2];
    });
    await page.mouse('mouseMoved', ...spot);
    await settled(page);
    check(/^(our fit|printed polynomial): /.test(await hintOf(page)), `the pointer finds "${await hintOf(page)}"`);
    // Series
    const hidden = () => page.evaluate(
        () => Array.from(
            document.querySelectorAll('.figure-chart [data-series="our fit"]'),
            one => getComputedStyle(one).visibility === 'hidden'));
    check((await hidden()).length === 4 && !(await hidden()).includes(true), 'not four panels with our fit');
    await page.evaluate(() => document.querySelectorAll('#detail-body .key')[1].click());
    check(!(await hidden()).includes(false), 'a series does not go');
    await press(page, 'ArrowRight');
    await press(page, 'ArrowDown');
    check((await hintOf(page)).startsWith('printed polynomial: '), 'a hidden series has values');
    await page.evaluate(() => document.querySelectorAll('#detail-body .key')[1].click());
    check(!(await hidden()).includes(true), 'a series does not come back');
    // Zoom
    const wide = () => page.evaluate('document.querySelector(".figure-chart").getBoundingClientRect().width');
    const before = await wide();
    await page.evaluate(() => document.querySelector('#detail-body [aria-label="Zoom in"]').click());
    check(Math.abs(await wide() / before - 1.5) < 0.01, 'it does not zoom');
    for (const wrong of await page.evaluate(boxes, 1400)) check(false, wrong);
    await page.key('Escape');
    check(
        await until(page, '!document.querySelector("dialog").open && location.hash === ""'), 'Escape leaves it open');

    // By hand: x from 1 to 100, logarithmic, on the pixels 50 to 150; y from 0 to 10 on 20 to 80, from below, of 100.
    where = 'a chart drawn by hand';
    const data = dataOf('two');
    pictureOf(data).chart = packed(
        `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100"><g id="gnuplot_canvas"><g id="gnuplot_plot_1">
        <title>a line</title><g transform="translate(20,95)"><text>a line</text></g>
        <path stroke="red" d="M50,70 L100,50 L150,40"/></g><g id="gnuplot_plot_2"><title>x using 1:2</title>
        <path stroke="red" d="M60,70 L90,35"/></g></g></svg>`);
    pictureOf(data).panels = [{pixel: [50, 150, 20, 80], range: [1, 100, 0, 10], log: [true, false]}];
    pageOf('hand', data);
    await page.goto(url('hand', `#chart=${CHARTED}`));
    await until(page, 'document.querySelector("dialog[open] .figure-chart path") !== null');
    await settled(page);
    await press(page, 'ArrowRight', 2);
    check(await hintOf(page) === 'a line: 10, 5', `the hint says "${await hintOf(page)}", not 10, 5`);
    check(
        await page.evaluate('document.querySelectorAll("#detail-body .key").length') === 1,
        'a word of gnuplot is a series');
    await page.evaluate(() => document.querySelector('#detail-body .key').click());
    check(
        await page.evaluate(
            () => Array.from(document.querySelectorAll('.figure-chart [data-series]'))
                      .every(one => getComputedStyle(one).visibility === 'hidden')),
        'what has the colour of a series stays without it');
};

const useKeyboard = async page => {
    where = 'keyboard';
    await page.size(1400);
    await page.goto(url('two'));
    const active = () => page.evaluate(
        () => `${document.activeElement.tagName} ${
            document.activeElement.getAttribute('title') || document.activeElement.textContent.trim().slice(0, 40)}`);
    await page.key('Tab');
    check((await active()).includes('Skip'), 'the first Tab does not offer to skip');
    await page.key('Enter');
    check((await page.evaluate('location.hash')) === '#problems', 'the skip does not go to the problems');
    let found = false;
    for (let i = 0; i < 60 && !found; i++) {
        await page.key('Tab');
        found = /^BUTTON strain_energy on cantilever-soft:/.test(await active());
        check(
            await page.evaluate(() => {  // where the focus is can be seen
                const style = getComputedStyle(document.activeElement);
                return document.activeElement === document.body || style.outlineStyle !== 'none' ||
                    document.activeElement.matches('h2');
            }),
            `no outline on ${await active()}`);
    }
    check(found, 'Tab does not come to a cell');
    await page.key('Enter');
    await settled(page);
    check(
        await page.evaluate(
            () => document.querySelector('dialog').open &&
                document.querySelector('dialog').contains(document.activeElement)),
        'Enter does not open the cell');
    for (let i = 0; i < 8; i++) await page.key('Tab');
    check(
        await page.evaluate(
            () => document.querySelector('dialog').contains(document.activeElement) ||
                document.activeElement === document.body),
        'Tab leaves the problem');
    await page.key('Escape');
    check(
        await until(page, () => !document.querySelector('dialog').open && location.hash === ''),
        'Escape does not close it');
    check(
        /strain_energy on cantilever-soft/.test(await active()),
        `the focus is not where it was, but on ${await active()}`);
};

const filter = async page => {
    where = 'filters';
    await page.goto(url('two'));
    const rows = selector => page.evaluate(
        s => Array.from(document.querySelectorAll(s)).filter(row => !row.hidden && !row.closest('[hidden]')).length,
        selector);
    const put = (id, value, kind) => page.evaluate((i, v, k) => {
        document.getElementById(i).value = v;
        document.getElementById(i).dispatchEvent(new Event(k));
    }, id, value, kind);
    await page.click('#problem-words');
    await page.type('soft STATIC');
    check(await rows('.matrix tbody tr') === 1, 'the words leave other problems');
    await put('problem-words', '', 'input');
    check(await rows('.matrix tbody tr') === 2, 'the filter keeps problems');
    const data = dataOf('two'), all = data.claims.claims.length;
    check(
        all > 100 && await rows('.claim-table tbody tr') === all,
        `${await rows('.claim-table tbody tr')} of ${all} claims`);
    await put('claim-words', 'FIG4 poly_kv', 'input');
    check(await rows('.claim-table tbody tr') === 1, 'the words leave other claims');
    await put('claim-words', '', 'input');
    await put('claim-verdict', 'reproduced', 'change');
    check(await rows('.claim-table tbody tr') === 4, 'the verdict leaves other claims');
    check(await text(page, '#claim-count') === `4 of ${all} shown`, 'the count is wrong');
    await put('claim-verdict', '', 'change');
    check(await rows('.claim-table tbody tr') === all, 'the filter keeps claims');
    await put('figure-paper', 'rodero2016', 'change');
    const figures = data.figures.filter(figure => !figure.absent);
    check(
        await rows('.gallery > article') === figures.filter(figure => figure.paper === 'rodero2016').length,
        'the paper leaves other figures');
    // A link into what is filtered and folded away opens it.
    const other = figures.find(figure => figure.paper !== 'rodero2016');
    await page.evaluate(id => {
        location.hash = `figure-${id}`;
    }, other.id);
    check(
        await until(page, id => document.getElementById(`figure-${id}`).checkVisibility(), other.id),
        'a link leaves its figure hidden');
    await page.evaluate(id => {
        location.hash = `claim-${id}`;
    }, data.claims.claims[0].id);
    check(
        await until(page, id => document.getElementById(`claim-${id}`).checkVisibility(), data.claims.claims[0].id),
        'a link leaves its claim folded');
    // The runs of a claim, with the command
    const claim = data.claims.claims.find(one => one.set !== undefined);
    await page.evaluate(id => {
        const row = document.getElementById(`claim-${id}`);
        row.closest('details').open = true;
        row.querySelector('.says > details:last-child').open = true;
    }, claim.id);
    await settled(page);
    check(
        (await text(page, `#claim-${claim.id.replace('.', '\\.')} .runs`)).includes('./pbdbench run '),
        'no command behind a claim');
};

const sortTables = async page => {
    where = 'sorting';
    await page.size(1400);
    await page.goto(url('two'));
    const sorted = await page.evaluate(sorting);
    for (const wrong of sorted.wrong) check(false, wrong);
    check(sorted.sorted > 40, `only ${sorted.sorted} columns were sorted`);
};

// Every text of the data is made hostile; a page with it must show them as text.
const beHostile = async page => {
    where = 'hostile texts';
    const EVIL = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>"\'&</td>\u202e';
    const kept = new Set([
        'id', 'kind', 'verdict', 'accepted', 'run', 'src', 'started', 'newest', 'written', 'decided', 'figure', 'paper',
        'href', 'key', 'chart'
    ]);
    const spoil = (value, key) => Array.isArray(value) ?
        value.map(one => spoil(one, key)) :
        value && typeof value === 'object' ?
        Object.fromEntries(Object.entries(value).map(([name, one]) => [name, spoil(one, name)])) :
        typeof value === 'string' && !kept.has(key) ? value + EVIL :
                                                      value;
    const data = dataOf('two');
    const evil = spoil(data);
    evil.beside = data.beside;
    evil.claims.sets = data.claims.sets;
    pictureOf(evil).chart = packed(
        `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 200 100">
        <g id="gnuplot_canvas" onload="window.hacked=1"><script>window.hacked=1</script>
        <foreignObject><img xmlns="http://www.w3.org/1999/xhtml" src="x" onerror="window.hacked=1"/></foreignObject>
        <image href="http://127.0.0.1/x.png"/><a xlink:href="javascript:window.hacked=1"><text>a</text></a>
        <style>* { background: url(http://127.0.0.1/y.png) }</style>
        <g id="gnuplot_plot_1"><title>&lt;img src=x onerror=</title>
        <g fill="url(http://127.0.0.1/z.png#a)" onclick="window.hacked=1"><text>&lt;img src=x onerror=</text>
        <use xlink:href="http://127.0.0.1/u.svg#gpPt1" transform="translate(50,50)"/>
        <path d="M50,60 L100,50" stroke="url(#gpPt1)" onmouseover="window.hacked=1"/></g></g></g></svg>`);
    pageOf('hostile', evil);
    for (const hash of ['', '#problem=cantilever-soft', `#chart=${CHARTED}`]) {
        await page.goto(url('hostile', hash));
        await page.evaluate(() => {
            for (const details of document.querySelectorAll('details')) details.open = true;
        });
        if (hash.startsWith('#chart'))
            check(await until(page, 'document.querySelectorAll(".figure-chart path").length === 1'), 'no drawing');
        await settled(page);
        check(
            await page.evaluate(
                () => Array.from(document.querySelectorAll('.figure-chart *'))
                          .every(
                              one => ['g', 'path', 'text', 'rect', 'circle'].includes(one.nodeName) &&
                                  Array.from(one.attributes)
                                      .every(each => !/^on|href|style/.test(each.name) && !/url/.test(each.value)))),
            'a drawing brings more than shapes');
        check(
            await page.evaluate(() => document.body.textContent.includes('<img src=x onerror=')),
            'the texts are not there');
        check(
            await page.evaluate(
                () => window.hacked === undefined && document.querySelectorAll('script').length === 2 &&
                    !Array.from(document.querySelectorAll('img')).some(image => image.hasAttribute('onerror'))),
            'a text became markup');
    }
};

const print = async page => {
    where = 'print';
    await page.size(1400);
    await page.goto(url('two'));
    await page.pdf(path.join(folder, 'page.pdf'));
    check(fs.statSync(path.join(folder, 'page.pdf')).size > 50000, 'an empty print');
};

// The page's script with a wrong rule, and the look that must not pass it.
const MUTANTS = [
    [
        'the last grade within the tolerance', 'over <= 1 ? \'b\'', 'over <= 1.5 ? \'b\' : over <= 1 ? \'b\'',
        lookAtGrades
    ],
    ['any answer solves a problem', 'best && best.over <= 1 ? 1 : 0', 'best ? 1 : 0', lookAtMatrix],
    ['another budget', 'row.best[chosen.budget[kind]]', 'row.best[row.best.length - 1]', lookAtMatrix],
    ['other threads', 'row => row.threads === chosen.threads', 'row => row.threads !== chosen.threads', lookAtGrades],
    ['trials that do not count', 'trial => trial.counts).sort', 'trial => !trial.counts).sort', lookAtGrades],
    [
        'the worst method first', 'a.best.over - b.best.over', 'b.best.over - a.best.over',
        page => askSoftRubber(page, 1400)
    ],
    ['sorted the wrong way', 'down ? compare(b.key, a.key)', 'down ? compare(a.key, b.key)', sortTables],
    ['empty cells first', '(a.key === \'\') - (b.key === \'\')', '(b.key === \'\') - (a.key === \'\')', sortTables],
    ['values of the wrong axis', 'panel.range.slice(2 * axis)', 'panel.range.slice(2 - 2 * axis)', lookAtChart],
    ['logarithmic where it is not', 'return panel.log[axis] ?', 'return !panel.log[axis] ?', lookAtChart],
    ['y from above', 'digits(valueAt(panel, 1, height - y), 4)', 'digits(valueAt(panel, 1, y), 4)', lookAtChart],
    ['a series that stays', 'show ? \'visible\' : \'hidden\'', '\'visible\'', lookAtChart],
    ['values of hidden series', 'shown.get(one.goesWith) !== false', 'true', lookAtChart],
    ['every attribute of a drawing', 'value !== null && innocent(value)', 'value !== null', beHostile],
    ['any word of a claim', 'wanted.every(word => text.includes(word))', 'true', filter],
    [
        'a click on a cell opens another problem', 'openProblem(problem.id, method)', 'openProblem(problem.id)',
        lookAtProblem
    ]
];
// Makes page two one of a few figures; returns what makes it whole again.
const leaveFewFigures = () => {
    const names = ['two.html', 'two.json'].map(name => path.join(folder, name));
    const whole = names.map(name => fs.readFileSync(name, 'utf8')), few = withFewFigures(dataOf('two'));
    pageOf('two', few);
    fs.writeFileSync(names[1], JSON.stringify(few));
    return () => names.forEach((name, i) => fs.writeFileSync(name, whole[i]));
};
// Each mutant must fail the look that passed on this page.
const tryMutants = async (page, mutants) => {
    const file = path.join(folder, 'two.html'), html = fs.readFileSync(file, 'utf8'), found = failures.splice(0);
    const survivors = [];
    where = 'mutants';
    stopAtFirst = true;
    for (const [name, from, to, look] of mutants) {
        const changed = html.replaceAll(from, () => to);
        if (changed === html) survivors.push(`the mutant "${name}" changes nothing`);
        fs.writeFileSync(file, changed);
        await look(page).catch(error => failures.push(error.message));
        if (failures.length + page.troubles.length === 0) survivors.push(`the mutant "${name}" survives`);
        failures.length = page.troubles.length = 0;
    }
    stopAtFirst = false;
    fs.writeFileSync(file, html);
    failures.push(...found, ...survivors);
};

(async () => {
    const browser = await launch(program);
    const page = await browser.page();
    const one = async what => {
        await what;
        for (const trouble of page.troubles.splice(0)) check(false, `the console says: ${trouble}`);
    };
    for (const name of ['empty', 'plain', 'one', 'two']) await one(lookAtLayout(page, name));
    for (const name of ['empty', 'plain', 'one', 'two']) await one(lookAtLinks(page, name, name === 'two' ? 200 : 100));
    where = 'an empty store';
    await page.goto(url('empty'));
    check((await text(page, '#problem-tables')).includes('No trial of a problem is stored yet'), 'no word on problems');
    check((await text(page, '#comparisons-body')).includes('No comparison is stored yet'), 'no word on comparisons');
    where = 'runs of no problem';
    await page.goto(url('plain'));
    check(
        (await text(page, '#problem-tables')).includes('No trial of a problem is stored yet'),
        'a table without trials');
    where = 'one problem';
    await page.goto(url('one'));
    check(await page.evaluate(() => document.querySelectorAll('.matrix tbody tr').length) === 1, 'not one problem');
    const clicks = [];
    for (const width of WIDTHS) await one((async () => clicks.push(await askSoftRubber(page, width)))());
    await one(filter(page));
    await one(sortTables(page));
    await one(beHostile(page));
    await one(print(page));
    const ofAll = ([, , , look]) => [filter, sortTables, beHostile].includes(look);
    await tryMutants(page, MUTANTS.filter(ofAll));
    const makeWhole = leaveFewFigures();
    await one(askSoftRubber(page, 1400));
    await one(lookAtMatrix(page));
    await one(lookAtGrades(page));
    await one(lookAtProblem(page));
    await one(lookAtChart(page));
    await one(useKeyboard(page));
    await tryMutants(page, MUTANTS.filter(mutant => !ofAll(mutant)));
    makeWhole();
    await browser.close();
    for (const failure of failures.slice(0, 20)) console.log(`FAILED: ${failure}`);
    console.log(`${checks} checks, ${MUTANTS.length} mutants, ${failures.length} failed; soft rubber in ${
        clicks.join(', ')} clicks`);
    process.exitCode = failures.length ? 1 : 0;
})().catch(error => {
    console.log(`FAILED: ${where}: ${error.stack}`);
    process.exit(1);
});
