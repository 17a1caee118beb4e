/** Durations as people write them. Pure. */
import { SbxError } from '../errors.ts';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const PART = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/gy;

/**
 * `30s`, `5m`, `1h30m`, `250ms`; a bare number is seconds.
 * @returns whole milliseconds.
 * @throws SbxError `usage` for anything else.
 */
export function parseDuration(text: string): number {
  let total = /^\d+(\.\d+)?$/.test(text) ? Number(text) * UNITS.s : 0;
  if (total === 0 && !/^0+(\.0+)?$/.test(text)) {
    PART.lastIndex = 0;
    let end = 0;
    for (let match = PART.exec(text); match !== null; match = PART.exec(text)) {
      total += Number(match[1]) * UNITS[match[2] as keyof typeof UNITS];
      end = PART.lastIndex;
    }
    if (end !== text.length || end === 0) {
      throw new SbxError('usage', `not a duration: ${text || '(empty)'}`, {
        hint: 'write it like 30s, 5m or 1h30m',
      });
    }
  }
  if (!Number.isSafeInteger(Math.round(total))) throw new SbxError('usage', `too long a duration: ${text}`);
  return Math.round(total);
}

/** The shortest exact spelling that {@link parseDuration} reads back: `1h30m`. */
export function formatDuration(milliseconds: number): string {
  let rest = Math.round(milliseconds);
  if (rest <= 0) return '0s';
  let text = '';
  for (const unit of ['d', 'h', 'm', 's', 'ms'] as const) {
    const count = Math.floor(rest / UNITS[unit]);
    rest -= count * UNITS[unit];
    if (count > 0) text += `${count}${unit}`;
  }
  return text;
}

/**
 * How long ago an ISO 8601 time is, in one unit: `3m`, `2h`, `5d`. A time to come is `0s`; undefined where there is no
 * time, or it is none.
 */
export function ageOf(time: string | undefined, now: Date): string | undefined {
  const age = Math.max(0, now.getTime() - Date.parse(time ?? ''));
  if (Number.isNaN(age)) return undefined;
  if (age < UNITS.m) return `${Math.floor(age / UNITS.s)}s`;
  if (age < UNITS.h) return `${Math.floor(age / UNITS.m)}m`;
  if (age < 2 * UNITS.d) return `${Math.floor(age / UNITS.h)}h`;
  return `${Math.floor(age / UNITS.d)}d`;
}
