/** Which keys leave a session: `--detach-keys` in docker's words. */
import { SbxError } from '../errors.ts';

/** The keys that leave when nothing else is said. */
export const DEFAULT_DETACH_KEYS = 'ctrl-p,ctrl-q';

/** The keys that leave a session. */
export interface DetachKeys {
  /** The bytes of the sequence; empty for none. */
  readonly sequence: readonly number[];
  /** Whether `~.` and its like work after a newline while the connection is there. Out of a dead one they always do. */
  readonly tilde: boolean;
}

const CTRL = '@abcdefghijklmnopqrstuvwxyz[\\]^_';

/**
 * Reads keys separated by commas: a single character, `ctrl-` and one of `a`-`z @ [ \ ] ^ _`, or `del`. `none` alone
 * passes every key on, `~` too.
 * @throws SbxError `usage`
 */
export function parseDetachKeys(text: string): DetachKeys {
  if (text === 'none') return { sequence: [], tilde: false };
  const sequence = text.split(',').map((key) => byteOf(key, text));
  return { sequence, tilde: sequence[0] !== 0x7e };
}

function byteOf(key: string, text: string): number {
  if (/^[\x21-\x7e]$/.test(key)) return key.charCodeAt(0);
  const lower = key.toLowerCase();
  if (lower === 'del') return 0x7f;
  const ctrl = /^ctrl-(.)$/.exec(lower)?.[1];
  const code = ctrl === undefined ? -1 : CTRL.indexOf(ctrl);
  if (code >= 0) return code;
  throw new SbxError('usage', `${JSON.stringify(key)} in --detach-keys ${JSON.stringify(text)} is no key`, {
    hint: `write keys like --detach-keys ${DEFAULT_DETACH_KEYS}, or --detach-keys none`,
  });
}

/** The keys as a person reads them, such as `Ctrl-P Ctrl-Q`; empty for none. */
export function describeDetachKeys({ sequence }: DetachKeys): string {
  return sequence
    .map((code) => {
      if (code === 0x7f) return 'Del';
      return code < 0x20 ? `Ctrl-${(CTRL[code] ?? '').toUpperCase()}` : String.fromCharCode(code);
    })
    .join(' ');
}
