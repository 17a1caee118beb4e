/** A folder of this machine as a sandbox that keeps sessions, with the programs of a test's choice; and readers of channels. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Call, SessionChannel, Sessions } from '../../src/lib/backend/contract.ts';
import type { ExecSandbox } from '../../src/lib/backend/derived/run-guest.ts';
import { deriveSessions } from '../../src/lib/backend/derived/sessions.ts';
import { terminalCommand } from '../../src/lib/guest/terminal.ts';
import { type Family, guestShell } from './guest-shell.ts';

/** A call that nobody gives up. */
export const call: Call = { signal: new AbortController().signal };

export const SIZE = { cols: 90, rows: 20 };

/** What the session programs need of a GNU system besides the tools of every test. */
const GNU = [
  'stty',
  'date',
  'id',
  'mkfifo',
  'dd',
  'tail',
  'grep',
  'tr',
  'ls',
  'wc',
  'setsid',
  'rmdir',
  'env',
];

export interface SessionBoxOptions {
  readonly family?: Family;
  /** Of dtach, script, python3 and perl. Default: all. */
  readonly tools?: readonly string[];
  /** Prepares the guest folder. */
  readonly prepare?: (guest: string) => void;
}

export interface SessionBox {
  readonly folder: string;
  /** The guest folder. */
  readonly guest: string;
  readonly sandbox: ExecSandbox;
  readonly sessions: Sessions;
  /** A file of a session's folder. */
  file(session: string, name: string): string;
  read(session: string, name: string): string;
}

/** A new one; its sessions end and its files go with the test. */
export function sessionBox({ family = 'gnu', tools, prepare }: SessionBoxOptions = {}): SessionBox {
  const folder = mkdtempSync(join(tmpdir(), 'sbx-sessions-'));
  const guest = join(folder, 'guest');
  mkdirSync(guest);
  prepare?.(guest);
  const few = tools?.map((tool) => (tool === 'python3' ? '/usr/bin/python3' : tool));
  const all = few === undefined ? [] : [...(family === 'gnu' ? GNU : []), ...few];
  const shell = guestShell(family, folder, all.length > 0 || family === 'busybox' ? { with: all } : {});
  const whole = guestShell('gnu', folder);
  const sandbox: ExecSandbox = {
    ...shell,
    exec(spec, given) {
      const env = { SBX_GUEST_DIR: guest, HOME: folder, LANG: 'C.UTF-8', ...spec.env };
      if (spec.terminal === undefined) return shell.exec({ ...spec, env }, given);
      const { argv, env: more } = terminalCommand(spec.argv, spec.terminal);
      return whole.exec({ ...spec, argv, env: { ...env, ...more } }, given);
    },
  };
  const sessions = deriveSessions(sandbox);
  onTestFinished(async () => {
    // With all tools: what ends them must not depend on what is tested.
    const others = deriveSessions({
      ...whole,
      exec: (spec, given) => whole.exec({ ...spec, env: { SBX_GUEST_DIR: guest, ...spec.env } }, given),
    });
    for (const { name, exit } of await others.list(call))
      if (exit === undefined) await others.kill(name, call);
    rmSync(folder, { recursive: true, force: true });
  });
  const file = (session: string, name: string) => join(guest, 'sessions', session, name);
  return {
    folder,
    guest,
    sandbox,
    sessions,
    file,
    read: (session, name) => readFileSync(file(session, name), 'latin1'),
  };
}

/** What a channel prints, to be waited for. */
export interface Screen {
  text(): string;
  /** Resolves when the text holds `wanted`; rejects when the channel ends without it. */
  until(wanted: string): Promise<void>;
}

/** Reads a channel from now on. */
export function screenOf(channel: SessionChannel): Screen {
  let text = '';
  let over = false;
  const waiting = new Set<() => void>();
  const tell = () => {
    for (const look of [...waiting]) look();
  };
  channel.output.on('data', (data: Buffer) => {
    text += data.toString('latin1');
    tell();
  });
  void channel.closed.then(() => {
    over = true;
    tell();
  });
  return {
    text: () => text,
    until: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => {
          if (text.includes(wanted)) resolve();
          else if (over) reject(new Error(`the channel ended without ${wanted}: ${text.slice(-500)}`));
          else return;
          waiting.delete(look);
        };
        waiting.add(look);
        look();
      }),
  };
}

/** Writes all of `data`. */
export function type(channel: SessionChannel, data: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) =>
    channel.input.write(data, (error) => (error ? reject(error) : resolve())),
  );
}
