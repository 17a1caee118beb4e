/** What the escape suite works with: local sandboxes with a hostile inside, and things of this machine that must stay out of its reach. */
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { Backend, CreateSpec, Sandbox } from '../../src/lib/backend/contract.ts';
import { openLocalBackend } from '../../src/lib/backends/local/index.ts';
import { subordinateRanges } from '../../src/lib/backends/local/uid-map.ts';
import { call, plain, type RunOptions, sh } from '../conformance/harness.ts';
import { isRoot, requireOrSkip } from '../support/require.ts';

/** Sandboxes of one file of tests, removed at its end. */
export interface Cage {
  readonly backend: Backend;
  /** The state folder. */
  readonly state: string;
  /** A folder of this machine outside of every sandbox, 0700, which holds `secret`. */
  readonly outside: string;
  /** What stands in `outside/secret`. */
  readonly secret: string;
  /** A new sandbox; without a network of this machine unless told so. */
  make(spec?: Partial<CreateSpec>): Promise<Sandbox>;
  /** One for tests that leave it as it was. */
  shared(): Promise<Sandbox>;
}

/** Opens a cage in a folder below `parent`. */
export function openCage(parent = tmpdir()): Cage {
  const folder = mkdtempSync(join(parent, 'sbx-escape-'));
  const state = join(folder, 'state');
  const outside = join(folder, 'outside');
  const secret = `secret of ${folder}`;
  mkdirSync(outside, { mode: 0o700 });
  writeFileSync(join(outside, 'secret'), secret, { mode: 0o600 });
  const backend = openLocalBackend({ name: 'local', notice: () => undefined, paths: { state } });
  const made: Sandbox[] = [];
  let shared: Promise<Sandbox> | undefined;
  const make = async (spec: Partial<CreateSpec> = {}) => {
    const sandbox = await backend.create({ ...plain, network: 'none', ...spec }, call);
    made.push(sandbox);
    return sandbox;
  };
  afterAll(async () => {
    for (const { id } of made) await backend.destroy(id, { force: true }, call);
    chmodSync(outside, 0o700);
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    backend,
    state,
    outside,
    secret,
    make,
    shared() {
      shared ??= make();
      return shared;
    },
  };
}

const folder = mkdtempSync(join(tmpdir(), 'sbx-escape-check-'));
const broken = (
  await openLocalBackend({ name: 'local', notice: () => undefined, paths: { state: folder } }).check(call)
).find(({ status }) => status === 'failed');
rmSync(folder, { recursive: true });

/** A test that needs local sandboxes. */
export const caged = requireOrSkip(broken === undefined, `local sandboxes (${broken?.detail})`);

/** The users inside that try; without subordinate ids there is nobody but root. */
export const HOSTILES: readonly string[] =
  isRoot || subordinateRanges() !== undefined ? ['root', 'nobody'] : ['root'];

/** Whether shell text ends with 0; with what it said, for the message of a failure. */
export async function succeeds(
  sandbox: Sandbox,
  text: string,
  options: RunOptions & { readonly args?: readonly string[] } = {},
): Promise<{ ok: boolean; text: string; said: string }> {
  const { exit, stdout, stderr } = await sh(sandbox, text, { workdir: '/', ...options });
  return { ok: 'code' in exit && exit.code === 0, text, said: `${stdout}${stderr}` };
}

const NUMBERS = {
  x64: { reboot: 169, init_module: 175, kexec_load: 246, acct: 163, open_by_handle_at: 304, mount: 165 },
  arm64: { reboot: 142, init_module: 105, kexec_load: 104, acct: 89, open_by_handle_at: 265, mount: 40 },
};

/** The number of a system call on this machine. */
export function syscallNumber(name: keyof (typeof NUMBERS)['x64']): number {
  return NUMBERS[process.arch as keyof typeof NUMBERS][name];
}

/** A test that makes system calls by number. */
export const calling = requireOrSkip(
  broken === undefined && process.arch in NUMBERS,
  `local sandboxes (${broken?.detail}) on x64 or arm64`,
);
