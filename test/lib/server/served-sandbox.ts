/** A sandbox that always runs, as routes get it: what it can do is up to the test. */
import type { Sandbox } from '../../../src/lib/backend/contract.ts';
import type { Fleet, Use } from '../../../src/lib/server/fleet.ts';
import { HttpRefusal } from '../../../src/lib/server/http/refusal.ts';

export const ID = 'sb0123456789ab';

export interface ServedSandbox {
  readonly fleet: Fleet;
  /** How many hold it now. */
  uses(): number;
  /** How often it was said to be used. */
  touches(): number;
}

/** A fleet of one sandbox. */
export function servedSandbox(sandbox: Partial<Sandbox>): ServedSandbox {
  let uses = 0;
  let touches = 0;
  const use = async (id: string): Promise<Use> => {
    if (id !== ID) throw new HttpRefusal(404, 'not found');
    uses++;
    return {
      record: { id: ID, env: {} } as Use['record'],
      sandbox: { name: ID, backend: 'fake', ...sandbox } as Sandbox,
      touch: () => void touches++,
      [Symbol.dispose]: () => void uses--,
    };
  };
  return { fleet: { use } as unknown as Fleet, uses: () => uses, touches: () => touches };
}
