/** `sbx create` with nothing given, on a terminal: asks what matters, shows the command line that it amounts to, and lets it be changed. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Backend, Call, CreateOption } from '../backend/contract.ts';
import type { Manifest } from '../backend/manifest.ts';
import { checkName } from '../backend/spec.ts';
import { problemOf, SbxError } from '../errors.ts';
import { describeBackend } from '../ops/ask-for-backend.ts';
import { askForSnapshot } from '../ops/ask-for-snapshot.ts';
import { listSnapshots } from '../ops/snapshot.ts';
import { quoteArgv } from '../util/shell-quote.ts';
import { splitWords } from '../util/shell-split.ts';
import type { Context } from './context.ts';
import type { Prompter } from './prompts.ts';

/** Throws SbxError `usage` for words that `sbx create` would not take. */
type CheckWords = (words: readonly string[]) => Promise<unknown>;

/** Asks, and shows what it comes to. @returns the words behind `sbx create`. @throws SbxError `failed` when it is cancelled */
export async function askForCreate(context: Context, check: CheckWords): Promise<readonly string[]> {
  const prompter = await context.prompter();
  const asking: Asking = { context, prompter };
  const backend = await askBackend(asking);
  const backends = await context.backends();
  const name = backend ?? backends.default();
  const manifest = (await backends.get(name)).manifest;
  const words = [
    ...(backend === undefined ? [] : ['--backend', backend]),
    ...(await askSource(asking, name, manifest)),
    ...(await askSize(asking, manifest)),
    ...(await askNetwork(asking, manifest)),
  ];
  const named = await askName(asking, name, manifest);
  const all = named === '' ? words : [named, ...words];
  // With no word at all it would ask again.
  return await agree(prompter, all.length === 0 ? ['--yes'] : all, check);
}

interface Asking {
  readonly context: Context;
  readonly prompter: Prompter;
}

/** Whether the backend honours every one of these options of create. */
function honours({ createOptions }: Manifest, ...options: readonly CreateOption[]): boolean {
  return options.every(
    (option) =>
      createOptions.includes(option) || (option.startsWith('limits.') && createOptions.includes('limits')),
  );
}

/** Undefined: the default one. */
async function askBackend({ context, prompter }: Asking): Promise<string | undefined> {
  const backends = await context.backends();
  const preset = backends.default();
  const names = [preset, ...backends.names().filter((name) => name !== preset)];
  if (names.length === 1) return undefined;
  const picked = await prompter.select({
    message: 'Which backend?',
    flag: '--backend',
    choices: names.map((name) => ({ name, value: name, description: describeBackend(backends, name) })),
  });
  return picked === preset ? undefined : picked;
}

async function askSource(
  { context, prompter }: Asking,
  backend: string,
  manifest: Manifest,
): Promise<string[]> {
  const call = { signal: context.signal };
  const hasSnapshots = async () =>
    (await listSnapshots(await context.backends(), backend, call)).snapshots.length > 0;
  const { cwd } = context.paths;
  const choices = [
    { value: 'plain', name: manifest.plainSource ?? DEFAULT },
    ...(honours(manifest, 'image') ? [{ value: 'image', name: 'an image or template' }] : []),
    ...(honours(manifest, 'snapshot') && (await hasSnapshots())
      ? [{ value: 'snapshot', name: 'a snapshot' }]
      : []),
    ...(honours(manifest, 'rootfs')
      ? [{ value: 'rootfs', name: 'a directory or tar archive on this machine' }]
      : []),
  ];
  if (choices.length === 1) return [];
  const source = await prompter.select({ message: 'Made from what?', flag: '--image', choices });
  switch (source) {
    case 'image':
      return ['--image', await prompter.input({ message: 'Image:', flag: '--image', check: emptiness })];
    case 'rootfs': {
      // Nobody else reads the answer: no shell is between.
      const pathOf = (text: string) => text.replace(/^~(?=\/|$)/, context.env.HOME || '~');
      const check = (text: string) =>
        emptiness(text) ??
        (existsSync(resolve(cwd, pathOf(text))) ? undefined : 'there is nothing of that name');
      const text = await prompter.input({ message: 'Directory or archive:', flag: '--rootfs', check });
      return ['--rootfs', pathOf(text)];
    }
    case 'snapshot': {
      const { id, name } = await askForSnapshot(context, { command: 'create --from', backend }, call);
      return ['--from', name ?? id];
    }
    default:
      return [];
  }
}

const DEFAULT = "the backend's default";

const SIZES = [
  { value: '1vcpu-1gb', name: '1 CPU, 1 GB' },
  { value: '2vcpu-4gb', name: '2 CPUs, 4 GB' },
  { value: '4vcpu-8gb', name: '4 CPUs, 8 GB' },
] as const;

async function askSize({ prompter }: Asking, manifest: Manifest): Promise<string[]> {
  if (!honours(manifest, 'limits.cpus', 'limits.memory')) return [];
  const size = await prompter.select<string | undefined>({
    message: 'How large may it get?',
    flag: '--size',
    choices: [{ value: undefined, name: DEFAULT }, ...SIZES],
  });
  return size === undefined ? [] : ['--size', size];
}

async function askNetwork({ prompter }: Asking, manifest: Manifest): Promise<string[]> {
  if (!honours(manifest, 'network')) return [];
  const network = await prompter.select<string | undefined>({
    message: 'Which network?',
    flag: '--network',
    choices: [
      { value: undefined, name: DEFAULT },
      { value: 'private', name: 'one of its own', description: 'out to the internet, in through forward' },
      { value: 'host', name: 'that of the host', description: 'shared: it sees what listens there' },
      { value: 'none', name: 'none' },
    ],
  });
  return network === undefined ? [] : ['--network', network];
}

async function askName({ context, prompter }: Asking, backend: string, manifest: Manifest): Promise<string> {
  if (!honours(manifest, 'name')) return '';
  const call = { signal: context.signal };
  const check = async (text: string) => {
    if (text === '') return undefined;
    const problem = await problemOf(() => checkName(text, "the sandbox's name"));
    return problem ?? (await taken(await (await context.backends()).get(backend), text, call));
  };
  return await prompter.input({ message: 'Name (empty: one is made up):', flag: 'NAME', check });
}

async function taken(backend: Backend, name: string, call: Call): Promise<string | undefined> {
  try {
    await backend.get(name, call);
    return `there is a sandbox '${name}' already`;
  } catch (error) {
    if (error instanceof SbxError && error.code === 'not_found') return undefined;
    throw error;
  }
}

function emptiness(text: string): string | undefined {
  return text.trim() === '' ? 'it is empty' : undefined;
}

/** Shows the command line until it is agreed to. @throws SbxError `failed` when it is not */
async function agree(
  prompter: Prompter,
  words: readonly string[],
  check: CheckWords,
): Promise<readonly string[]> {
  const line = quoteArgv(['sbx', 'create', ...words]);
  const answer = await prompter.select({
    message: `The command is: ${line}`,
    flag: '--yes',
    choices: [
      { value: 'run', name: 'run it' },
      { value: 'change', name: 'change it' },
      { value: 'cancel', name: 'cancel' },
    ],
  });
  if (answer === 'run') return words;
  if (answer === 'cancel') throw new SbxError('failed', 'nothing was created');
  const changed = await prompter.input({
    message: '$',
    flag: '--yes',
    prefill: line,
    check: (text) => problemOf(() => check(wordsOf(text))),
  });
  return agree(prompter, wordsOf(changed), check);
}

function wordsOf(line: string): string[] {
  const [program, verb, ...words] = splitWords(line);
  if (program === 'sbx' && verb === 'create') return words;
  throw new SbxError('usage', 'it has to begin with: sbx create');
}
