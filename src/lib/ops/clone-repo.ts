/** Gets the repository of `--repo` into a sandbox's workdir: fetched from inside, or packed here and sent in. */
import { Readable } from 'node:stream';
import type { Call, Exit, Sandbox } from '../backend/contract.ts';
import { SbxError } from '../errors.ts';
import script from '../guest/clone.sh';
import { execToEnd } from './exec-to-end.ts';
import { type GitHost, type LocatedCommit, packRepo } from './host-git.ts';
import type { RemoteRepo } from './repo.ts';

/** A repository that is known to be there, as far as that can be known from outside the sandbox. */
export type PreparedRepo =
  | RemoteRepo
  | { readonly kind: 'local'; readonly url: string; readonly located: LocatedCommit };

/** Clones into the workdir, which must be empty; git's messages go to `output`. @throws SbxError `failed` */
export async function cloneRepo(
  sandbox: Sandbox,
  repo: PreparedRepo,
  host: GitHost,
  output: (data: Uint8Array) => void,
  call: Call,
): Promise<void> {
  const run = (args: readonly string[], stdin: Readable) =>
    execToEnd(sandbox, { argv: ['/bin/sh', '-c', script, 'sbx-clone', ...args] }, { stdin, output }, call);
  if (repo.kind === 'remote') {
    const credentials = Readable.from([`${repo.username}\n${repo.password}\n`], { objectMode: false });
    check(await run(['remote', repo.url, repo.ref ?? ''], credentials), repo.url);
    return;
  }
  const { branch = '', commit, shallow } = repo.located;
  const bundle = packRepo(repo.located, host);
  const packed = bundle.done();
  // Looked at below, unless the other side has failed first and this is only what followed.
  packed.catch(() => undefined);
  try {
    check(await run(['bundle', repo.url, branch, commit, shallow], bundle.stdout), repo.url);
  } finally {
    bundle.stop();
  }
  await packed;
}

function check(exit: Exit, url: string): void {
  if ('code' in exit && exit.code === 0) return;
  throw new SbxError('failed', `cloning '${url}' ${exitText(exit)}`);
}

/** How a command ended, as the end of a sentence. */
export function exitText(exit: Exit): string {
  return 'code' in exit ? `ended with exit code ${exit.code}` : `was ended by signal ${exit.signal}`;
}
