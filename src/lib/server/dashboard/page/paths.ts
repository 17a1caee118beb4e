/** Paths in a sandbox. Pure. */

export function within(folder: string, name: string): string {
  return `${folder === '/' ? '' : folder}/${name}`;
}

/** The folders from `/` to `path`, each with its name. */
export function trail(path: string): { readonly name: string; readonly path: string }[] {
  const parts = path.split('/').filter((part) => part !== '');
  return [
    { name: '/', path: '/' },
    ...parts.map((name, index) => ({ name, path: `/${parts.slice(0, index + 1).join('/')}` })),
  ];
}
