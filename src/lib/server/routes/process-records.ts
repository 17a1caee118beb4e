/** What is kept of the background processes that a client started. */
import Type, { type Static } from 'typebox';
import type { ProcessInfo } from '../../backend/contract.ts';
import { HttpRefusal } from '../http/refusal.ts';
import type { Database } from '../store/database.ts';
import { type Items, items } from '../store/items.ts';
import { codeOf } from './exec.ts';

export const processRecord = Type.Object({
  procId: Type.String(),
  pid: Type.Integer(),
  command: Type.String(),
  status: Type.Union([Type.Literal('running'), Type.Literal('exited')]),
  /** Null until it is known. */
  exitCode: Type.Union([Type.Integer(), Type.Null()]),
  startedAt: Type.String({ format: 'date-time' }),
  logPath: Type.String(),
});

export type ProcessRecord = Static<typeof processRecord>;

export interface ProcessRecords extends Pick<Items<ProcessRecord>, 'put' | 'list' | 'clear'> {
  /** @throws HttpRefusal 404 */
  get(sandbox: string, procId: string): ProcessRecord;
  /** Notes which have ended, by what the sandbox says of all. @returns the records, in the order of their start */
  refresh(sandbox: string, processes: AsyncIterable<ProcessInfo>): Promise<ProcessRecord[]>;
}

export function processRecords(db: Database): ProcessRecords {
  const { get, put, list, clear } = items<ProcessRecord>(db, 'process');
  return {
    put,
    list,
    clear,
    get(id, procId) {
      const found = get(id, procId);
      if (found === undefined) throw new HttpRefusal(404, 'process not found');
      return found;
    },
    async refresh(id, processes) {
      const known = new Map<string, ProcessInfo>();
      for await (const info of processes) known.set(info.id, info);
      for (const record of list(id)) {
        const info = known.get(record.procId);
        if (info?.state === 'running') continue;
        // The sandbox forgets the oldest; what was learnt of them stays.
        const exitCode = info?.exit === undefined ? record.exitCode : codeOf(info.exit);
        if (record.status !== 'exited' || record.exitCode !== exitCode)
          put(id, record.procId, { ...record, status: 'exited', exitCode });
      }
      return list(id);
    },
  };
}
