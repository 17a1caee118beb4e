/**
 * Gives a sandbox another name. Until its record has it a row of its own holds the new name, which says to a server that
 * starts after this one died whose it is.
 */
import type { Call } from '../backend/contract.ts';
import { need } from '../backend/need.ts';
import { checkName } from '../backend/spec.ts';
import { SbxError } from '../errors.ts';
import { randomHex } from '../util/random-id.ts';
import type { Base } from './daemon.ts';
import type { SandboxRecord } from './record.ts';

/** @throws SbxError `conflict` when the name is taken: then it is called as before. */
export function rename(
  { fleet, rows, having }: Pick<Base, 'fleet' | 'rows' | 'having'>,
  ref: string,
  name: string,
  call: Call,
): Promise<SandboxRecord> {
  checkName(name, 'the new name');
  return fleet.change(
    ref,
    async ({ record, sandbox }) => {
      if (record.name === name) return record;
      const act = need(sandbox, 'rename', having);
      const held = { id: `rn${randomHex(6)}`, name, driver: record.driver, renames: record.id };
      if (!rows.reserve(held)) throw new SbxError('conflict', `the name '${name}' is taken`);
      try {
        await act(name, call);
      } catch (error) {
        await fleet.settleName(held, call);
        throw error;
      }
      return rows.rename(held) ?? record;
    },
    call,
  );
}
