/** A program as a connection. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { connectProgram } from '../../../src/lib/transport/program-connection.ts';

const shell = (script: string) => connectProgram(['sh', '-c', script], { PATH: process.env.PATH });

test('carries bytes both ways, and its directions end apart', async () => {
  const connection = shell('cat; echo more');
  connection.end('said\n');
  expect(Buffer.concat(await connection.toArray()).toString()).toBe('said\nmore\n');
});

test('fails with what the program complained of, once, and its exit code', async () => {
  const failure = expect(once(shell('printf "sh: not known.\\r\\n" >&2; exit 127'), 'end')).rejects;
  await failure.toMatchObject({ code: 'EPROGRAM', message: 'sh: not known.', exitCode: 127 });
});

test('a program that cannot be run is told as such', async () => {
  const failure = expect(once(connectProgram(['/no/such'], {}), 'end')).rejects;
  await failure.toMatchObject({
    message: expect.stringMatching(/^cannot run \/no\/such: /),
    exitCode: undefined,
  });
});

test('destroying it ends the program', async () => {
  const connection = shell('echo $$; exec sleep 4323');
  const [line] = (await once(connection, 'data')) as [Buffer];
  connection.destroy();
  await expect.poll(() => isAlive(Number(line))).toBe(false);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}
