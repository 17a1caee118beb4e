/** Reads argv[2], makes a tar of it, reads that and writes it to the folder argv[3]; prints the most memory it took. */
import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { gate } from '../../../../src/lib/ops/copy/gate.ts';
import { readLocalTree } from '../../../../src/lib/ops/copy/local-read.ts';
import { writeLocalTree } from '../../../../src/lib/ops/copy/local-write.ts';
import { ALL } from '../../../../src/lib/ops/copy/select.ts';
import { decodeTar } from '../../../../src/lib/ops/copy/tar-decode.ts';
import { encodeTar } from '../../../../src/lib/ops/copy/tar-encode.ts';

const [, , from = '', to = ''] = process.argv;
const { signal } = new AbortController();
mkdirSync(to);
const tar = encodeTar(readLocalTree(from, { name: 'big', follow: false, selection: ALL, signal }));
const tree = gate(decodeTar(tar), { top: undefined, outwardLinks: false, plainModes: true });
await writeLocalTree(to, tree, { keepOwner: false, signal });
const peak = process.resourceUsage().maxRSS * 1024;
process.stdout.write(JSON.stringify({ peak, size: statSync(join(to, 'big')).size }));
