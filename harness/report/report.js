// Sorting tables, filtering claims, opening what a link leads to. The page is complete without it.
(() => {
    'use strict';

    // ---- Sorting: a click on a header sorts by it, a second click in reverse. Stable; empty cells stay last.

    const keyOf = (row, column) => {
        const cell = row.cells[column];
        if (!cell) return '';
        return cell.dataset.sort !== undefined ? cell.dataset.sort : cell.textContent.trim();
    };

    // Some hexadecimal ids look like numbers, so a column is numeric only if all its keys are.
    const collator = new Intl.Collator(undefined, {numeric: true, sensitivity: 'base'});
    const orderOf = keys =>
        keys.every(key => key === '' || Number.isFinite(Number(key))) ? (a, b) => Number(a) - Number(b) : collator.compare;

    const sortBy = (table, header) => {
        const column = header.cellIndex;
        const down = header.getAttribute('aria-sort') === 'ascending';
        const rows = Array.from(table.tBodies[0].rows, row => ({row, key: keyOf(row, column)}));
        const compare = orderOf(rows.map(entry => entry.key));
        rows.sort((a, b) => {
            if (a.key === '' || b.key === '') return (a.key === '') - (b.key === '');
            return down ? compare(b.key, a.key) : compare(a.key, b.key);
        });
        for (const other of header.parentElement.cells) other.removeAttribute('aria-sort');
        header.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        table.tBodies[0].append(...rows.map(entry => entry.row));
    };

    for (const table of document.querySelectorAll('table.sortable')) {
        if (table.tBodies[0].rows.length < 2) continue;
        for (const header of table.tHead.rows[0].cells) {
            const button = document.createElement('button');
            button.type = 'button';
            button.append(...header.childNodes);
            header.append(button);
            button.addEventListener('click', () => sortBy(table, header));
        }
    }

    // ---- Filtering claims: every word must occur somewhere in the row.

    const form = document.getElementById('claim-filter');
    const claims = document.getElementById('claim-table');
    const words = document.getElementById('claim-words');
    const verdict = document.getElementById('claim-verdict');

    const filter = () => {
        const wanted = words.value.toLowerCase().split(/\s+/).filter(word => word !== '');
        const rows = Array.from(claims.tBodies[0].rows);
        let shown = 0;
        for (const row of rows) {
            const text = row.textContent.toLowerCase();
            const fits = (verdict.value === '' || row.dataset.verdict === verdict.value) &&
                wanted.every(word => text.includes(word));
            row.hidden = !fits;
            shown += fits ? 1 : 0;
        }
        document.getElementById('claim-count').textContent = `${shown} of ${rows.length} shown`;
    };

    if (form && claims) {
        form.hidden = false;
        form.addEventListener('submit', event => event.preventDefault());
        words.addEventListener('input', filter);
        verdict.addEventListener('change', filter);
        filter();
    }

    // ---- A link into what is folded or filtered away opens it.

    const reveal = () => {
        const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
        if (!target) return;
        const row = target.closest('tr');
        if (row) row.hidden = false;
        for (let folded = target.closest('details'); folded; folded = folded.parentElement.closest('details'))
            folded.open = true;
        target.scrollIntoView();
    };
    window.addEventListener('hashchange', reveal);
    if (location.hash !== '') reveal();

    // ---- In print nothing can be unfolded: the reasons of claims are printed, long tables are not.

    let opened = [];
    window.addEventListener('beforeprint', () => {
        opened = Array.from(document.querySelectorAll('#claims details:not([open])'));
        for (const folded of opened) folded.open = true;
    });
    window.addEventListener('afterprint', () => {
        for (const folded of opened) folded.open = false;
    });
})();
