/** The last values of something that is measured again and again, and the line that they make. */

export interface Series {
  readonly values: readonly number[];
  add(value: number): void;
}

/** Keeps the last `length` values. */
export function series(length: number): Series {
  const values: number[] = [];
  return {
    values,
    add(value) {
      values.push(value);
      if (values.length > length) values.shift();
    },
  };
}

/**
 * The `d` of an SVG path over `width` × `height`, the newest value at the right end.
 * @param most what reaches the top. @param slots how many values the width has room for.
 */
export function linePath(
  values: readonly number[],
  { width, height, most, slots }: { width: number; height: number; most: number; slots: number },
): string {
  const step = width / (slots - 1);
  return values
    .map((value, index) => {
      const x = width - (values.length - 1 - index) * step;
      const y = height - (Math.min(value, most) / most) * height;
      return `${index === 0 ? 'M' : 'L'}${round(x)} ${round(y)}`;
    })
    .join('');
}

const round = (value: number) => Math.round(value * 100) / 100;
