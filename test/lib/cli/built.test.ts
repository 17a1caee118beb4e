import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';

const root = new URL('../../../', import.meta.url).pathname;
const bin = `${root}bin/run.js`;
const run = (args: string[], env: Record<string, string> = {}) =>
  promisify(execFile)(process.execPath, [bin, ...args], { env: { PATH: process.env.PATH, ...env } });

async function sh(script: string): Promise<{ code: number; err: string }> {
  const child = spawn('sh', ['-c', script, process.execPath, bin], { stdio: ['ignore', 'ignore', 'pipe'] });
  const [err, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
  return { code, err };
}

describe('the built bin', () => {
  it('prints JSON with nothing in the environment, not even HOME or TERM', async () => {
    const { stdout, stderr } = await run(['version', '--json']);
    expect(Object.keys(JSON.parse(stdout))).toEqual(['version', 'node', 'platform']);
    expect(stderr).toBe('');
  });

  it('shows help for everything, a verb and 20 columns', async () => {
    expect((await run(['help'])).stdout).toContain('version');
    expect((await run(['version', '--help'])).stdout).toContain('SBX_NO_INPUT');
    const { stdout } = await run(['help', 'version'], { COLUMNS: '20' });
    expect(stdout).toContain('--json');
  });

  it('shows every paragraph of a description, and what a topic is', async () => {
    const { stdout } = await run(['exec', '--help']);
    expect(stdout.replaceAll('\n', ' ')).toContain('The command gets its words as they are');
    expect(stdout.replaceAll('\n', ' ')).toContain('125 when sbx or the backend failed');
    expect((await run(['help', 'config'])).stdout).toMatch(/^settings of the config file$/m);
  });

  it('takes no missing argument from standard input', async () => {
    const { code, err } = await sh(
      'printf "a\\nb\\n" | while read -r l; do "$0" "$1" files cat; echo "$l" >&2; done',
    );
    expect(err.match(/no path is named/g)).toHaveLength(2);
    expect(err).toMatch(/^a$/m);
    expect(err).toMatch(/^b$/m);
    expect(code).toBe(0);
  });

  it('ends quietly when stdout is closed or its reader gone', async () => {
    expect(await sh('"$0" "$1" version >&-')).toEqual({ code: 0, err: '' });
    expect(await sh('"$0" "$1" version 2>&-')).toEqual({ code: 0, err: '' });
    expect(await sh('{ "$0" "$1" version || echo $? >&2; } | true')).toEqual({ code: 0, err: '' });
  });

  it('says so when the disk is full', async () => {
    const { code, err } = await sh('"$0" "$1" version >/dev/full');
    expect(code).toBe(1);
    expect(err).toContain('error: cannot write the output (ENOSPC');
  });

  it('loads no streams, sockets or terminals before they are needed', async () => {
    const loaded = await builtinsOf(['version']);
    expect(loaded.length).toBeGreaterThan(20);
    const slow = ['net', 'tty', 'readline', 'internal/fs/promises', 'child_process', 'worker_threads'];
    expect(loaded.filter((name) => slow.includes(name))).toEqual([]);
  });

  it('lists on docker by one question, without the HTTP of node, TLS, names of hosts or programs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'sbx-built-'));
    const path = join(folder, 'sock');
    const asked: (string | undefined)[] = [];
    const engine = createServer((request, response) => {
      asked.push(request.url);
      response.setHeader('Api-Version', '1.41').end('[]');
    });
    try {
      await new Promise<void>((resolve) => engine.listen(path, resolve));
      writeFileSync(join(folder, 'config.json'), '{"backends":{"engine":{"type":"docker"}}}', {
        mode: 0o600,
      });
      const loaded = await builtinsOf(['ls', '--backend', 'engine'], {
        SBX_CONFIG_DIR: folder,
        SBX_STATE_DIR: join(folder, 'state'),
        DOCKER_HOST: `unix://${path}`,
      });
      expect(asked).toEqual([expect.stringMatching(/^\/containers\/json\?/)]);
      expect(loaded).toContain('net');
      const slow = ['http', '_http_client', 'https', 'tls', 'dns', 'child_process', 'internal/fs/promises'];
      expect(loaded.filter((name) => slow.includes(name))).toEqual([]);
    } finally {
      engine.close().closeAllConnections();
      rmSync(folder, { recursive: true });
    }
  });
});

/** The built-in modules that the bin loads with `args`, beyond what node needs to start. */
async function builtinsOf(args: string[], env: Record<string, string> = {}): Promise<string[]> {
  const hook = `process.on('exit', () => process.getBuiltinModule('node:fs').writeSync(2, process.moduleLoadList.join('\\n')));`;
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(hook)}`, bin, ...args],
    {
      stdio: ['ignore', openSync('/dev/null', 'w'), 'pipe'],
      env: { PATH: process.env.PATH, ...env },
    },
  );
  if (child.stderr === null) throw new Error('no stderr');
  const loaded = (await text(child.stderr)).split('\n');
  return loaded.map((name) => name.replace('NativeModule ', ''));
}
