/** The dashboard as people use it: in a browser, before a server with real sandboxes. */
import { readFile } from 'node:fs/promises';
import axe from 'axe-core';
import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { type Dashboard, hasChromium, KEY, startDashboard } from '../support/dashboard.ts';
import { which } from '../support/programs.ts';
import { requireOrSkip } from '../support/require.ts';

const test = requireOrSkip(hasChromium, 'chromium');
const withSessions = requireOrSkip(hasChromium && which('dtach') !== undefined, 'chromium and dtach');

/** Would run, or load, if it ever became markup. */
const MARKUP = '<img src=x onerror="document.title=1"><script>document.title=1</script>';
const PHONE = { viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true };

let dashboard: Dashboard;
beforeAll(async () => {
  if (hasChromium) dashboard = await startDashboard();
});
afterAll(() => dashboard?.close());
afterEach(() => {
  // Also what the policy has stopped.
  if (hasChromium) expect(dashboard.complaints()).toEqual([]);
});

const screen = (page: Page) => page.locator('.xterm-rows');
const sees = (page: Page, text: RegExp) => expect.poll(() => screen(page).textContent()).toMatch(text);
const body = (page: Page) => page.locator('body').textContent();
const card = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name });
/** Nothing that came from a sandbox has become an element, and nothing of it ran. */
async function isText(page: Page): Promise<void> {
  expect(await page.locator('img, body script, iframe').count()).toBe(0);
  expect(await page.title()).not.toBe('1');
}

async function openTab(page: Page, id: string, tab: string): Promise<void> {
  await page.goto(`${dashboard.url}/#/${id}/${tab}`);
  await page.getByRole('tab', { selected: true, name: new RegExp(tab, 'i') }).waitFor();
}

/** On a terminal that is open. */
async function type(page: Page, command: string): Promise<void> {
  await page.getByText('connected', { exact: true }).waitFor();
  await page.locator('.xterm-helper-textarea').focus();
  await page.keyboard.type(`${command}\n`);
}

describe('the key', () => {
  test('is asked for until it is right, and kept for this tab alone', async () => {
    const page = await dashboard.open();
    const unlock = async (key: string) => {
      await page.getByLabel('Key', { exact: true }).fill(key);
      await page.getByRole('button', { name: 'Unlock' }).click();
    };
    await unlock('another-key-altogether');
    await page.getByText('The server does not take that key.').waitFor();
    await unlock(KEY);
    await page.getByText(/\d+ of \d+ running/).waitFor();
    expect(await page.evaluate('Object.keys(localStorage).length')).toBe(0);
    expect(await page.context().cookies()).toEqual([]);
    expect(await page.evaluate('Object.values(sessionStorage)')).toEqual([KEY]);

    const other = await page.context().newPage();
    await other.goto(dashboard.url);
    await other.getByRole('dialog', { name: 'API key' }).waitFor();

    await page.getByRole('button', { name: 'Lock' }).click();
    await page.getByRole('dialog', { name: 'API key' }).waitFor();
    expect(await page.evaluate('sessionStorage.length')).toBe(0);
    // The wrong key was refused, and the browser says so.
    expect(dashboard.complaints()).toEqual([expect.stringContaining('401')]);
    await page.context().close();
  });
});

describe('sandboxes', () => {
  test('are made, stopped, started, paused and removed', async () => {
    const page = await dashboard.open({ key: KEY });
    await page.getByRole('button', { name: 'New sandbox' }).click();
    await page.getByLabel('Name', { exact: true }).fill('made-here');
    await page.getByText('More').click();
    await page.getByLabel('Setup').fill('echo first > made\necho second >> made');
    await page.getByLabel('Environment').fill('COLOUR=blue');
    await page.getByRole('button', { name: 'Create' }).click();
    await type(page, 'cat made; echo "<$COLOUR>"');
    await sees(page, /first\s*second\s*<blue>/);

    const one = card(page, 'made-here');
    await one.getByRole('button', { name: 'Stop' }).click();
    await one.getByText('stopped').waitFor();
    await page.getByText('It is stopped').waitFor();
    await one.getByRole('button', { name: 'Start' }).click();
    await one.getByText('running').waitFor();
    await one.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('It is paused').waitFor();
    await page.getByRole('main').getByRole('button', { name: 'Wake' }).first().click();
    await one.getByText('running').waitFor();

    await one.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('button', { name: 'Keep' }).click();
    await one.getByRole('button', { name: 'Remove' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click();
    await one.waitFor({ state: 'detached' });
    await page.getByText('Choose a sandbox.').waitFor();
    await page.context().close();
  });

  test('what cannot be made says why, and the question stays', async () => {
    const page = await dashboard.open({ key: KEY });
    await page.getByRole('button', { name: 'New sandbox' }).click();
    await page.getByText('More').click();
    await page.getByLabel('Environment').fill('no-variable');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByText('no-variable is no NAME=value').waitFor();
    await page.getByLabel('Environment').fill('');
    await page.getByLabel('Setup').fill(`echo '${MARKUP}' >&2; exit 3`);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByText('onerror').waitFor();
    await isText(page);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    // The browser tells of each answer that is none.
    expect(dashboard.complaints()).toEqual([expect.stringContaining('422')]);
    await page.context().close();
  });

  test('that come and go elsewhere do so here', async () => {
    const page = await dashboard.open({ key: KEY });
    const { id } = await dashboard.sandbox({ name: 'from-elsewhere' });
    await card(page, 'from-elsewhere').waitFor();
    await dashboard.ask('DELETE', `/sandboxes/${id}`);
    await card(page, 'from-elsewhere').waitFor({ state: 'detached' });
    await page.context().close();
    // It may have been measured just then.
    for (const complaint of dashboard.complaints()) expect(complaint).toContain('404');
  });

  test('show what they take, have taken and cost', async () => {
    const { id } = await dashboard.sandbox({ name: 'measured', labels: { note: MARKUP } });
    const page = await dashboard.open({ key: KEY });
    const one = card(page, 'measured');
    for (const name of ['CPU', 'Memory']) {
      const chart = one.locator('.sparkline').filter({ hasText: name });
      await chart.locator('.line[d^="M"]').waitFor({ state: 'attached' });
      await expect.poll(() => chart.locator('.value').textContent()).toMatch(/\d/);
    }
    expect(await one.textContent()).toMatch(/\$\d/);
    await openTab(page, id, 'details');
    await page.getByRole('table', { name: 'Cost so far' }).getByRole('row', { name: /Total/ }).waitFor();
    expect(await body(page)).toContain(`note=${MARKUP}`);
    await isText(page);
    await page.context().close();
  });
});

describe('a terminal', () => {
  test('shows what a command prints, in its colours, and never as markup', async () => {
    const { id } = await dashboard.sandbox();
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'terminal');
    await dashboard.run(id, `printf '%s' '${MARKUP}' > markup`);
    await type(page, 'stty -echo; printf "\\033[38;2;1;200;3m%s\\033[0m\\n" "$(cat markup)"; echo "<en""d>"');
    await sees(page, /<img src=x onerror=.*<end>/s);
    await isText(page);
    const coloured = `[...document.querySelectorAll('.xterm-rows span')].find((each) => each.textContent.startsWith('<img'))`;
    // Darker than asked for, so that it can be read.
    expect(await page.evaluate(`getComputedStyle(${coloured}).color`)).toMatch(/^rgb\(\d, \d{2,3}, \d\)$/);
    await page.context().close();
  });

  test('has the size of its place, also when that changes', async () => {
    const { id } = await dashboard.sandbox();
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'terminal');
    const cols = async () => {
      await type(page, 'clear; echo "<$(stty size | cut -d " " -f 2)>"');
      await sees(page, /<\d+>/);
      return Number(/<(\d+)>/.exec((await screen(page).textContent()) ?? '')?.[1]);
    };
    const wide = await cols();
    await page.setViewportSize({ width: 900, height: 600 });
    await expect.poll(cols).toBeLessThan(wide);
    await page.context().close();
  });

  test('that has ended can be opened again', async () => {
    const { id } = await dashboard.sandbox();
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'terminal');
    await type(page, 'exit');
    await page.getByText(/^disconnected/).waitFor();
    await page.getByRole('button', { name: 'Connect' }).click();
    await type(page, 'echo "a""gain"');
    await sees(page, /again/);
    await page.context().close();
  });

  withSessions('of a session goes on without the page', async () => {
    const { id } = await dashboard.sandbox();
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'terminal');
    await page.getByRole('button', { name: 'New session' }).click();
    await page.getByLabel('Name', { exact: true }).fill('lasting');
    await page.getByRole('button', { name: 'Start' }).click();
    await page.getByRole('button', { name: 'End session' }).waitFor();
    await type(page, 'KEPT=yes');
    await page.reload();
    await expect.poll(() => page.getByLabel('Session').inputValue()).toBe('lasting');
    await type(page, 'echo "<$KEPT>"');
    await sees(page, /<yes>/);
    await page.getByRole('button', { name: 'End session' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click();
    await expect.poll(() => page.getByLabel('Session').inputValue()).toBe('');
    await page.context().close();
  });

  test('is left by the keyboard, and its tab by arrows', async () => {
    const { id } = await dashboard.sandbox();
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'terminal');
    await type(page, 'true');
    await page.keyboard.press('Control+Shift+Enter');
    expect(await page.evaluate('document.activeElement.tagName')).toBe('SELECT');
    await page.getByRole('tab', { name: 'Terminal' }).focus();
    await page.keyboard.press('ArrowRight');
    await page.getByRole('tab', { name: 'Files', selected: true }).waitFor();
    await expect.poll(() => page.evaluate('document.activeElement.textContent')).toBe('Files');
    await page.context().close();
  });
});

describe('files', () => {
  test('are walked through, read, changed and downloaded, whatever they are called', async () => {
    const { id, workdir } = await dashboard.sandbox();
    await dashboard.run(
      id,
      `mkdir -p '${workdir}/<b>folder<b>'; cd '${workdir}/<b>folder<b>'; printf 'one\\n' > text; ` +
        `printf '%s' '${MARKUP}' > '<img src=x onerror=alert(1)>'; printf '\\0\\377' > bytes; : > "$(printf 'right\\342\\200\\256left')"`,
    );
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'files');
    await page.getByRole('button', { name: '<b>folder<b>, folder' }).click();
    await page.getByRole('button', { name: '<img src=x' }).click();
    await expect.poll(() => page.getByRole('textbox').inputValue()).toBe(MARKUP);
    await page.getByRole('button', { name: 'right\\u{202e}left' }).waitFor();
    await isText(page);

    await page.getByRole('button', { name: 'text' }).click();
    await expect.poll(() => page.getByRole('textbox').inputValue()).toBe('one\n');
    await page.getByRole('textbox').fill('one\nzwei ✓\n');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('saved', { exact: false }).filter({ hasText: /\d/ }).waitFor();
    expect(await dashboard.run(id, `cat '${workdir}/<b>folder<b>/text'`)).toBe('one\nzwei ✓\n');

    await page.getByRole('button', { name: 'bytes' }).click();
    await page.getByText('This is no text.').waitFor();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download' }).click(),
    ]);
    expect(file.suggestedFilename()).toBe('bytes');
    expect([...(await readFile(await file.path()))]).toEqual([0, 255]);

    await page.getByRole('navigation', { name: 'Folder' }).getByRole('button', { name: 'workspace' }).click();
    await page.getByRole('button', { name: '<b>folder<b>, folder' }).waitFor();
    await page.context().close();
  });

  test('are uploaded, and made anew', async () => {
    const { id, workdir } = await dashboard.sandbox();
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'files');
    const buffer = Buffer.from([0, 1, 2, 255]);
    await page.locator('input[type=file]').setInputFiles({ name: 'up.bin', mimeType: 'x/y', buffer });
    await page.getByRole('button', { name: 'up.bin' }).waitFor();
    expect(await dashboard.run(id, `od -An -tu1 ${workdir}/up.bin`)).toMatch(/^\s*0\s+1\s+2\s+255\s*$/);
    await page.getByRole('button', { name: 'New file' }).click();
    await page.getByLabel('Name', { exact: true }).fill('fresh');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('region', { name: 'fresh' }).waitFor();
    await page.context().close();
  });

  test('a file without an end is not read to its end', async () => {
    const { id } = await dashboard.sandbox();
    await dashboard.run(id, 'ln -s /dev/zero endless');
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'files');
    await page.getByRole('button', { name: 'endless' }).click();
    await page.getByText('Too large to be shown.').waitFor();
    await page.context().close();
  });
});

describe('processes', () => {
  test('are started, followed and ended', async () => {
    const { id } = await dashboard.sandbox();
    await dashboard.run(id, `printf '%s' '${MARKUP}' > markup; mkfifo go`);
    const page = await dashboard.open({ key: KEY });
    await openTab(page, id, 'processes');
    const run = async (command: string) => {
      await page.getByLabel('Command to run').fill(command);
      await page.getByRole('button', { name: 'Run' }).click();
    };
    const output = page.locator('pre');
    await run('cat markup; printf "\\033[31mred\\033[0m\\n"; read _ < go; echo bye; exit 3');
    await expect.poll(() => output.textContent()).toBe(`${MARKUP}red\n`);
    await isText(page);
    await dashboard.run(id, 'echo > go');
    await expect.poll(() => output.textContent()).toBe(`${MARKUP}red\nbye\n`);
    await page.getByText('exit 3', { exact: true }).waitFor();

    await run('echo waiting; read _ < go');
    await expect.poll(() => output.textContent()).toBe('waiting\n');
    const row = page.getByRole('listitem').filter({ hasText: 'echo waiting' });
    await row.getByRole('button', { name: 'End' }).click();
    await row.and(page.locator('[data-status=exited]')).waitFor();
    await page.context().close();
  });
});

describe('people who do not see it as drawn', () => {
  /** What axe finds wrong; it comes to the page past the policy, which has no way in. */
  const wrong = async (page: Page): Promise<string[]> => {
    const { violations } = (await page.evaluate(`${axe.source}; axe.run()`)) as axe.AxeResults;
    return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  };

  for (const colorScheme of ['light', 'dark'] as const)
    test(`can use it: ${colorScheme}`, async () => {
      const { id } = await dashboard.sandbox();
      await dashboard.run(id, 'mkdir folder; echo text > file');
      const locked = await dashboard.open({ colorScheme });
      await locked.getByRole('dialog').waitFor();
      expect(await wrong(locked)).toEqual([]);
      await locked.context().close();
      const page = await dashboard.open({ key: KEY, colorScheme });
      await card(page, id).waitFor();
      expect(await wrong(page)).toEqual([]);
      await openTab(page, id, 'terminal');
      await type(page, 'true');
      expect(await wrong(page)).toEqual([]);
      await openTab(page, id, 'files');
      await page.getByRole('button', { name: /^file/ }).click();
      await page.getByRole('textbox').waitFor();
      expect(await wrong(page)).toEqual([]);
      await openTab(page, id, 'processes');
      await page.getByLabel('Command to run').fill('echo out');
      await page.getByRole('button', { name: 'Run' }).click();
      await page.getByText('exit 0', { exact: true }).waitFor();
      expect(await wrong(page)).toEqual([]);
      await openTab(page, id, 'details');
      expect(await wrong(page)).toEqual([]);
      await page.getByRole('button', { name: 'New sandbox' }).click();
      await page.getByText('More').click();
      expect(await wrong(page)).toEqual([]);
      await page.context().close();
    });
});

describe('a phone', () => {
  test('has nothing that is wider than it', async () => {
    const { id } = await dashboard.sandbox({ labels: { long: 'x'.repeat(200) } });
    await dashboard.run(id, `: > ${'long'.repeat(50)}`);
    const page = await dashboard.open({ key: KEY, ...PHONE });
    const fits = async () =>
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(PHONE.viewport.width);
    await card(page, id).waitFor();
    await fits();
    await page.getByRole('button', { name: 'New sandbox' }).tap();
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    await fits();
    await page.getByRole('button', { name: 'Cancel' }).tap();
    await card(page, id).getByRole('link').tap();
    for (const tab of ['Terminal', 'Files', 'Processes', 'Details']) {
      await page.getByRole('tab', { name: tab }).tap();
      await page.getByRole('tab', { name: tab, selected: true }).waitFor();
      expect(await page.locator('.cards').isVisible()).toBe(false);
      await fits();
    }
    await page.getByRole('link', { name: 'All' }).tap();
    await card(page, id).waitFor();
    await page.context().close();
  });

  test('has the keys that it lacks', async () => {
    const { id } = await dashboard.sandbox();
    const page = await dashboard.open({ key: KEY, ...PHONE });
    await openTab(page, id, 'terminal');
    await type(page, 'echo rea""dy; cat; echo "<en""d>"');
    await sees(page, /ready/);
    await page.getByRole('button', { name: 'Ctrl' }).tap();
    await page.keyboard.type('d');
    await sees(page, /<end>/);
    await page.context().close();
  });
});
