/** How things read. What comes from sandboxes may hold signs that hide or turn around what stands beside them. */
import { formatSize } from '../../../util/size.ts';

export { ageOf } from '../../../util/duration.ts';

/** Signs without a shape of their own: controls, marks of direction, joiners, separators of lines. */
const SHAPELESS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** A name, label or command for display: one line in which every sign can be seen. */
export function shown(text: string): string {
  return text.replace(SHAPELESS, (sign) =>
    sign === '\n' ? '⏎' : `\\u{${(sign.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** An amount of bytes, such as `1.5 MB`. */
export function bytesText(bytes: number): string {
  return formatSize(bytes)
    .replace(/(?<=\d)(?=[A-Z])/, ' ')
    .replace(/(?<=[KMGTPE])$/, 'B');
}

export function percentText(percent: number): string {
  return `${percent < 9.95 ? percent.toFixed(1) : Math.round(percent)} %`;
}

/** Dollars, with as many digits as it takes to see that it is not nothing. */
export function moneyText(dollars: number): string {
  if (dollars >= 0.01 || dollars === 0) return `$${dollars.toFixed(2)}`;
  return dollars < 0.0001 ? '< $0.0001' : `$${dollars.toFixed(4)}`;
}
