/** A copy of a sandbox, with a record of its own: what it may take, cost and reach is what its source may. */
import type { Call, ForkOptions } from '../backend/contract.ts';
import { need } from '../backend/need.ts';
import { checkLabel, checkName } from '../backend/spec.ts';
import { unhurried } from '../backend/unhurried.ts';
import { SbxError } from '../errors.ts';
import { randomHex } from '../util/random-id.ts';
import { copyRequest } from './create.ts';
import type { Base } from './daemon.ts';
import type { Enclosure } from './egress/egress.ts';
import { OWNER_LABEL } from './fleet.ts';
import { inheritance, withheldFrom } from './inheritance.ts';
import { noUsage, type SandboxRecord } from './record.ts';

/** Makes it and writes its record; a failure leaves nothing. @throws SbxError `conflict` for a taken name; HttpRefusal 503. */
export async function fork(
  daemon: Base,
  ref: string,
  asked: ForkOptions,
  call: Call,
): Promise<SandboxRecord> {
  const { fleet, rows, egress, db, having, capacity, now } = daemon;
  if (asked.name !== undefined) checkName(asked.name, 'the name of the copy');
  using look = await fleet.look(ref, call);
  const { record: source, sandbox } = look;
  const act = need(sandbox, 'fork', having);
  const backend = await daemon.backend(source.driver);
  const { network } = await sandbox.info(call);
  refuseOutside(source, network, egress.enclosure(backend));
  const id = `sb${randomHex(6)}`;
  const name = asked.name ?? id;
  const granted = egress.grant(id, egress.policyOf(source), {
    backend,
    network: network === 'host' ? network : undefined,
  });
  const own = egress.ownEnv(source);
  const env = { ...own, ...asked.env, ...granted?.env };
  const passed = inheritance(withheldFrom(source.env, own), env);
  const labels = asked.labels ?? source.labels;
  for (const [key, value] of Object.entries(labels)) checkLabel(key, value);
  using _ = capacity.promise(source.limits.memoryMb);
  if (!rows.reserve({ id, name, driver: source.driver }))
    throw new SbxError('conflict', `the name '${name}' is taken`);
  const at = now().toISOString();
  const { expiresAt: _expiresAt, ...like } = source;
  const record: SandboxRecord = {
    ...like,
    ...{ id, name, labels, env, status: 'running', createdAt: at, lastActivityAt: at, usage: noUsage },
  };
  try {
    if (granted !== undefined) egress.tokens.put(id, granted.token);
    const copy = await act({ name, labels: { ...labels, [OWNER_LABEL]: id }, env: passed.env }, call);
    await egress.reach(id, async () => copy);
    await passed.finish(daemon, async () => copy);
  } catch (error) {
    await fleet.discard({ id, name, driver: source.driver }, unhurried);
    egress.leave(id);
    throw error;
  }
  db.transaction(() => {
    rows.put(record);
    copyRequest(db, source.id, id);
  });
  return record;
}

/** A copy is where its source is, which may have been made before there was a rule. */
function refuseOutside(
  { name }: SandboxRecord,
  network: string | undefined,
  enclosure: Enclosure | undefined,
): void {
  if (enclosure === undefined || network === 'none' || network === enclosure.closedNetwork) return;
  throw new SbxError(
    'conflict',
    `a copy of sandbox '${name}' could go around the egress gateway, as it can itself`,
    { hint: 'take a snapshot, and make a sandbox from that: sbx create --from SNAPSHOT' },
  );
}
