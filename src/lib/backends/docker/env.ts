/**
 * The sandbox's environment. A container's own is fixed when it is made, so changes to it are kept in a file inside,
 * which commands read as they start (guest/exec-environment.sh); whoever is root inside may change it too.
 */
import { Readable } from 'node:stream';
import type { Call, EnvStore } from '../../backend/contract.ts';
import { unhurried } from '../../backend/unhurried.ts';
import { SbxError } from '../../errors.ts';
import { ENVIRONMENT_FILE } from '../../guest/exec.ts';
import { isEnvName } from '../../util/env-file.ts';
import { quoteWord } from '../../util/shell-quote.ts';
import { readArchive, writeArchive } from './archive-calls.ts';
import type { Box } from './box.ts';
import { inspectBox } from './snapshots.ts';

/** The first line of the file holds the changes as JSON, for us; the rest is for the shell. */
const HEAD = '# ';
const SIZE_LIMIT = 4 * 1024 * 1024;

type Changes = Readonly<Record<string, string | null>>;

/** The capability `env`. */
export function environmentOf(box: Box): EnvStore {
  return {
    async get(call) {
      return withChanges(await given(box, call), await readChanges(box, call));
    },
    async update(changes, call) {
      const former = await readChanges(box, call);
      try {
        await writeChanges(box, { ...former, ...changes }, call);
      } catch (error) {
        // The engine takes the old file away before it writes the new one, and leaves half of it on a full disk.
        await writeChanges(box, former, unhurried).catch((again: unknown) => {
          if (!(again instanceof SbxError)) throw again;
        });
        throw error;
      }
    },
  };
}

/** What the sandbox was made with. */
async function given(box: Box, call: Call): Promise<Record<string, string>> {
  const { Config } = await inspectBox(box, call);
  const names = new Set(box.facts?.env);
  const env: Record<string, string> = {};
  for (const pair of Config.Env ?? []) {
    const at = pair.indexOf('=');
    if (at > 0 && names.has(pair.slice(0, at))) env[pair.slice(0, at)] = pair.slice(at + 1);
  }
  return env;
}

function withChanges(env: Record<string, string>, changes: Changes): Record<string, string> {
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) delete env[name];
    else env[name] = value;
  }
  return env;
}

async function readChanges(box: Box, call: Call): Promise<Changes> {
  const { firstFile } = await import('./archive-file.ts');
  const tar = await readArchive(box, ENVIRONMENT_FILE, call).catch((error: unknown) => {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  });
  if (tar === undefined) return {};
  const content = (await firstFile(tar, SIZE_LIMIT)).toString('utf8');
  // All that a full disk left of the first change.
  if (content === '') return {};
  const [first = ''] = content.split('\n', 1);
  let value: unknown;
  try {
    value = JSON.parse(first.slice(HEAD.length));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  if (!first.startsWith(HEAD) || typeof value !== 'object' || value === null) {
    throw new SbxError('failed', `${ENVIRONMENT_FILE} in sandbox '${box.name}' is broken`, {
      backend: box.docker.name,
      hint: `remove it: sbx exec ${box.name} -- rm ${ENVIRONMENT_FILE}`,
    });
  }
  const pairs = Object.entries(value).filter(
    ([name, each]) => isEnvName(name) && (typeof each === 'string' || each === null),
  );
  return Object.fromEntries(pairs) as Changes;
}

async function writeChanges(box: Box, changes: Changes, call: Call): Promise<void> {
  const { fileTar } = await import('./archive-file.ts');
  const lines = Object.entries(changes).map(([name, value]) =>
    value === null ? `unset ${name}` : `export ${name}=${quoteWord(value)}`,
  );
  const content = Buffer.from([`${HEAD}${JSON.stringify(changes)}`, ...lines, ''].join('\n'));
  const tar = fileTar(ENVIRONMENT_FILE.slice(1), content, 0o644);
  await writeArchive(box, '/', Readable.from([tar], { objectMode: false }), 'keep', call);
}
