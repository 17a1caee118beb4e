/** How files and their changes are shown. Pure. */
import type { FileEvent, FileStat } from '../backend/contract.ts';
import { formatSize } from '../util/size.ts';
import type { View } from './output.ts';

export const filesView: View<FileStat> = {
  name: ({ path }) => path,
  columns: [
    { header: 'MODE', value: modeText, whole: true },
    { header: 'USER', value: ({ user }) => user },
    { header: 'GROUP', value: ({ group }) => group },
    { header: 'SIZE', value: ({ size }) => formatSize(size), align: 'right' },
    { header: 'MODIFIED', value: ({ modifiedAt }) => modifiedAt.slice(0, 16).replace('T', ' ') },
    {
      header: 'NAME',
      value: ({ name, target }) => (target === undefined ? name : `${name} -> ${target}`),
      whole: true,
    },
  ],
  data: (file) => ({ ...file, mode: octal(file.mode) }),
};

/** A change as a line: a sign and the path. */
export function eventLine({ kind, path, type }: FileEvent): string {
  const sign = { created: '+', changed: '~', removed: '-' }[kind];
  return `${sign} ${path}${type === 'directory' ? '/' : ''}`;
}

/** Like the first column of `ls -l`. */
export function modeText({ mode, type }: Pick<FileStat, 'mode' | 'type'>): string {
  const kind = { file: '-', directory: 'd', symlink: 'l', other: '?' }[type];
  const three = (shift: number, special: number, letter: string): string => {
    const bits = (mode >> shift) & 7;
    const set = (mode & special) !== 0;
    const last = bits & 1 ? (set ? letter : 'x') : set ? letter.toUpperCase() : '-';
    return `${bits & 4 ? 'r' : '-'}${bits & 2 ? 'w' : '-'}${last}`;
  };
  return kind + three(6, 0o4000, 's') + three(3, 0o2000, 's') + three(0, 0o1000, 't');
}

function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0');
}
