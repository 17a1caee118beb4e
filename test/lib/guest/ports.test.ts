import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { basename } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import script from '../../../src/lib/guest/ports.sh';
import { addressOf, parsePorts } from '../../../src/lib/guest/ports.ts';

const all = { ownedOnly: false };

describe('parsePorts', () => {
  it('joins sockets with their processes and sorts by port', () => {
    const text = [
      'listen 00000000:1F90 11',
      'listen 0100007F:0BB8 12',
      'listen 00000000000000000000000000000000:0050 13',
      'owner 11 7 node',
      'owner 12 9 my server',
    ].join('\n');
    expect(parsePorts(text, all)).toEqual([
      { port: 80, address: '::' },
      { port: 3000, address: '127.0.0.1', pid: 9, process: 'my server' },
      { port: 8080, address: '0.0.0.0', pid: 7, process: 'node' },
    ]);
    expect(parsePorts(text, { ownedOnly: true }).map(({ port }) => port)).toEqual([3000, 8080]);
  });

  it('names the parent of workers that share a socket, and one entry for sockets that share a port', () => {
    const text =
      'listen 00000000:0050 1\nlisten 00000000:0050 2\nowner 1 31 nginx\nowner 1 30 nginx\nowner 1 32 nginx\nowner 2 40 other\n';
    expect(parsePorts(text, all)).toEqual([{ port: 80, address: '0.0.0.0', pid: 30, process: 'nginx' }]);
  });

  it('skips what has another form', () => {
    const hostile = [
      'listen 0100007F:0050',
      'listen 0100007F:FFFFF 1',
      'listen 7F:0050 1',
      'listen 0100007F:0000 1',
      'owner x 1 a',
      'owner 1 99999999999999999999 a',
      '\u0000',
      `owner 5 6 ${'n'.repeat(5000)}`,
      'listen 0100007F:0050 5',
    ].join('\n');
    expect(parsePorts(hostile, all)).toEqual([
      { port: 80, address: '127.0.0.1', pid: 6, process: 'n'.repeat(64) },
    ]);
  });

  it.each([
    ['0100007F', '127.0.0.1'],
    ['0F02000A', '10.0.2.15'],
    ['00000000000000000000000001000000', '::1'],
    ['0000000000000000FFFF00000100007F', '127.0.0.1'],
    ['B80D0120000000000000000001000000', '2001:db8::1'],
    ['000080FE00000000FF005450FE123456', 'fe80::5054:ff:5634:12fe'],
  ])('reads %s as %s', (hex, address) => {
    expect(addressOf(hex)).toBe(address);
  });
});

const shells = [['dash'], ['busybox', 'ash'], ['bash', '--posix']].filter(
  ([shell = '']) => spawnSync(shell, ['-c', ':']).status === 0 || spawnSync(shell, ['true']).status === 0,
);

describe.each(shells)('ports.sh in %s', (...shell) => {
  const servers: ReturnType<typeof createServer>[] = [];
  afterEach(() => {
    for (const server of servers.splice(0)) server.close();
  });

  it('sees what this process listens on', async () => {
    const listen = (host: string) =>
      new Promise<number>((resolve) => {
        const server = createServer().listen(0, host, () => {
          const address = server.address();
          resolve(typeof address === 'object' && address !== null ? address.port : 0);
        });
        servers.push(server);
      });
    const ports = await Promise.all(['127.0.0.1', '0.0.0.0', '::1', '::ffff:127.0.0.1'].map(listen));
    const [program = '', ...args] = shell;
    const { stdout, stderr, status } = spawnSync(program, [...args, '-c', script, 'ports'], {
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    const found = parsePorts(stdout, { ownedOnly: true });
    const comm = readFileSync('/proc/self/comm', 'utf8').trim();
    const name = comm === 'MainThread' ? basename(process.execPath) : comm;
    expect(ports.map((port) => found.find((each) => each.port === port))).toMatchObject(
      ['127.0.0.1', '0.0.0.0', '::1', '127.0.0.1'].map((address) => ({
        address,
        pid: process.pid,
        process: name,
      })),
    );
  });
});
