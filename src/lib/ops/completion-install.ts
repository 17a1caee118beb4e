/** Puts the script of a shell where that shell looks for it, and takes it away again. */
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { hasErrno, SbxError } from '../errors.ts';
import { randomHex } from '../util/random-id.ts';
import { quoteWord } from '../util/shell-quote.ts';

/** Where a script goes. */
export interface CompletionPlace {
  readonly shell: string;
  readonly path: string;
  /** A file of the user's that needs a line, because this shell looks nowhere by itself. */
  readonly profile?: { readonly path: string; readonly line: string };
  /** What the shell must have besides: looked for in any of these files. */
  readonly needs?: { readonly anyOf: readonly string[]; readonly text: string; readonly otherwise: string };
  /** The shell in which it works then, where not every one of this kind has what it takes. */
  readonly starts?: string;
}

/** What was done, or would be. */
export interface CompletionChange {
  readonly shell: string;
  readonly path: string;
  readonly done: 'installed' | 'updated' | 'unchanged' | 'removed' | 'absent';
  /** The file of the user's that was changed too. */
  readonly profile?: string | undefined;
  /** What is left to do by hand. */
  readonly left?: string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

/** Where bash-completion lies, which loads scripts of users by their name. */
const LOADERS = [
  '/usr/share/bash-completion/bash_completion',
  '/usr/local/share/bash-completion/bash_completion',
  '/usr/local/etc/profile.d/bash_completion.sh',
  '/opt/homebrew/etc/profile.d/bash_completion.sh',
];

/** The place for a shell. @throws SbxError `failed` without a home folder. */
export function completionPlace(shell: 'bash' | 'zsh' | 'fish' | 'powershell', env: Env): CompletionPlace {
  const { HOME: home, XDG_DATA_HOME, XDG_CONFIG_HOME, BASH_COMPLETION_USER_DIR, ZDOTDIR } = env;
  if (!home?.startsWith('/')) throw new SbxError('failed', 'there is no home folder: HOME is not set');
  const data = XDG_DATA_HOME?.startsWith('/') ? XDG_DATA_HOME : join(home, '.local/share');
  const config = XDG_CONFIG_HOME?.startsWith('/') ? XDG_CONFIG_HOME : join(home, '.config');
  switch (shell) {
    case 'bash': {
      const path = join(BASH_COMPLETION_USER_DIR || join(data, 'bash-completion'), 'completions/sbx');
      const otherwise = `bash-completion is not installed, which would load it; instead add to ~/.bashrc: source ${quoteWord(path)}`;
      const starts = 'bash whose ~/.bashrc loads bash-completion';
      return { shell, path, needs: { anyOf: LOADERS, text: '', otherwise }, starts };
    }
    case 'zsh': {
      const folder = join(data, 'zsh/site-functions');
      const otherwise = `add to ~/.zshrc, before compinit: fpath=(${quoteWord(folder)} $fpath)`;
      const rc = join(ZDOTDIR || home, '.zshrc');
      return { shell, path: join(folder, '_sbx'), needs: { anyOf: [rc], text: folder, otherwise } };
    }
    case 'fish':
      return { shell, path: join(config, 'fish/completions/sbx.fish') };
    case 'powershell': {
      const path = join(data, 'sbx/completions/sbx.ps1');
      const line = `. '${path.replaceAll("'", "''")}' # sbx completion`;
      return { shell, path, profile: { path: join(config, 'powershell/profile.ps1'), line } };
    }
  }
}

/** Brings the file to what it should be; what is there already stays. @throws SbxError `conflict` when it is not ours. */
export async function installCompletion(
  place: CompletionPlace,
  script: string,
  { dryRun }: { readonly dryRun: boolean },
): Promise<CompletionChange> {
  const { shell, path, profile, needs } = place;
  const present = await textOf(path);
  refuseForeign(path, present);
  const lines = profile === undefined ? undefined : ((await textOf(profile.path)) ?? '');
  const changesProfile = profile !== undefined && !linesOf(lines).includes(profile.line);
  if (!dryRun) {
    if (present !== script) await replace(path, script);
    if (changesProfile) await replace(profile.path, `${endedLine(lines ?? '')}${profile.line}\n`);
  }
  const isThere = needs === undefined || (await someHolds(needs.anyOf, needs.text));
  return {
    shell,
    path,
    done: present === undefined ? 'installed' : present === script ? 'unchanged' : 'updated',
    profile: changesProfile ? profile.path : undefined,
    left: isThere ? undefined : needs?.otherwise,
  };
}

/** Removes what {@link installCompletion} made. @throws SbxError `conflict` when the file is not ours. */
export async function uninstallCompletion(
  { shell, path, profile, needs }: CompletionPlace,
  { dryRun }: { readonly dryRun: boolean },
): Promise<CompletionChange> {
  const present = await textOf(path);
  refuseForeign(path, present);
  const lines = profile === undefined ? undefined : await textOf(profile.path);
  const changesProfile = profile !== undefined && linesOf(lines).includes(profile.line);
  if (!dryRun) {
    await rm(path, { force: true });
    if (changesProfile) {
      const kept = linesOf(lines).filter((line) => line !== profile.line);
      await replace(profile.path, kept.join('\n'));
    }
  }
  const isNamed = shell === 'zsh' && needs !== undefined && (await someHolds(needs.anyOf, needs.text));
  return {
    shell,
    path,
    done: present === undefined ? 'absent' : 'removed',
    profile: changesProfile ? profile.path : undefined,
    left: isNamed ? `its folder still stands in ${needs.anyOf[0]}; that does no harm` : undefined,
  };
}

/** Every script of ours says so in its first two lines. */
function refuseForeign(path: string, text: string | undefined): void {
  if (text === undefined || /^(.*\n)?# \w+ completion for sbx\b/.test(text)) return;
  throw new SbxError('conflict', `${path} is there and is not from sbx`, {
    hint: `look at it, then move it away: mv ${quoteWord(path)} ${quoteWord(`${path}.old`)}`,
  });
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    if (hasErrno(cause, 'ENOENT', 'ENOTDIR')) return undefined;
    throw new SbxError('failed', `cannot read ${path} (${(cause as Error).message})`, { cause });
  }
}

async function someHolds(paths: readonly string[], text: string): Promise<boolean> {
  const texts = await Promise.all(paths.map(textOf));
  return texts.some((each) => each?.includes(text));
}

function linesOf(text: string | undefined): string[] {
  return (text ?? '').split('\n');
}

function endedLine(text: string): string {
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}

/** A shell that starts meanwhile sees the old text or the new one. A link stays a link. */
async function replace(path: string, text: string): Promise<void> {
  try {
    await mkdir(dirname(path), { recursive: true });
    const target = await realpath(path).catch((cause: unknown) => {
      if (hasErrno(cause, 'ENOENT')) return path;
      throw cause;
    });
    const temporary = `${target}.${randomHex(4)}`;
    await writeFile(temporary, text, { mode: 0o644 });
    await rename(temporary, target);
  } catch (cause) {
    throw new SbxError('failed', `cannot write ${path} (${(cause as Error).message})`, { cause });
  }
}
