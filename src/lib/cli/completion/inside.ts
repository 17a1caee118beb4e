/** What is in a sandbox: processes, ports, sessions, variables and files. */
import type { Sandbox } from '../../backend/contract.ts';
import { dollars } from '../../ui/egress-view.ts';
import type { Asked, Completer, Found, World } from './asked.ts';
import type { Candidate } from './candidates.ts';
import { openSandbox, sandboxNames, sandboxOf } from './sandboxes.ts';

const NOTHING: Found = { candidates: [] };

/** A completer that looks into the sandbox that the command line is about. */
function inside(look: (sandbox: Sandbox, asked: Asked, world: World) => Promise<Candidate[]>): Completer {
  return async (asked, world) => {
    const sandbox = await sandboxOf(asked, world);
    return sandbox === undefined ? NOTHING : { candidates: await look(sandbox, asked, world) };
  };
}

/** Processes by name, else by id; `process:running` leaves out those that have ended. */
export const processes = inside(async ({ can }, { detail }, { call }) => {
  const all = await Array.fromAsync(can.processes?.list(call) ?? []);
  return all
    .filter(({ state }) => detail === undefined || state === detail)
    .map(({ id, name, argv, state }) => ({
      value: name ?? id,
      description: `${state}: ${argv.join(' ')}`,
    }));
});

/** Ports on which something listens, also behind what stands before them, as in `8080:3000`. */
export const ports: Completer = (asked, world) =>
  asked.isOneOfMany && !/^\d/.test(asked.word) ? NOTHING : listenedPorts(asked, world);

const listenedPorts = inside(async ({ can }, { word }, { call }) => {
  const before = word.slice(0, word.lastIndexOf(':') + 1);
  const found = new Map((await can.ports?.list(call))?.map(({ port, process }) => [port, process]));
  return [...found].map(([port, process]) => ({ value: `${before}${port}`, description: process }));
});

/** Sessions by name; `session:running` leaves out those that have ended. */
export const sessions = inside(async ({ can }, { detail }, { call }) => {
  const all = (await can.sessions?.list(call)) ?? [];
  return all
    .filter(({ state }) => detail === undefined || state === detail)
    .map(({ name, state, command }) => ({ value: name, description: command ?? state }));
});

/** Names of the variables of its environment. Their values may be secrets, and are not shown. */
export const variables = inside(async ({ can }, _, { call }) =>
  Object.keys((await can.env?.get(call)) ?? {}).map((value) => ({ value })),
);

/** Its tokens for model providers. */
export const egressTokens = inside(async ({ can }, _, { call }) =>
  ((await can.egress?.list(call)) ?? []).map(({ token, spendUsd }) => ({
    value: token,
    description: `${dollars(spendUsd)} spent`,
  })),
);

/** Paths in the sandbox; `path:folder` leaves out files. */
export const paths: Completer = (asked, world) =>
  // A first word may also be the sandbox; a path is told by how it begins.
  asked.isOneOfMany && !/^\.{0,2}\//.test(asked.word) ? NOTHING : pathsOfWord(asked, world);

const pathsOfWord = inside(async (sandbox, { word, detail }, { call }) =>
  pathsBelow(sandbox, word, '', detail === 'folder', call),
);

async function pathsBelow(
  { can }: Sandbox,
  typed: string,
  before: string,
  onlyFolders: boolean,
  call: World['call'],
): Promise<Candidate[]> {
  const slash = typed.lastIndexOf('/') + 1;
  const folder = typed.slice(0, slash);
  const wantsHidden = typed[slash] === '.';
  const found: Candidate[] = [];
  for await (const { name, type } of can.files?.list(folder || '.', call) ?? []) {
    // A link may lead to a folder; nobody looks behind it for this.
    const isFolder = type === 'directory';
    // It is not UTF-8: what would be typed is not its name.
    if (name.includes('\ufffd')) continue;
    if ((name.startsWith('.') && !wantsHidden) || (onlyFolders && !isFolder && type !== 'symlink')) continue;
    // Alone it would be taken for a flag.
    const shown = folder === '' && before === '' && name.startsWith('-') ? `./${name}` : name;
    found.push({
      value: `${before}${folder}${shown}${isFolder ? '/' : ''}`,
      goesOn: isFolder || type === 'symlink',
    });
  }
  return found;
}

/** What `cp` takes: `SANDBOX:` and paths behind it, or paths of this machine. */
export const copyEnds: Completer = async (asked, world) => {
  const { word } = asked;
  const colon = word.indexOf(':');
  if (/^[./~]/.test(word)) return { candidates: [], local: 'files' };
  if (colon < 0) {
    const names = await sandboxNames(asked, undefined, world);
    const candidates = names.map((each) =>
      each.goesOn ? each : { ...each, value: `${each.value}:`, goesOn: true },
    );
    return { candidates, local: 'files' };
  }
  const sandbox = await openSandbox(word.slice(0, colon) || world.env.SBX_SANDBOX || undefined, world);
  if (sandbox === undefined) return NOTHING;
  const before = word.slice(0, colon + 1);
  return { candidates: await pathsBelow(sandbox, word.slice(colon + 1), before, false, world.call) };
};
