/** A connection that is cut, stalls or is open on one side only, between a real terminal and a real session. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect } from 'vitest';
import { attachPacket, pushPackets, sizePacket } from '../../src/lib/wire/dtach.ts';
import { requireOrSkip } from '../support/require.ts';
import { openTerminal, type Terminal } from '../support/terminal.ts';

const fixture = fileURLToPath(new URL('reconnect.fixture.ts', import.meta.url));
const withDtach = requireOrSkip(spawnSync('dtach', ['--help']).error === undefined, 'dtach');

/** The way between client and session: what passes is up to the test. */
interface Link {
  /** Ends all connections and takes no new ones. */
  cut(): void;
  mend(): Promise<void>;
  /** Passes nothing on, without a word. */
  stall(): void;
  goOn(): void;
  /** Whether the other end answers when it is asked. */
  answers: boolean;
  /** All that was typed into the session. */
  readonly typed: string;
}

let folder: string;
let link: Link & AsyncDisposable;
let recorder: Socket;
let dtach: ChildProcess;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sbx-link-'));
  writeFileSync(join(folder, 'recording'), '');
  const session = join(folder, 'session');
  dtach = spawn('dtach', ['-N', session, '-E', '-z', '-r', 'winch', 'bash', '--norc', '--noprofile'], {
    env: { ...process.env, PS1: 'box$ ', TERM: 'xterm', HISTFILE: '' },
    stdio: 'ignore',
  });
  await expect.poll(() => existsSync(session)).toBe(true);
  link = await openLink(session);
  recorder = connect(session);
  recorder.on('data', (bytes) => appendFileSync(join(folder, 'recording'), bytes));
  // What was printed before somebody attached is lost, the prompt too.
  recorder.write(
    Buffer.concat([attachPacket(), sizePacket({ cols: 80, rows: 24 }), pushPackets(Buffer.from('\r'))]),
  );
  await expect.poll(() => readFileSync(join(folder, 'recording'), 'utf8')).toMatch(/box\$ $/);
});

afterEach(async () => {
  if (dtach.exitCode === null && dtach.signalCode === null) {
    const gone = once(dtach, 'exit');
    dtach.kill();
    await gone;
  }
  recorder.destroy();
  await link[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

async function attached(giveUpMs = 60_000): Promise<Terminal> {
  const terminal = openTerminal([process.execPath, fixture, folder, String(giveUpMs)], {
    env: { ...process.env, NODE_OPTIONS: '--no-warnings' },
  });
  await terminal.waitFor('box$ ');
  terminal.type('echo be""fore\r');
  await terminal.waitFor(/^before$/m);
  return terminal;
}

withDtach('cut: a line tells, what was missed is shown, what was typed is sent once', async () => {
  await using terminal = await attached();
  link.cut();
  await terminal.waitFor(/connection lost.*~\. leaves/);
  expect(terminal.screen()).toContain('box$ echo be""fore');
  terminal.type('echo af""ter\r');
  recorder.write(pushPackets(Buffer.from('#x\r')));
  await expect.poll(() => readFileSync(join(folder, 'recording'), 'utf8')).toMatch(/#x.*box\$ $/s);
  await link.mend();
  await terminal.waitFor(/^after\nbox\$ $/m);
  expect(terminal.screen().join('\n')).toMatch(/^before\nbox\$ #x\nbox\$ echo af""ter\nafter\nbox\$ $/m);
  expect(terminal.screen().join('\n')).not.toContain('connection lost');
  expect(link.typed).toBe('echo be""fore\recho af""ter\r');
});

withDtach('stalled: nothing is lost and nothing doubled when it goes on', async () => {
  await using terminal = await attached();
  link.stall();
  terminal.type('echo s""low\r');
  link.goOn();
  await terminal.waitFor(/^slow$/m);
  expect(terminal.screen().filter((line) => line === 'slow')).toHaveLength(1);
  expect(link.typed).toBe('echo be""fore\recho s""low\r');
});

withDtach('open on one side only: noticed by keys without an answer, and none is sent twice', async () => {
  await using terminal = await attached();
  link.stall();
  link.answers = false;
  terminal.type('#');
  await terminal.waitFor('connection lost');
  terminal.type('echo ag""ain\r');
  link.answers = true;
  await terminal.waitFor(/^again$/m);
  expect(link.typed.match(/echo ag""ain\r/g)).toHaveLength(1);
  expect(link.typed.match(/#/g) ?? []).toEqual([]);
});

withDtach('~. leaves a dead connection', async () => {
  await using terminal = await attached();
  link.cut();
  await terminal.waitFor('connection lost');
  terminal.type('abc~.');
  await terminal.ended;
  expect(terminal.screen().join('\n')).toMatch(/^left: detached$/m);
  expect(terminal.screen().join('\n')).not.toContain('connection lost');
  expect(link.typed).toBe('echo be""fore\r');
});

withDtach('given up when its time is over', async () => {
  await using terminal = await attached(0);
  link.cut();
  await terminal.ended;
  expect(terminal.screen().join('\n')).toMatch(/^left: lost$/m);
});

/** Sockets `link` and `ping` in the folder; the first leads to `session`. */
async function openLink(session: string): Promise<Link & AsyncDisposable> {
  let answers = true;
  let typed = '';
  const pairs = new Set<readonly [Socket, Socket]>();
  const passOn = ([client, server]: readonly [Socket, Socket]) => {
    for (const each of [client, server]) each.resume();
  };
  const links = createServer((client) => {
    const server = connect(session);
    const pair = [client, server] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [server, client]] as const) {
      from.on('data', (bytes) => {
        if (from === client) for (const packet of packetsOf(bytes)) typed += packet;
        to.write(bytes);
      });
      from.on('error', () => to.destroy());
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    }
  });
  const pings = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    if (answers) socket.end('pong');
  });
  const listen = (server: Server, name: string) =>
    new Promise<void>((resolve) => server.listen(join(folder, name), resolve));
  await listen(links, 'link');
  await listen(pings, 'ping');
  const silent = new Set<readonly [Socket, Socket]>();
  return {
    get typed() {
      return typed;
    },
    get answers() {
      return answers;
    },
    set answers(answer) {
      answers = answer;
    },
    cut() {
      links.close();
      for (const [client, server] of pairs) {
        client.destroy();
        server.destroy();
      }
    },
    mend: () => listen(links, 'link'),
    stall() {
      for (const pair of pairs) {
        silent.add(pair);
        for (const each of pair) each.pause();
      }
    },
    goOn() {
      for (const pair of silent) passOn(pair);
      silent.clear();
    },
    async [Symbol.asyncDispose]() {
      for (const pair of pairs) for (const each of pair) each.destroy();
      await Promise.all([links, pings].map((server) => new Promise((resolve) => server.close(resolve))));
    },
  };
}

/** The keys in the packets of a client, which come whole here. */
function packetsOf(bytes: Buffer): string[] {
  const keys: string[] = [];
  for (let at = 0; at + 10 <= bytes.length; at += 10) {
    if (bytes[at] === 0) keys.push(bytes.toString('latin1', at + 2, at + 2 + (bytes[at + 1] ?? 0)));
  }
  return keys;
}
