/** Writes to a database for ever, and says so after each write: `record N`, `item N`, `both N`. */
import { noUsage, type SandboxRecord } from '../../../../src/lib/server/record.ts';
import { openDatabase } from '../../../../src/lib/server/store/database.ts';
import { items } from '../../../../src/lib/server/store/items.ts';
import { sandboxRows } from '../../../../src/lib/server/store/sandboxes.ts';

const db = openDatabase(process.argv[2] ?? '');
const rows = sandboxRows(db);
const things = items<number>(db, 'thing');
const record = (id: string): SandboxRecord => ({
  id,
  name: id,
  image: 'host',
  status: 'running',
  createdAt: '2026-01-01T00:00:00.000Z',
  driver: 'local',
  labels: {},
  env: {},
  persist: true,
  lastActivityAt: '2026-01-01T00:00:00.000Z',
  sleepAfterMs: 0,
  limits: {},
  egressSpendCapUsd: 0,
  usage: noUsage,
  workdir: '/workspace',
});
const say = (text: string) => process.stdout.write(`${text}\n`);

for (let number = 0; ; number++) {
  const id = `sb${number}`;
  rows.reserve({ id, name: id, driver: 'local' });
  rows.put(record(id));
  say(`record ${number}`);
  things.put(id, 'a', number);
  say(`item ${number}`);
  db.transaction(() => {
    rows.change(id, { labels: { number: String(number) } });
    things.put(id, 'b', number);
  });
  say(`both ${number}`);
}
