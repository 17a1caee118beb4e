/** Whether to colour, and the few colours there are. Pure. */

/** What the decision depends on. */
export interface ColorFacts {
  readonly isTTY: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** `--color` or `--no-color`. */
  readonly flag: boolean | undefined;
}

/** Flag, then `NO_COLOR`, then `FORCE_COLOR`, then whether it is a terminal that can. */
export function decideColor({ isTTY, env, flag }: ColorFacts): boolean {
  if (flag !== undefined) return flag;
  if (env.NO_COLOR) return false;
  if (env.FORCE_COLOR !== undefined) return env.FORCE_COLOR !== '0' && env.FORCE_COLOR !== 'false';
  return isTTY && env.TERM !== undefined && env.TERM !== '' && env.TERM !== 'dumb';
}

const CODES = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

/** A colour or a weight. */
export type Style = keyof typeof CODES;

/** Puts text in a style; does nothing when `on` is false. */
export function paint(text: string, style: Style | undefined, on: boolean): string {
  if (!on || style === undefined || text === '') return text;
  const [open, close] = CODES[style];
  return `\u001b[${open}m${text}\u001b[${close}m`;
}
