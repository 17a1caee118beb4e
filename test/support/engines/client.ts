/** The built client against an engine, from outside. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { openTerminal, type Terminal } from '../terminal.ts';

/** The built program. */
export const bin = fileURLToPath(new URL('../../../bin/run.js', import.meta.url));
const LIMIT_MS = 60_000;

export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** One that runs. */
export interface Started {
  readonly pid: number;
  /** Resolves once stdout contains `text`; rejects when it ends without. */
  prints(text: string): Promise<void>;
  /** Kills it with -9. */
  kill(): void;
  readonly ended: Promise<Ended>;
}

/** A client whose only backend, and default, is of type docker. */
export interface EngineClient {
  /** Its environment. */
  readonly env: Readonly<Record<string, string>>;
  /** To its end. */
  run(...args: readonly string[]): Ended;
  /** {@link run} that has to succeed; returns what it printed. */
  must(...args: readonly string[]): string;
  start(...args: readonly string[]): Started;
  /** On a terminal. */
  open(...args: readonly string[]): Terminal;
  /** The same client with another engine. */
  at(host: string): EngineClient;
  /** The same client with more variables in its environment. */
  with(variables: Readonly<Record<string, string>>): EngineClient;
  /** The same client started by way of another program, such as `setpriv`. */
  through(...wrapper: readonly string[]): EngineClient;
}

/** A client with files below `folder` and the engine at `host`. */
export function engineClient(folder: string, host: string): EngineClient {
  const client = clientWith(folder, { DOCKER_HOST: host }, []);
  client.must('backend', 'add', 'engine', '--type', 'docker', '--use');
  return client;
}

function clientWith(
  folder: string,
  variables: Readonly<Record<string, string>>,
  wrapper: readonly string[],
): EngineClient {
  const env = {
    ...{ PATH: process.env.PATH ?? '', HOME: folder },
    ...{ SBX_STATE_DIR: `${folder}/state`, SBX_CONFIG_DIR: `${folder}/config` },
    ...variables,
  };
  const words = (args: readonly string[]) => {
    const [program = '', ...rest] = [...wrapper, process.execPath, bin, ...args];
    return [program, rest] as const;
  };
  const run = (...args: readonly string[]): Ended => {
    const options = { env, encoding: 'utf8', input: '', timeout: LIMIT_MS, killSignal: 'SIGKILL' } as const;
    const { status, stdout, stderr } = spawnSync(...words(args), options);
    return { code: status, stdout, stderr };
  };
  return {
    env,
    run,
    must(...args) {
      const { code, stdout, stderr } = run(...args);
      if (code !== 0) throw new Error(`sbx ${args.join(' ')} ended with ${code}: ${stderr}`);
      return stdout;
    },
    start: (...args) => startedOf(spawn(...words(args), { env, timeout: LIMIT_MS, killSignal: 'SIGKILL' })),
    open: (...args) => openTerminal([process.execPath, bin, ...args], { env }),
    at: (other) => clientWith(folder, { ...variables, DOCKER_HOST: other }, wrapper),
    with: (more) => clientWith(folder, { ...variables, ...more }, wrapper),
    through: (...other) => clientWith(folder, variables, other),
  };
}

function startedOf(child: ReturnType<typeof spawn>): Started {
  const text = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      text[name] = (text[name] + chunk).slice(0, 1e6);
    });
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, ...text }));
  return {
    pid: child.pid ?? 0,
    ended,
    kill: () => void child.kill('SIGKILL'),
    prints: (wanted) =>
      new Promise((resolve, reject) => {
        const look = () => text.stdout.includes(wanted) && resolve();
        child.stdout?.on('data', look);
        look();
        void ended.then(({ code, stderr }) => reject(new Error(`ended with ${code}: ${stderr}`)));
      }),
  };
}
