/**
 * Environment variables from files and from the command line. Reads no environment itself: the caller hands in a look-up.
 * Values may be secrets: no error holds one.
 */
import { SbxError } from '../errors.ts';

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const LIMIT = 128 * 1024;

/** Gives the value of a variable of the user's own environment. */
export type EnvLookup = (name: string) => string | undefined;

/** Whether `name` can be the name of an environment variable. */
export function isEnvName(name: string): boolean {
  return NAME.test(name);
}

/**
 * An env file as Docker reads it: one `KEY=VALUE` a line, taken to the end of the line with quotes, `$` and `#` as they
 * are; `KEY` alone (value `undefined`) stands for the variable of the user's environment; blank lines and lines that
 * start with `#` are skipped. The last one of a name wins. `usage` with the line's number for anything else.
 */
export function parseEnvFile(text: string): Record<string, string | undefined> {
  const found: Record<string, string | undefined> = Object.create(null) as Record<string, string | undefined>;
  const lines = text.replace(/^\uFEFF/, '').split('\n');
  for (const [index, raw] of lines.entries()) {
    const line = raw.replace(/\r$/, '').trimStart();
    if (line.trim() === '' || line.startsWith('#')) continue;
    const [name, value] = split(line, `line ${index + 1} of the env file`);
    found[name] = value;
  }
  return found;
}

/**
 * `KEY=VALUE` items of `--env`; `KEY` alone takes its value from `lookup`, and is left out when it has none there (as
 * Docker does). The last one of a name wins. `usage` for a bad name.
 */
export function parseEnvAssignments(list: readonly string[], lookup: EnvLookup): Record<string, string> {
  const entries = list.map((item, index) => split(item, `environment variable ${index + 1}`));
  return resolveEnv(entries, lookup);
}

/** The variables of an env file, with those given by name alone taken from `lookup`, or left out when they are not there. */
export function resolveEnvFile(text: string, lookup: EnvLookup): Record<string, string> {
  return resolveEnv(Object.entries(parseEnvFile(text)), lookup);
}

function resolveEnv(
  entries: Iterable<readonly [string, string | undefined]>,
  lookup: EnvLookup,
): Record<string, string> {
  const found = new Map<string, string>();
  for (const [name, given] of entries) {
    const value = given ?? lookup(name);
    if (value === undefined) found.delete(name);
    else found.set(name, value);
  }
  return Object.fromEntries(found);
}

function split(item: string, what: string): readonly [string, string | undefined] {
  const at = item.indexOf('=');
  const name = (at < 0 ? item : item.slice(0, at)).trimEnd();
  const value = at < 0 ? undefined : item.slice(at + 1);
  if (!isEnvName(name)) {
    // The text may be a value that lost its name, so it is never repeated.
    throw new SbxError(
      'usage',
      `${what} has no valid name: names are letters, digits and _, and do not start with a digit`,
      {
        hint: 'write KEY=VALUE, or KEY alone to pass on your own',
      },
    );
  }
  if (value?.includes('\0')) throw new SbxError('usage', `the value of ${name} holds a NUL byte`);
  if (value !== undefined && Buffer.byteLength(value) + name.length >= LIMIT) {
    throw new SbxError(
      'usage',
      `the value of ${name} is longer than the ${LIMIT / 1024} KiB that Linux allows`,
    );
  }
  return [name, value];
}
