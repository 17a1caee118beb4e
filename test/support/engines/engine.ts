/** Real engines for tests: `docker.sh` and `podman.sh` beside this file, which end when their stdin does. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { lacking } from '../programs.ts';
import { isRoot } from '../require.ts';

/** Where images are kept from one run to the next. */
const CACHE = process.env.SBX_TEST_CACHE ?? '/var/tmp/sbx-test-images';

/** An engine of the tests' own, and its daemon to play with. */
export interface Engine extends AsyncDisposable {
  /** Its address, such as `unix:///tmp/…`. */
  readonly host: string;
  /** Where its socket is. */
  readonly socket: string;
  /** The TCP port that it listens on with TLS. */
  tlsPort(): number;
  /** Ends the daemon as an administrator would; its containers end as well. */
  stop(): Promise<void>;
  /** Kills the daemon with -9; its containers run on. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** Runs the docker CLI against it and returns what it prints. */
  docker(...args: readonly string[]): string;
}

export interface EngineOptions {
  readonly kind?: 'docker' | 'podman';
  /** Its folder, which goes with it. */
  readonly work: string;
  /** Default: all that images.sh knows. */
  readonly images?: readonly string[];
  /** How much it can keep, such as `48m`. */
  readonly size?: string;
  /** Where the certificates are that it listens with on a TCP port, too. */
  readonly tls?: string;
}

/** What this machine lacks for an engine of its own; undefined when it has everything. */
export function engineNeeds(kind: 'docker' | 'podman' = 'docker'): string | undefined {
  if (!isRoot) return 'root';
  const daemon = kind === 'docker' ? 'dockerd' : 'podman';
  return lacking(daemon, 'docker', 'runc', 'debootstrap', 'curl', 'ip', 'iptables');
}

/** Starts one and waits until it has its images. Making these takes a minute, once. */
export async function startEngine({
  kind = 'docker',
  work,
  images,
  size,
  tls,
}: EngineOptions): Promise<Engine> {
  const script = fileURLToPath(new URL(`${kind}.sh`, import.meta.url));
  const options = Object.entries({ cache: CACHE, images: images?.join(','), size, tls }).flatMap(
    ([name, value]) => (value === undefined ? [] : [`--${name}`, value]),
  );
  const child = spawn(script, [...options, work], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const expectLine = async (line: string) => {
    const { value } = await lines.next();
    if (value !== line) throw new Error(`${kind}.sh ended instead of saying '${line}'`);
  };
  const order = async (what: string) => {
    child.stdin.write(`${what}\n`);
    await expectLine(`done ${what}`);
  };
  await expectLine('ready');
  const socket = `${work}/${kind}/sock`;
  const host = `unix://${socket}`;
  return {
    host,
    socket,
    tlsPort() {
      const [, port] =
        /API listen on 127\.0\.0\.1:(\d+)/.exec(readFileSync(`${work}/${kind}/log`, 'utf8')) ?? [];
      return Number(port);
    },
    stop: () => order('stop'),
    kill: () => order('kill'),
    start: () => order('start'),
    docker: dockerAt(host),
    async [Symbol.asyncDispose]() {
      await end(child);
      rmSync(work, { recursive: true, force: true });
    },
  };
}

/** The docker CLI at that address: what it prints. */
export function dockerAt(host: string): Engine['docker'] {
  return (...args) =>
    execFileSync('docker', ['--host', host, ...args], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'pipe'],
    }).trim();
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  const gone = once(child, 'exit');
  child.stdin?.end();
  await gone;
}
