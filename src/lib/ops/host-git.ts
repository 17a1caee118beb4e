/** Git on this machine, for repositories that the sandbox cannot reach: finds a commit and packs all of it into a stream. */
import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { PassThrough, type Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Call } from '../backend/contract.ts';
import { hasErrno, SbxError } from '../errors.ts';
import type { LocalRepo } from './repo.ts';

/** What git on this machine runs with. */
export interface GitHost {
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A commit of a repository on this machine, ready to be packed. */
export interface LocatedCommit {
  readonly path: string;
  readonly commit: string;
  /** The branch to be on; undefined: none. */
  readonly branch: string | undefined;
  /** Commits whose parents the repository does not have, one a line; empty in a whole one. */
  readonly shallow: string;
  /** Whether `HEAD` is a commit, and so can be packed by that name. */
  readonly hasHead: boolean;
}

/** Finds what `source` means. @throws SbxError `usage` for what is no repository or has no such commit */
export async function locateCommit(source: LocalRepo, host: GitHost, call: Call): Promise<LocatedCommit> {
  const { path, ref } = source;
  const run = (...args: string[]) => git(path, args, host, call);
  const directory = await run('rev-parse', '--git-dir');
  if (directory.code !== 0) {
    throw new SbxError('usage', `--repo ${shown(source)} is no git repository: ${directory.stderr}`);
  }
  const head = await run('rev-parse', '-q', '--verify', 'HEAD^{commit}');
  const hasHead = head.code === 0;
  const shallow = await shallowCommits(path, run);
  if (ref === undefined) {
    if (!hasHead) throw new SbxError('usage', `--repo ${shown(source)} has no commit yet`);
    const branch = await run('symbolic-ref', '-q', '--short', 'HEAD');
    return {
      path,
      commit: head.stdout,
      branch: branch.code === 0 ? branch.stdout : undefined,
      shallow,
      hasHead,
    };
  }
  for (const name of [`refs/heads/${ref}`, `refs/remotes/origin/${ref}`]) {
    const found = await run('rev-parse', '-q', '--verify', `${name}^{commit}`);
    if (found.code === 0) return { path, commit: found.stdout, branch: ref, shallow, hasHead };
  }
  const found = await run('rev-parse', '-q', '--verify', `${ref}^{commit}`);
  if (found.code !== 0)
    throw new SbxError('usage', `--repo ${shown(source)} has no branch, tag or commit '${ref}'`);
  const commit = found.stdout;
  const holders = await run(
    'for-each-ref',
    '--count=1',
    '--contains',
    commit,
    'refs/heads',
    'refs/tags',
    'refs/remotes',
  );
  const onHead = hasHead && (await run('merge-base', '--is-ancestor', commit, 'HEAD')).code === 0;
  if (holders.stdout === '' && !onHead) {
    throw new SbxError('usage', `--repo ${shown(source)}: the commit '${ref}' is on no branch and no tag`, {
      hint: `put it on one: git -C ${path} branch NAME ${ref}`,
    });
  }
  return { path, commit, branch: undefined, shallow, hasHead };
}

/** A bundle of all branches, tags and remote branches, as it is made. */
export interface BundleStream {
  readonly stdout: Readable;
  /** Rejects with `failed` when git did not end well. */
  done(): Promise<void>;
  stop(): void;
}

/** Starts to pack the repository. */
export function packRepo({ path, hasHead }: LocatedCommit, host: GitHost): BundleStream {
  // Stashes are nobody else's business: no --all.
  const args = ['bundle', 'create', '-', ...(hasHead ? ['HEAD'] : []), '--branches', '--tags', '--remotes'];
  const child = start(path, args, host);
  const end = finish(child, false);
  return {
    // Read from the start: what nobody has begun to read when the child ends is thrown away by node.
    stdout: child.stdout.pipe(new PassThrough()),
    async done() {
      const { code, stderr } = await end;
      if (code !== 0) throw new SbxError('failed', `git could not pack ${path}: ${stderr}`);
    },
    stop: () => void child.kill(),
  };
}

interface GitResult {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

type GitChild = ChildProcessByStdio<null, Readable, Readable>;

/** Variables that would make git look at another repository than the one it is told to. */
const REPOSITORY_VARIABLES =
  /^GIT_(DIR|WORK_TREE|INDEX_FILE|OBJECT_DIRECTORY|ALTERNATE_OBJECT_DIRECTORIES|COMMON_DIR|NAMESPACE|PREFIX|CEILING_DIRECTORIES)$/;

async function git(path: string, args: readonly string[], host: GitHost, call: Call): Promise<GitResult> {
  const child = start(path, args, host, call.signal);
  return finish(child, true);
}

function start(path: string, args: readonly string[], { env }: GitHost, signal?: AbortSignal): GitChild {
  const own = Object.fromEntries(Object.entries(env).filter(([name]) => !REPOSITORY_VARIABLES.test(name)));
  return spawn('git', ['-C', path, ...args], {
    env: { ...own, LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(signal === undefined ? {} : { signal }),
  });
}

async function finish(child: GitChild, collect: boolean): Promise<GitResult> {
  try {
    const [stdout, stderr, [code]] = await Promise.all([
      collect ? text(child.stdout) : '',
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    return { code, stdout: stdout.trim(), stderr: stderr.trim() };
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT')) {
      throw new SbxError(
        'failed',
        'git is not installed on this machine, and --repo with a local path needs it',
        { cause },
      );
    }
    throw cause;
  }
}

async function shallowCommits(path: string, run: (...args: string[]) => Promise<GitResult>): Promise<string> {
  const where = await run('rev-parse', '--git-path', 'shallow');
  if (where.code !== 0) return '';
  try {
    return (await readFile(resolve(path, where.stdout), 'utf8')).trim();
  } catch (error) {
    if (hasErrno(error, 'ENOENT')) return '';
    throw error;
  }
}

function shown({ url }: LocalRepo): string {
  return `'${url}'`;
}
