/** `shell` on a real terminal: the built program, real sessions in a local sandbox, asserted on the screen. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { requireOrSkip } from '../support/require.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';
import { bin, childOf, createWorld, type World } from './world.ts';

const has = (program: string) => spawnSync(program, ['--version'], { stdio: 'ignore' }).error === undefined;
const needs = (...programs: string[]) => requireOrSkip(programs.every(has), programs.join(' and '));
const inSessions = needs('dtach', 'bash');

let world: World;
let count = 0;

beforeAll(async () => {
  world = createWorld();
  await world.sbx('create', 'box');
});
afterEach(({ task }) => {
  if (task.result?.state === 'fail') console.error(world.report());
});
afterAll(async () => await world[Symbol.asyncDispose]());

const BASH = "PS1='box$ ' exec bash --norc --noprofile";

/** A session of its own, with a bash in it. */
function newSession(): string {
  count += 1;
  return `s${count}`;
}

/** A terminal in a new session. */
async function opened(session: string, ...flags: string[]): Promise<Terminal> {
  const terminal = world.open(['shell', 'box', '--session', session, '--command', BASH, ...flags]);
  await terminal.waitFor('box$ ');
  return terminal;
}

/** A terminal in a session that runs. */
function again(session: string, ...flags: string[]): Terminal {
  return world.open(['shell', 'box', '--session', session, ...flags]);
}

const LEFT = /left session .* which goes on; come back: sbx shell box --session s\d+/s;
/** What the screen shows, without the breaks of its rows. */
const flat = (terminal: Terminal) => terminal.screen().join('');

describe('coming and going', () => {
  inSessions('Ctrl-P Ctrl-Q leaves, the session goes on, and coming back shows what was there', async () => {
    const session = newSession();
    {
      await using terminal = await opened(session);
      terminal.type('echo o""ne; n=kept\r');
      await terminal.waitFor('one\n');
      terminal.type('\x10\x11');
      expect(await terminal.ended).toMatchObject({ exitCode: 0 });
      expect(flat(terminal)).toMatch(LEFT);
    }
    await using terminal = again(session);
    await terminal.waitFor(/echo o""ne; n=kept\none\nbox\$ $/m);
    terminal.type('echo "n is $n"\r');
    await terminal.waitFor('n is kept');
    expect(terminal.screen().filter((line) => line.includes('echo o""ne'))).toHaveLength(1);
  });

  inSessions('~. after Enter leaves; within a line it is text', async () => {
    await using terminal = await opened(newSession());
    terminal.type('echo a~.b\r');
    await terminal.waitFor(/^a~.b$/m);
    terminal.type('~.');
    expect(await terminal.ended).toMatchObject({ exitCode: 0 });
    expect(flat(terminal)).toMatch(LEFT);
  });

  inSessions("keys of one's own choice", async () => {
    await using terminal = await opened(newSession(), '--detach-keys', 'ctrl-a,d');
    terminal.type('\x10\x11echo ~x\r');
    await terminal.waitFor(/^~x$/m);
    terminal.type('\x01d');
    expect(await terminal.ended).toMatchObject({ exitCode: 0 });
  });

  inSessions('the shell that ends is the end, with its exit code', async () => {
    await using terminal = await opened(newSession());
    terminal.type('exit 7\r');
    expect(await terminal.ended).toMatchObject({ exitCode: 7 });
    expect(flat(terminal)).not.toContain('come back');
  });

  inSessions('a shell that a signal ends', async () => {
    await using terminal = await opened(newSession());
    terminal.type('kill -KILL $$\r');
    expect(await terminal.ended).toMatchObject({ exitCode: 137 });
  });

  inSessions('a command that is over at once has its output and exit code', async () => {
    await using terminal = world.open([
      'shell',
      'box',
      '--session',
      newSession(),
      '--command',
      'echo quick; exit 3',
    ]);
    expect(await terminal.ended).toMatchObject({ exitCode: 3 });
    expect(flat(terminal)).toContain('quick');
    expect(flat(terminal)).not.toContain('Script done');
  });

  inSessions('two that open the same new session at once are both in it', async () => {
    const session = newSession();
    await using one = again(session);
    await using two = again(session);
    await Promise.all([one, two].map((each) => each.waitFor(/[#$] $/m)));
    one.type('echo from o""ne\r');
    await Promise.all([one, two].map((each) => each.waitFor('from one')));
  });

  inSessions('sessions attach makes none', async () => {
    await using terminal = world.open(['sessions', 'attach', 'box', 'nowhere']);
    expect(await terminal.ended).toMatchObject({ exitCode: 255 });
    expect(flat(terminal)).toContain('error: ');
    const session = newSession();
    await using first = await opened(session);
    await using second = world.open(['sessions', 'attach', 'box', session]);
    await second.waitFor('box$ ');
    first.type('exit 4\r');
    expect(await second.ended).toMatchObject({ exitCode: 4 });
  });

  inSessions('--no-replay begins with nothing old but a prompt, without a key', async () => {
    const session = newSession();
    await using first = await opened(session);
    first.type('echo o""ld\r');
    await first.waitFor('old\n');
    await using second = again(session, '--no-replay');
    await second.waitFor(/^box\$ $/m);
    expect(second.printed).not.toContain('old');
    second.type('stty size\r');
    await second.waitFor(/^24 80$/m);
  });

  inSessions('--read-only makes no session', async () => {
    const session = newSession();
    await using terminal = again(session, '--read-only');
    expect(await terminal.ended).toMatchObject({ exitCode: 255 });
    expect(flat(terminal)).toContain(`there is no session '${session}'`);
    expect(JSON.parse(await world.sbx('sessions', 'box', '--all', '--json'))).not.toContainEqual(
      expect.objectContaining({ name: session }),
    );
  });

  inSessions('--command does not go into a session that runs', async () => {
    const session = newSession();
    await using _first = await opened(session);
    await using second = again(session, '--command', 'true');
    expect(await second.ended).toMatchObject({ exitCode: 255 });
    expect(flat(second)).toContain('runs already');
  });
});

inSessions('it loads no package: people wait for it', async () => {
  const list = `${world.folder}/loaded`;
  const hook = `${world.folder}/hook.mjs`;
  writeFileSync(list, '');
  writeFileSync(
    hook,
    `import { appendFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
registerHooks({ load: (url, context, next) => { appendFileSync(${JSON.stringify(list)}, url + '\\n'); return next(url, context); } });`,
  );
  await using terminal = openTerminal(
    [
      process.execPath,
      '--import',
      hook,
      bin,
      'shell',
      'box',
      '--session',
      newSession(),
      '--command',
      'exit 5',
    ],
    { env: world.env },
  );
  expect(await terminal.ended).toMatchObject({ exitCode: 5 });
  const loaded = readFileSync(list, 'utf8').split('\n');
  expect(loaded.filter((url) => url.includes('/dist/')).length).toBeGreaterThan(2);
  expect(loaded.filter((url) => url.includes('/node_modules/'))).toEqual([]);
});

describe('without a session', () => {
  test('no terminal: exit 2, and what to do', async () => {
    await expect(world.sbx('shell', 'box')).rejects.toMatchObject({
      code: 2,
      stderr: expect.stringContaining('sbx exec box -- CMD'),
    });
  });

  test('no such sandbox: exit 255', async () => {
    await using terminal = world.open(['shell', 'nobody']);
    expect(await terminal.ended).toMatchObject({ exitCode: 255 });
    expect(flat(terminal)).toContain("there is no sandbox 'nobody'");
  });

  test('a stopped sandbox: how to start it', async () => {
    await world.sbx('create', 'resting');
    await world.sbx('stop', 'resting');
    await using terminal = world.open(['shell', 'resting']);
    expect(await terminal.ended).toMatchObject({ exitCode: 255 });
    expect(flat(terminal)).toContain('start it: sbx start resting');
    expect(await terminal.settings().catch(() => 'gone')).not.toContain('-icanon');
  });
});

describe('the window', () => {
  inSessions('its size is there from the first byte, and follows', async () => {
    await using terminal = world.open(
      ['shell', 'box', '--session', newSession(), '--command', `stty size; ${BASH}`],
      { cols: 40, rows: 10 },
    );
    await terminal.waitFor('10 40');
    await terminal.waitFor('box$ ');
    terminal.resize(100, 30);
    // Keys may overtake the word that the window has changed.
    terminal.type('until [ "$(stty size)" = "30 100" ]; do :; done; echo si""zed\r');
    await terminal.waitFor(/^sized$/m);
  });

  inSessions('wide characters, combining ones and emoji arrive whole', async () => {
    await using terminal = await opened(newSession());
    terminal.type("printf '%s\\n' 日本語 'e\u0301' 🎉 ｗｉｄｅ\r");
    await terminal.waitFor(/^日本語\ne\u0301\n🎉\nｗｉｄｅ$/m);
  });

  inSessions('a program that moves down by a bare line feed is not thrown to the left', async () => {
    await using terminal = await opened(newSession());
    terminal.type("stty -onlcr; printf '\\r\\n   abc\\ndef\\r\\n'; stty onlcr\r");
    await terminal.waitFor(/^ {3}abc\n {6}def$/m);
  });
});

describe('keys', () => {
  inSessions('Ctrl-C, Ctrl-Z and Ctrl-\\ reach the program', async () => {
    await using terminal = await opened(newSession());
    // Each line is typed once the shell has given the terminal away: what it reads ahead is not for the program.
    terminal.type('echo g""o; cat\r');
    await terminal.waitFor(/^go$/m);
    terminal.type('one\r');
    await terminal.waitFor(/^one\none$/m);
    terminal.type('\x1a');
    await terminal.waitFor('Stopped');
    terminal.type('fg\r');
    await terminal.waitFor(/fg\ncat$/m);
    terminal.type('two\r');
    await terminal.waitFor(/^two\ntwo$/m);
    terminal.type('\x03');
    await terminal.waitFor('^C\n');
    terminal.type('echo "is $?"; cat\r');
    await terminal.waitFor(/^is 130$/m);
    terminal.type('three\r');
    await terminal.waitFor(/^three\nthree$/m);
    terminal.type('\x1c');
    await terminal.waitFor('Quit');
  });

  inSessions('a paste of a megabyte arrives whole', async () => {
    await using terminal = await opened(newSession());
    const text = Array.from({ length: 20_000 }, (_, index) => `line ${index} ${'.'.repeat(40)}\n`).join('');
    expect(text.length).toBeGreaterThan(1_000_000);
    terminal.type('stty -echo; echo re""ady; cat > /tmp/pasted; stty echo; sha256sum < /tmp/pasted\r');
    // Not sooner: stty waits until what the terminal echoes has been read, and nobody reads while keys are written.
    await terminal.waitFor(/^ready$/m);
    terminal.type(text);
    terminal.type('\x04');
    await terminal.waitFor(createHash('sha256').update(text).digest('hex'));
  });

  inSessions(
    'a paste into a program that does not read holds up neither another client nor the way out',
    async () => {
      const session = newSession();
      await using terminal = await opened(session);
      terminal.type('(while sleep 0.1; do echo t""ick; done) & sleep 1000\r');
      await terminal.waitFor('tick\n');
      terminal.type('x'.repeat(1_000_000));
      await using second = again(session, '--read-only', '--no-replay');
      await second.waitFor('tick\ntick\n');
      terminal.type('\x10\x11');
      expect(await terminal.ended).toMatchObject({ exitCode: 0 });
    },
  );

  inSessions('Ctrl-C ends a flood at once', async () => {
    await using terminal = await opened(newSession());
    terminal.type('yes "$(seq -s, 30)"\r');
    await terminal.waitFor('1,2,3,');
    terminal.type('\x03');
    await terminal.waitFor(/\^C\nbox\$ $/m);
  });

  inSessions('what a query in old output asks is not typed into the shell', async () => {
    const session = newSession();
    await using first = await opened(session);
    first.type(
      'printf \'a\\033[6n\\033[c\\033]11;?\\007\\033[>0q\\033P$qm\\033\\\\b\'; read -rsd q; clear; echo re""ady\r',
    );
    await first.waitFor('ab');
    first.type('q');
    await first.waitFor(/^ready$/m);
    expect(first.answers).not.toBe('');
    first.type('\x10\x11');
    await first.ended;
    await using second = again(session);
    await second.waitFor('box$ ');
    second.type('echo cl""ean\r');
    await second.waitFor(/^clean$/m);
    expect(second.answers).toBe('');
  });
});

describe('full-screen programs', () => {
  needs('dtach', 'vim')('vim comes back as it was left, and leaves no mode behind', async () => {
    const session = newSession();
    await using first = await opened(session);
    first.type('vim -u NONE -c "set mouse=a ttymouse=sgr" /tmp/poem\r');
    await first.waitFor(/"\/tmp\/poem" \[New/);
    first.type('iroses are red\x1b');
    await first.waitFor('roses are red');
    expect(first.modes.mouseTrackingMode).not.toBe('none');
    expect(first.alternate).toBe(true);
    first.type('\x10\x11');
    await first.ended;
    expect(first.alternate).toBe(false);
    expect(first.modes).toMatchObject({
      mouseTrackingMode: 'none',
      bracketedPasteMode: false,
      applicationCursorKeysMode: false,
      applicationKeypadMode: false,
      sendFocusMode: false,
    });
    expect(flat(first)).toMatch(LEFT);

    await using second = again(session);
    await second.waitFor(/^roses are red$/m);
    expect(second.alternate).toBe(true);
    expect(second.modes.mouseTrackingMode).not.toBe('none');
    second.resize(60, 12);
    await second.waitFor((screen) => screen.split('\n').filter((line) => line.startsWith('~')).length === 10);
    second.type(':echo &columns &lines\r');
    await second.waitFor('60 12');
    second.type(':q!\r');
    await second.waitFor('box$ ');
    expect(second.alternate).toBe(false);
    expect(second.modes.mouseTrackingMode).toBe('none');
  });

  needs('dtach', 'less')('less, in a window of 40×10', async () => {
    const session = newSession();
    await using terminal = await opened(session);
    terminal.resize(40, 10);
    // A program that is just starting may miss that the window has changed.
    terminal.type('until [ "$(stty size)" = "10 40" ]; do :; done; clear; echo si""zed\r');
    await terminal.waitFor(/^sized$/m);
    terminal.type('seq 1000 | less\r');
    await terminal.waitFor(/^1\n2\n3\n4\n5\n6\n7\n8\n9\n:$/m);
    terminal.type('G');
    await terminal.waitFor(/^1000\n\(END\)$/m);
    terminal.type('q');
    await terminal.waitFor('box$ ');
  });

  requireOrSkip(
    has('dtach') && spawnSync('top', ['-v'], { env: { ...process.env, HOME: '/dev/null' } }).status === 0,
    'dtach and top',
  )('top draws itself for the window that looks', async () => {
    const session = newSession();
    await using first = await opened(session);
    first.type('top\r');
    await first.waitFor(/PID.*COMMAND/s);
    first.type('\x10\x11');
    await first.ended;
    await using second = world.open(['shell', 'box', '--session', session], { cols: 100, rows: 20 });
    await second.waitFor(/PID USER.*COMMAND/);
    second.type('q');
    await second.waitFor('box$ ');
  });
});

describe('several clients', () => {
  inSessions('all see the same, and all may type', async () => {
    const session = newSession();
    await using one = await opened(session);
    await using two = again(session);
    await two.waitFor('box$ ');
    two.type('echo from t""wo\r');
    await one.waitFor('from two');
    one.type('echo from o""ne\r');
    await two.waitFor('from one');
  });

  inSessions('the one that typed last has its size', async () => {
    const session = newSession();
    await using one = await opened(session);
    await using two = world.open(['shell', 'box', '--session', session], { cols: 60, rows: 12 });
    await two.waitFor('box$ ');
    two.type('stty size\r');
    await two.waitFor(/^12 60$/m);
    one.type('stty size\r');
    await one.waitFor(/^24 80$/m);
  });

  inSessions('--read-only types nothing', async () => {
    const session = newSession();
    await using one = await opened(session);
    await using two = again(session, '--read-only');
    await two.waitFor('box$ ');
    two.type('echo no\r');
    one.type('echo y""es\r');
    await two.waitFor(/^yes$/m);
    expect(flat(two)).not.toContain('echo no');
    two.type('\x10\x11');
    expect(await two.ended).toMatchObject({ exitCode: 0 });
  });

  inSessions('--take-over sends the others away', async () => {
    const session = newSession();
    await using one = await opened(session);
    await using two = again(session, '--take-over');
    expect(await one.ended).toMatchObject({ exitCode: 0 });
    expect(flat(one)).toContain('took over');
    two.type('echo m""ine\r');
    await two.waitFor('mine');
  });

  inSessions('one whose terminal stalls holds up nobody, and is up to date when it goes on', async () => {
    const session = newSession();
    await using one = await opened(session);
    await using two = again(session);
    await two.waitFor('box$ ');
    one.stall();
    two.type('seq 300000; echo d""one\r');
    await two.waitFor('300000\ndone');
    one.goOn();
    await one.waitFor(/300000\ndone\nbox\$ $/m);
  });
});

describe('a client that ends otherwise', () => {
  const settingsAfter = async (signal: 'SIGTERM' | 'SIGHUP' | 'SIGINT') => {
    const session = newSession();
    await using terminal = world.shell();
    await terminal.waitFor('outer$ ');
    terminal.type(`sbx shell box --session ${session} --command "${BASH.replaceAll('$', '\\$')}"\r`);
    await terminal.waitFor(/^box\$ $/m);
    terminal.type("printf '\\033[?1000h\\033[?25l'\r");
    await terminal.waitFor(/^box\$ printf.*\n+box\$ $/m);
    process.kill(childOf(terminal.pid, 'run.js'), signal);
    await terminal.waitFor(/outer\$ $/m);
    expect(terminal.modes.mouseTrackingMode).toBe('none');
    terminal.type('echo "is $?"; stty -a\r');
    await terminal.waitFor('echoke');
    await terminal.waitFor(/outer\$ $/m);
    return terminal.screen().join('\n');
  };

  inSessions('TERM, HUP and INT put the terminal back', async () => {
    for (const [signal, code] of [
      ['SIGTERM', 143],
      ['SIGHUP', 129],
      ['SIGINT', 130],
    ] as const) {
      const text = await settingsAfter(signal);
      expect(text).toContain(`is ${code}`);
      expect(text).toMatch(/(?<!-)\bicanon/);
      expect(text).toMatch(/(?<!-)\bopost/);
      expect(text).toMatch(/(?<!-)\becho /);
    }
  });

  inSessions('KILL leaves the session as it is', async () => {
    const session = newSession();
    await using terminal = await opened(session);
    terminal.type('echo be""fore\r');
    await terminal.waitFor(/^before$/m);
    process.kill(terminal.pid, 'SIGKILL');
    await terminal.ended;
    await using next = again(session);
    await next.waitFor(/^before$/m);
    next.type('echo af""ter\r');
    await next.waitFor(/^after$/m);
  });

  inSessions('the window that is closed leaves the session as it is', async () => {
    const session = newSession();
    {
      await using terminal = await opened(session);
      terminal.type('echo be""fore\r');
      await terminal.waitFor(/^before$/m);
    }
    await using next = again(session);
    await next.waitFor(/^before$/m);
  });

  inSessions('one that is stopped and goes on has a raw terminal again', async () => {
    const session = newSession();
    await using terminal = world.shell();
    await terminal.waitFor('outer$ ');
    terminal.type(`sbx shell box --session ${session} --command "${BASH.replaceAll('$', '\\$')}"\r`);
    await terminal.waitFor(/^box\$ $/m);
    const client = childOf(terminal.pid, 'run.js');
    for (const signal of ['SIGTSTP', 'SIGSTOP'] as const) {
      process.kill(client, signal);
      await terminal.waitFor(/Stopped.*\n(.*\n)*outer\$ $/m);
      terminal.type('clear; fg\r');
      // The prompt is there without a key.
      await terminal.waitFor((screen) => !screen.includes('Stopped') && /^box\$ $/m.test(screen));
      terminal.type('echo ra""w\r');
      await terminal.waitFor(/^raw$/m);
      expect(await terminal.settings()).toMatch(/-icanon/);
    }
  });
});

describe('inside tmux', () => {
  needs('dtach', 'tmux')('a smoke run', async () => {
    const socket = `${world.folder}/tmux`;
    const tmux = (...args: string[]) =>
      execFileSync('tmux', ['-S', socket, '-f', '/dev/null', ...args], {
        env: { ...world.env, TERM: 'xterm' },
        encoding: 'utf8',
      });
    const session = newSession();
    const ready = `${world.folder}/ready`;
    writeFileSync(ready, '');
    try {
      tmux(
        'new',
        '-d',
        '-x',
        '80',
        '-y',
        '24',
        `sbx shell box --session ${session} --command "${BASH.replaceAll('$', '\\$')}"; tmux wait-for -S left; cat`,
      );
      await expect.poll(() => tmux('capture-pane', '-p')).toContain('box$');
      tmux('send-keys', 'echo in t""mux', 'Enter');
      await expect.poll(() => tmux('capture-pane', '-p')).toMatch(/^in tmux$/m);
      tmux('resize-window', '-x', '60', '-y', '15');
      tmux('send-keys', 'stty size', 'Enter');
      await expect.poll(() => tmux('capture-pane', '-p')).toMatch(/^15 60$/m);
      tmux('send-keys', 'C-p', 'C-q');
      tmux('wait-for', 'left');
      expect(tmux('capture-pane', '-p')).toContain('come back');
    } finally {
      tmux('kill-server');
    }
  });
});
