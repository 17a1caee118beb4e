/** Programs that sbx has to get along with: others wrote them, and they lie beside the repository. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.env.SBX_TEST_PEERS ?? fileURLToPath(new URL('../../../shared/peers', import.meta.url));

/** The path of a peer's file, or `undefined` where it is not there. */
export function findPeer(path: string): string | undefined {
  const found = join(folder, path);
  return existsSync(found) ? found : undefined;
}
