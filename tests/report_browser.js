// Looks at the report from inside; the verdict becomes the page's title, which report_browser.sh reads.
(async () => {
    const failures = window.troubles.map(text => `error: ${text}`);
    let checks = 0;
    const check = (good, what) => {
        checks += 1;
        if (!good && failures.length < 20) failures.push(what);
    };
    const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
    const frame = () => new Promise(done => setTimeout(done, 50));

    // ---- Loads, and nothing from elsewhere
    const loaded = performance.getEntriesByType('resource').map(entry => entry.name).filter(name => !name.startsWith('data:'));
    check(loaded.length === 0, `loads ${loaded[0]}`);
    check(all('img').length > 0, 'there is no picture');
    if (document.readyState !== 'complete') await new Promise(done => window.addEventListener('load', done));
    for (const image of all('img')) {
        check(image.complete && image.naturalWidth > 0 && image.alt.length > 10, 'a picture that does not show, or says nothing');
    }

    // ---- Links resolve, ids are unique
    const ids = all('[id]').map(element => element.id);
    check(new Set(ids).size === ids.length, 'an id twice');
    const links = all('a[href]');
    check(links.length > 50, `only ${links.length} links`);
    for (const link of links) {
        const href = link.getAttribute('href');
        if (href.startsWith('#')) check(document.getElementById(href.slice(1)), `${href} leads nowhere`);
        else check(href.startsWith('https://'), `${href} leads to another place`);
    }

    // ---- Tables: captions, scopes, sorting both ways
    const order = (cells, down) => {
        const keys = cells.map(cell => cell.dataset.sort ?? cell.textContent.trim());
        const full = keys.filter(key => key !== '');
        if (keys.slice(0, full.length).includes('')) return false; // empty cells are the last ones
        const numbers = full.every(key => isFinite(key));
        const before = (a, b) => numbers ? Number(a) <= Number(b)
            : new Intl.Collator(undefined, {numeric: true, sensitivity: 'base'}).compare(a, b) <= 0;
        return full.every((key, i) => i === 0 || (down ? before(key, full[i - 1]) : before(full[i - 1], key)));
    };
    let sorted = 0;
    for (const table of all('table')) {
        check(table.caption && table.caption.textContent, 'a table without caption');
        const headers = all('thead th', table);
        check(headers.every(header => header.scope === 'col'), 'a header without scope');
        const rows = () => Array.from(table.tBodies[0].rows);
        const before = rows().length;
        if (before < 2) continue;
        for (const header of headers) {
            const button = header.querySelector('button');
            const where = `${table.id || table.caption.textContent}: ${header.textContent}`;
            if (!button) { check(false, `${where} has no button`); continue; }
            const others = () => headers.filter(other => other.hasAttribute('aria-sort')).length;
            const column = () => rows().map(row => row.cells[header.cellIndex]);
            button.focus();
            check(document.activeElement === button || !button.checkVisibility(), `${where} takes no focus`);
            button.click();
            check(header.getAttribute('aria-sort') === 'ascending' && others() === 1, `${where} says not ascending`);
            check(order(column(), false), `${where} is not ascending`);
            const forwards = rows();
            button.click();
            check(header.getAttribute('aria-sort') === 'descending', `${where} says not descending`);
            check(order(column(), true), `${where} is not descending`);
            // Stable: rows of equal keys stay in their order.
            const keys = new Map(forwards.map((row, i) => [row, i]));
            const key = row => row.cells[header.cellIndex].dataset.sort ?? row.cells[header.cellIndex].textContent.trim();
            check(rows().every((row, i) => i === 0 || key(row) !== key(rows()[i - 1]) || keys.get(row) > keys.get(rows()[i - 1])),
                `${where} is not stable`);
            check(rows().length === before, `${where} loses rows`);
            sorted += 1;
            if (before > 200) break; // one column of the long ones
        }
    }
    check(sorted > 20, `only ${sorted} columns were sorted`);

    // ---- The filter of claims
    const shown = () => all('#claim-table tbody tr').filter(row => !row.hidden).length;
    const claims = shown();
    const words = document.getElementById('claim-words'), verdict = document.getElementById('claim-verdict');
    check(claims > 10, 'too few claims');
    words.value = 'FIG4 poly_kv';
    words.dispatchEvent(new Event('input'));
    check(shown() === 1, `the words leave ${shown()} claims`);
    words.value = '';
    verdict.value = 'reproduced';
    verdict.dispatchEvent(new Event('change'));
    check(shown() === 4, `the verdict leaves ${shown()} claims`);
    check(document.getElementById('claim-count').textContent === `4 of ${claims} shown`, 'the count is wrong');
    verdict.value = '';
    verdict.dispatchEvent(new Event('change'));
    check(shown() === claims, 'the filter keeps claims');

    // ---- A link into what is folded opens it
    const link = document.querySelector('#runs td a[href^="#run-"]');
    const target = document.getElementById(link.getAttribute('href').slice(1));
    check(!target.closest('details').open, 'runs are open from the start');
    link.click();
    await frame();
    check(target.closest('details').open, 'a run stays folded');

    // ---- Light or dark: text stands out from what is behind it (WCAG AA: 4.5 to 1)
    const numbers = colour => colour.match(/[\d.]+/g).slice(0, 3).map(Number);
    const luminance = colour => {
        const [r, g, b] = numbers(colour).map(v => v / 255).map(v => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const backOf = element => {
        for (let at = element; at; at = at.parentElement) {
            const colour = getComputedStyle(at).backgroundColor;
            if (colour !== 'rgba(0, 0, 0, 0)') return colour;
        }
        return 'rgb(255, 255, 255)';
    };
    const contrast = element => {
        const [a, b] = [luminance(getComputedStyle(element).color), luminance(backOf(element))].sort((x, y) => y - x);
        return (a + 0.05) / (b + 0.05);
    };
    const dark = luminance(getComputedStyle(document.body).backgroundColor) < 0.2;
    check(dark === matchMedia('(prefers-color-scheme: dark)').matches, 'the page does not follow the scheme');
    for (const selector of ['body', 'a[href]', '.muted', '.byline', 'figcaption', '.note', '.command', 'th button', '.bar span',
        '.verdict.reproduced', '.verdict.partly', '.verdict.not_reproduced', '.verdict.not_run', '.card summary', 'caption'])
        for (const element of all(selector).slice(0, 40))
            check(contrast(element) >= 4.5, `${selector} has a contrast of ${contrast(element).toFixed(2)}`);

    // ---- A phone, a small one and a desktop: nothing but tables is wider than the window. Without scripts, too.
    for (const width of [320, 390, 1200]) {
        const phone = document.createElement('iframe');
        phone.style.width = `${width}px`;
        phone.style.height = '800px';
        const copy = document.documentElement.cloneNode(true);
        for (const script of all('script', copy)) script.remove();
        for (const details of all('#claims details, #figures details, #environment details', copy)) details.open = true;
        phone.srcdoc = `<!DOCTYPE html>${copy.outerHTML}`;
        const ready = new Promise(done => phone.addEventListener('load', done));
        document.body.append(phone);
        await ready;
        const inside = phone.contentDocument;
        check(inside.documentElement.scrollWidth <= width, `at ${width} px the page is ${inside.documentElement.scrollWidth} px wide`);
        for (const element of all('p, h2, h3, pre, img, form, .bar', inside).filter(e => !e.closest('.scroll') && e.checkVisibility()))
            check(element.getBoundingClientRect().right <= width + 1, `at ${width} px a ${element.tagName} sticks out`);
        phone.remove();
    }

    for (const trouble of window.troubles) check(false, `error: ${trouble}`);
    document.title = failures.length === 0 ? `passed: ${checks} checks, ${dark ? 'dark' : 'light'}`
        : `failed: ${failures.slice(0, 5).join('; ')}`;
})().catch(error => { document.title = `failed: ${error}`; });
