// Drives a headless Chromium by the DevTools protocol over its pipe (file handles 3 and 4), without any package.
'use strict';
const {spawn} = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');

// Starts `program`; returns {page(), close()}. Pages have goto, evaluate, size, scheme, key, click, shot, pdf, and
// `troubles`: what their consoles and scripts complained of.
exports.launch = async program => {
    const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'pbdbench-browser-'));
    const child = spawn(
        program,
        [
            '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--hide-scrollbars',
            '--remote-debugging-pipe', `--user-data-dir=${profile}`, '--window-size=1400,900', 'about:blank'
        ],
        {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: {...process.env, HOME: profile}});
    const waiting = new Map(), listeners = [];
    let last = 0, rest = '';
    child.stdio[4].setEncoding('utf8').on('data', text => {
        rest += text;
        for (let end; (end = rest.indexOf('\0')) >= 0; rest = rest.slice(end + 1)) {
            const message = JSON.parse(rest.slice(0, end));
            if (message.id === undefined)
                listeners.forEach(listen => listen(message));
            else {
                const {done, failed} = waiting.get(message.id);
                waiting.delete(message.id);
                message.error ? failed(new Error(message.error.message)) : done(message.result);
            }
        }
    });
    child.on('exit', () => {
        for (const {failed} of waiting.values()) failed(new Error('the browser ended'));
    });
    child.stdio[3].on('error', () => {});
    const send = (method, params = {}, sessionId) => new Promise((done, failed) => {
        last += 1;
        waiting.set(last, {done, failed});
        child.stdio[3].write(`${JSON.stringify({id: last, method, params, sessionId})}\0`);
    });

    const page = async () => {
        const {targetId} = await send('Target.createTarget', {url: 'about:blank'});
        const {sessionId} = await send('Target.attachToTarget', {targetId, flatten: true});
        const call = (method, params) => send(method, params, sessionId);
        const troubles = [];
        let loaded = null;
        listeners.push(message => {
            if (message.sessionId !== sessionId) return;
            const p = message.params;
            if (message.method === 'Page.loadEventFired' && loaded) loaded();
            if (message.method === 'Runtime.exceptionThrown')
                troubles.push(p.exceptionDetails.exception?.description || p.exceptionDetails.text);
            if (message.method === 'Runtime.consoleAPICalled' && ['error', 'warning', 'assert'].includes(p.type))
                troubles.push(p.args.map(arg => arg.value).join(' '));
            if (message.method === 'Log.entryAdded' && ['error', 'warning'].includes(p.entry.level))
                troubles.push(p.entry.text);
            if (message.method === 'Page.javascriptDialogOpening') troubles.push(`a script says ${p.message}`);
        });
        for (const domain of ['Page', 'Runtime', 'Log']) await call(`${domain}.enable`);
        const evaluate = async (what, ...args) => {
            const expression = typeof what === 'function' ? `(${what})(...${JSON.stringify(args)})` : what;
            const {result, exceptionDetails} = await call(
                'Runtime.evaluate', {expression, awaitPromise: true, returnByValue: true, userGesture: true});
            if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
            return result.value;
        };
        const mouse = (type, x, y, extra = {}) =>
            call('Input.dispatchMouseEvent', {type, x, y, button: 'left', clickCount: 1, ...extra});
        const CODES = {Tab: 9, Enter: 13, Escape: 27, ' ': 32, ArrowLeft: 37, ArrowRight: 39};
        return {
            troubles,
            evaluate,
            mouse,
            goto: async url => {
                await call('Page.navigate', {url: 'about:blank'});  // a second visit with another fragment loads, too
                const ready = new Promise(done => {
                    loaded = done;
                });
                await call('Page.navigate', {url});
                await ready;
                for (let i = 0; i < 1200 &&  // a minute, on a busy machine
                     !(await evaluate(
                         'document.body?.dataset.drawn || document.getElementById("trouble")?.hidden === false'));
                     i++)
                    await new Promise(done => setTimeout(done, 50));
            },
            size: (width, height = 900) =>
                call('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false}),
            scheme: value => call('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value}]}),
            key: async (key, modifiers = 0) => {
                const event = {
                    key,
                    code: key,
                    windowsVirtualKeyCode: CODES[key] || key.charCodeAt(0),
                    modifiers,
                    ...(key === 'Enter'      ? {text: '\r'} :
                            key.length === 1 ? {text: key} :
                                               {})
                };
                await call('Input.dispatchKeyEvent', {type: 'keyDown', ...event});
                await call('Input.dispatchKeyEvent', {type: 'keyUp', ...event});
            },
            type: text => call('Input.insertText', {text}),
            // A real click in the middle of the element, which must not be covered by another.
            click: async selector => {
                const spot = await evaluate(name => {
                    const element = document.querySelector(name);
                    if (!element) return `there is no ${name}`;
                    element.scrollIntoView({block: 'center'});
                    const box = element.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
                    const top = document.elementFromPoint(x, y);
                    return element.contains(top) || (top && top.contains(element)) ?
                        [x, y] :
                        `${name} is covered by ${top && top.outerHTML.slice(0, 80)}`;
                }, selector);
                if (typeof spot === 'string') throw new Error(spot);
                await mouse('mouseMoved', ...spot);
                await mouse('mousePressed', ...spot);
                await mouse('mouseReleased', ...spot);
                await new Promise(done => setTimeout(done, 150));
            },
            shot: async (file, whole = false) => {
                const {data} = await call('Page.captureScreenshot', {format: 'png', captureBeyondViewport: whole});
                fs.writeFileSync(file, Buffer.from(data, 'base64'));
            },
            pdf: async file => {
                const {data} = await call('Page.printToPDF', {printBackground: false, preferCSSPageSize: true});
                fs.writeFileSync(file, Buffer.from(data, 'base64'));
            }
        };
    };
    const close = async () => {
        const ended = new Promise(done => child.on('exit', done));
        await send('Browser.close').catch(() => {});
        await ended;
        fs.rmSync(profile, {recursive: true, force: true, maxRetries: 5});
    };
    return {page, close};
};
