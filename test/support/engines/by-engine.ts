import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

/** Takes away the ends that sandboxes of the client with files below `folder` hear it by, so that all goes by their engine. */
export function goByEngine(folder: string): void {
  const shared = join(folder, 'state', 'docker');
  for (const file of readdirSync(shared, { recursive: true, encoding: 'utf8' }))
    if (file.endsWith('/requests')) rmSync(join(shared, file));
}
