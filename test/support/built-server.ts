/** The built `sbx serve` as a process, and the built sbx as its client. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';

const root = new URL('../../', import.meta.url).pathname;
export const bin = `${root}bin/run.js`;

/** A key that is no secret. */
export const KEY = 'only-for-tests-0123456789';

export interface BuiltServer {
  readonly url: string;
  readonly pid: number;
  /** What it said on stderr so far. */
  readonly said: () => string;
  /** A request with the key. */
  ask(method: string, path: string, body?: unknown): Promise<Response>;
  /** Resolves when it has ended, with its exit code; null for a signal. */
  readonly ended: Promise<number | null>;
  kill(signal: NodeJS.Signals): void;
}

export interface BuiltServerOptions {
  /** Default: a free port of loopback. */
  readonly listen?: string;
  readonly key?: string;
  readonly flags?: readonly string[];
}

/** Starts it. @param state its state folder. */
export async function builtServer(
  state: string,
  { listen = '127.0.0.1:0', key = KEY, flags = [] }: BuiltServerOptions = {},
): Promise<BuiltServer> {
  const anywhere = ['--preview-listen', '127.0.0.1:0', '--egress-listen', '127.0.0.1:0'];
  const words = ['serve', '--listen', listen, ...anywhere, ...flags];
  const child = spawn(process.execPath, [bin, ...words], {
    env: { ...process.env, SBX_STATE_DIR: state, SBX_CONFIG_DIR: `${state}/config`, SBX_API_KEY: key },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const ended = once(child, 'exit').then(([code]) => code as number | null);
  const lines: string[] = [];
  const url = await listening(child, lines);
  return {
    url,
    pid: child.pid ?? 0,
    said: () => lines.join('\n'),
    ask: (method, path, body) =>
      fetch(`${url}${path}`, {
        method,
        headers: { authorization: `Bearer ${KEY}` },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      }),
    ended,
    kill: (signal) => void child.kill(signal),
  };
}

async function listening(child: ChildProcess, lines: string[]): Promise<string> {
  if (child.stderr === null) throw new Error('no stderr');
  const found = Promise.withResolvers<string>();
  createInterface(child.stderr)
    .on('line', (line) => {
      lines.push(line);
      const url = /^serving at (\S+)$/.exec(line)?.[1];
      if (url !== undefined) found.resolve(url);
    })
    .once('close', () => found.reject(new Error(`it does not serve: ${lines.join('\n')}`)));
  return found.promise;
}

export interface Done {
  readonly exit: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * Runs the built sbx with a state of its own and the backend `prod` at `url`.
 * @param settings of the backend besides, such as `ca=FILE`.
 * @param hear what any of its commands prints, as it comes.
 */
export function clientOf(
  url: string,
  state: string,
  settings: readonly string[] = [],
  hear: (text: string) => void = () => undefined,
): (...args: readonly string[]) => Promise<Done> {
  const env = { ...process.env, SBX_STATE_DIR: state, SBX_CONFIG_DIR: `${state}/config`, TOKEN: KEY };
  const run = async (...args: readonly string[]): Promise<Done> => {
    const child = spawn(process.execPath, [bin, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 60_000,
    });
    child.stdout.on('data', (data) => hear(String(data)));
    const [stdout, stderr, [exit]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { exit, stdout, stderr };
  };
  let added: Promise<Done> | undefined;
  return async (...args) => {
    added ??= run(
      'backend',
      'add',
      'prod',
      '--type',
      'daemon',
      ...[`url=${url}`, ...settings].flatMap((each) => ['--set', each]),
      '--token-env',
      'TOKEN',
      '--use',
    );
    const { exit, stderr } = await added;
    if (exit !== 0) throw new Error(stderr);
    return run(...args);
  };
}
