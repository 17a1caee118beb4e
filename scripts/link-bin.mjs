/** Links node_modules/.bin/sbx to bin/run.js, so that `npx sbx` in a checkout finds this very tree, without network. */
import { chmod, mkdir, rm, symlink } from 'node:fs/promises';

const bin = new URL('../node_modules/.bin/', import.meta.url);
await mkdir(bin, { recursive: true });
await rm(new URL('sbx', bin), { force: true });
await symlink('../../bin/run.js', new URL('sbx', bin));
await chmod(new URL('../bin/run.js', import.meta.url), 0o755);
