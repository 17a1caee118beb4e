/** What works of a server, for `doctor` and `backend check`. */
import type { Call, CheckResult } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import type { Api } from './api.ts';

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
  return [reached, allowed];
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
