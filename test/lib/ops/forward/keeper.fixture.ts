/** A forward in the background, for tests: `keeper.fixture.ts STATE ID HOW`, with HOW being `listen`, `fail` or `silent`. */
import { keepRecord } from '../../../../src/lib/ops/forward/background.ts';

const [state = '', id = '', how] = process.argv.slice(2);
const facts = {
  state,
  id,
  pid: process.pid,
  sandbox: 'box',
  backend: 'host',
  createdAt: '2024-01-01T00:00:00Z',
};
if (how === 'fail') {
  process.stderr.write('error: it is broken\nhint: mend it\n');
  process.exitCode = 1;
} else if (how === 'listen') {
  const record = keepRecord(facts);
  await record.ready([
    { sandbox: 'box', backend: 'host', direction: 'forward', address: '127.0.0.1', port: 1, remote: 2 },
  ]);
  const alive = setInterval(() => undefined, 1000);
  process.once('SIGTERM', () => {
    clearInterval(alive);
    void record.forget();
  });
}
