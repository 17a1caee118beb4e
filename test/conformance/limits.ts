/** A limit that is taken is kept; one that cannot be kept is refused. */
import { expect } from 'vitest';
import type { CreateOption, Limits, Sandbox } from '../../src/lib/backend/contract.ts';
import { SbxError } from '../../src/lib/errors.ts';
import { call, type Harness, refusal, sh } from './harness.ts';

const MIB = 1024 * 1024;

export function limitsConformance(h: Harness): void {
  const honours = (option: CreateOption) =>
    h.manifest.createOptions.some((each) => each === option || each === 'limits');
  const limited = async (limits: Limits): Promise<Sandbox | undefined> => {
    try {
      return await h.sandbox({ limits });
    } catch (error) {
      if (error instanceof SbxError && error.code === 'unsupported') return undefined;
      throw error;
    }
  };

  h.when(honours('limits.memory'))('memory: a command that takes more is ended', async () => {
    const sandbox = await limited({ memory: 64 * MIB });
    if (sandbox === undefined) return;
    expect((await sandbox.info(call)).limits?.memory).toBe(64 * MIB);
    if (h.lacks?.includes('memory per command')) {
      const error = await refusal(sh(sandbox, 'head -c 300000000 /dev/zero | tail -c 299999999 | wc -c'));
      expect(error.message).toContain('ran out of memory');
      return;
    }
    const { exit } = await sh(sandbox, 'head -c 300000000 /dev/zero | tail -c 299999999 | wc -c; exit 0');
    const { stdout } = await sh(sandbox, 'x=$(head -c 300000000 /dev/zero | tail | wc -c); echo "$x"');
    expect('code' in exit || 'signal' in exit).toBe(true);
    expect(stdout.toString().trim()).not.toBe('300000000');
  });

  h.when(honours('limits.pids'))('pids: no more processes than that', async () => {
    const sandbox = await limited({ pids: 20 });
    if (sandbox === undefined) return;
    expect((await sandbox.info(call)).limits?.pids).toBe(20);
    const { stdout } = await sh(
      sandbox,
      'i=0; while [ $i -lt 60 ]; do sleep 60 & i=$((i+1)); echo $i; done; kill $(jobs -p)',
    );
    expect(stdout.toString().split('\n').length).toBeLessThan(25);
  });

  h.when(honours('limits.cpus'))('cpus: a busy loop gets no more than its part', async () => {
    const sandbox = await limited({ cpus: 0.2 });
    if (sandbox === undefined) return;
    expect((await sandbox.info(call)).limits?.cpus).toBe(0.2);
    const text = 'end=$(($(date +%s) + 3)); while [ $(date +%s) -lt $end ]; do :; done; times';
    const { stdout } = await sh(sandbox, text);
    const seconds = [...stdout.toString().matchAll(/(\d+)m([\d.]+)s/g)].reduce(
      (sum, [, m, s]) => sum + Number(m) * 60 + Number(s),
      0,
    );
    expect(seconds).toBeLessThan(2);
  });
}
