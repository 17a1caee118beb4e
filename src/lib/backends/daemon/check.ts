/** What works of a server, for `doctor` and `backend check`. */
import type { Call, CheckResult } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Api } from './api.ts';
import { negotiation } from './plain/negotiate.ts';

const WITHOUT = 'has not those of sbx serve: files, sessions and the like are made from commands';

export async function check(api: Api, call: Call): Promise<readonly CheckResult[]> {
  const reached = await attempt('server', async () => {
    const { driver } = await api.json<{ readonly driver?: string }>(
      { method: 'GET', path: '/healthz' },
      call,
    );
    return `answers at ${api.url}, and makes sandboxes on ${driver}`;
  });
  if (reached.status === 'failed') return [reached];
  const allowed = await attempt('key', async () => {
    await api.json({ method: 'GET', path: '/sandboxes' }, call);
    return 'is accepted';
  });
  const extended = await attempt('extensions', async () =>
    (await negotiation(api).isPlain(call)) ? WITHOUT : 'has those of sbx serve',
  );
  return [reached, allowed, extended];
}

async function attempt(name: string, act: () => Promise<string>): Promise<CheckResult> {
  try {
    return { name, status: 'ok', detail: await act() };
  } catch (error) {
    if (!(error instanceof SbxError)) throw error;
    const { message, hint } = error;
    return { name, status: 'failed', detail: message, ...(hint === undefined ? {} : { hint }) };
  }
}
