/** Sizes as people write them, in powers of 1024. Pure. */
import { SbxError } from '../errors.ts';

const LETTERS = ['', 'k', 'm', 'g', 't'] as const;

/**
 * `512m`, `2g`, `1.5GiB`, `100kb`; a bare number is bytes.
 * @returns whole bytes.
 * @throws SbxError `usage` for anything else.
 */
export function parseSize(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?$/i.exec(text);
  const power = LETTERS.indexOf((match?.[2]?.toLowerCase() ?? '') as (typeof LETTERS)[number]);
  const bytes = Math.round(Number(match?.[1]) * 1024 ** power);
  if (match === null || !Number.isSafeInteger(bytes)) {
    throw new SbxError('usage', `not a size: ${text || '(empty)'}`, { hint: 'write it like 512m or 2g' });
  }
  return bytes;
}

/** Three digits at most and a unit: `512B`, `1.5K`, `20M`. */
export function formatSize(bytes: number): string {
  let value = bytes;
  let power = 0;
  while (value >= 1023.5 && power < LETTERS.length - 1) {
    value /= 1024;
    power++;
  }
  if (power === 0) return `${Math.round(value)}B`;
  const digits = value < 9.95 ? 1 : 0;
  return `${value.toFixed(digits).replace(/\.0$/, '')}${(LETTERS[power] ?? '').toUpperCase()}`;
}
