/** Makes a sandbox of what a client asked for. */
import type { Backend, Call, CreateSpec, EgressPolicy, Furnish, Sandbox } from '../backend/contract.ts';
import type { GivenOption } from '../backend/need.ts';
import { checkArgv, checkCreateSpec } from '../backend/spec.ts';
import { unhurried } from '../backend/unhurried.ts';
import { SbxError } from '../errors.ts';
import { createSandbox } from '../ops/create.ts';
import type { Progress } from '../ops/progress.ts';
import { parseRepo, type RepoSource } from '../ops/repo.ts';
import { randomHex } from '../util/random-id.ts';
import type { Base } from './daemon.ts';
import type { Egress, Enclosure } from './egress/egress.ts';
import { parsePolicy } from './egress/policy.ts';
import { labelled, OWNER_LABEL } from './fleet.ts';
import { HttpRefusal } from './http/refusal.ts';
import { inheritance } from './inheritance.ts';
import { noUsage, type RecordLimits, type SandboxRecord } from './record.ts';
import type { ServeSettings } from './settings.ts';
import type { CreateBody } from './shapes.ts';
import type { Database } from './store/database.ts';
import { items } from './store/items.ts';
import type { Snapshot } from './store/snapshots.ts';

const MEGABYTE = 1024 * 1024;
/** The least that engines take, in megabytes. */
const LEAST_MEMORY_MB = 6;
/** Characters of a failed setup's output that the client is told. */
const OUTPUT_KEPT = 2000;

const WORKDIR = '/workspace';

/** What stands for the image where there is none. */
export const NO_IMAGE = 'host';

/** What was asked for a sandbox whose files do not outlive a stop, so that it can be made once more. */
const requests = (db: Database) => items<CreateBody>(db, 'request');
const REQUEST = 'create';

/**
 * Makes it and writes its record. The name is taken first, so that a server that dies meanwhile knows what to look for.
 * @throws HttpRefusal 400 for what cannot be asked for, 409 for a taken name, 422 when the making fails, 503 for more
 * memory than is left: nothing stays.
 */
export async function create(
  daemon: Base,
  body: CreateBody,
  call: Call,
  { furnish }: CreateExtras = {},
): Promise<SandboxRecord> {
  const { settings, db, rows, egress, snapshots, now } = daemon;
  const snapshot = body.snapshot === undefined ? undefined : snapshots.get(body.snapshot);
  const driver = driverOf(body, snapshot, settings);
  const backend = await daemon.backend(driver);
  const limits = limitsOf(body, daemon);
  const id = `sb${randomHex(6)}`;
  const name = body.name ?? id;
  const image = snapshot === undefined ? imageOf(backend, body, daemon) : body.image || undefined;
  const labels = body.labels ?? {};
  const network = networkOf(body, egress.enclosure(backend));
  const granted = egress.grant(id, policyOf(body, now()), { backend, network: network.network });
  const env = { ...snapshot?.env, ...body.env, ...granted?.env };
  const workdir = body.workdir ?? snapshot?.workdir ?? WORKDIR;
  const passed = inheritance(snapshot?.withheld ?? [], env);
  const decided = {
    ...{ id, name, image, snapshot: snapshot?.id, labels, limits, workdir, network },
    env: passed.env,
  };
  const { spec, given } = wanted(body, decided);
  const repo = repoOf(body);
  using _ = daemon.capacity.promise(limits.memoryMb);
  if (!rows.reserve({ id, name, driver })) throw new HttpRefusal(409, `the name '${name}' is taken`);
  const at = now().toISOString();
  const record: SandboxRecord = {
    id,
    name,
    image: snapshot?.image ?? image ?? NO_IMAGE,
    status: 'running',
    createdAt: at,
    driver,
    labels,
    env,
    persist: body.persist !== false,
    lastActivityAt: at,
    sleepAfterMs: body.sleepAfter ?? settings.sleepAfterMs,
    limits,
    egressSpendCapUsd: body.egressSpendCapUsd ?? settings.egress.spendCapUsd,
    usage: noUsage,
    workdir,
    ...(body.ttl === undefined ? {} : { expiresAt: new Date(now().getTime() + body.ttl).toISOString() }),
    ...(snapshot === undefined ? {} : { snapshot: snapshot.id }),
    ...(spec.command === undefined ? {} : { command: spec.command }),
  };
  const fill =
    furnish === undefined
      ? undefined
      : async (sandbox: Sandbox) => {
          const half = { ...record, making: true } as const;
          rows.put(half);
          using _ = daemon.fleet.lend(id, sandbox);
          await furnish(half);
        };
  try {
    if (granted !== undefined) egress.tokens.put(id, granted.token);
    const place = granted === undefined ? backend : reached(backend, id, egress);
    await make(daemon, place, { spec, given, repo, setup: body.setup ?? [], furnish: fill }, call);
  } catch (error) {
    rows.remove(id);
    egress.leave(id);
    throw error;
  }
  await passed.finish(daemon, () => backend.get(name, unhurried));
  db.transaction(() => {
    rows.put(record);
    if (!record.persist) requests(db).put(id, REQUEST, body);
  });
  return record;
}

/** What a client cannot ask for in a body. */
export interface CreateExtras {
  /** Puts into the sandbox what its main command needs. Until it resolves the sandbox is half made. */
  readonly furnish?: (record: SandboxRecord) => Promise<void>;
}

/** So that a copy is made anew as its source would be. */
export function copyRequest(db: Database, from: string, to: string): void {
  const body = requests(db).get(from, REQUEST);
  if (body !== undefined) requests(db).put(to, REQUEST, body);
}

/**
 * Makes the sandbox of a record once more, in the place of what is left of it: as it was asked for, with the environment
 * that it has by now. @throws HttpRefusal like {@link create}.
 */
export async function remake(daemon: Base, record: SandboxRecord, call: Call): Promise<Sandbox> {
  const { id, name, labels, env, limits, workdir, snapshot } = record;
  const body = requests(daemon.db).get(id, REQUEST) ?? {};
  const backend = await daemon.backend(record.driver);
  const image = snapshot !== undefined || record.image === NO_IMAGE ? undefined : record.image;
  const network = networkOf(body, daemon.egress.enclosure(backend));
  const { withheld } = snapshot === undefined ? { withheld: [] } : daemon.snapshots.get(snapshot);
  const passed = inheritance(withheld, env);
  const decided = {
    ...{ id, name, image, snapshot, labels, limits, workdir, network },
    env: passed.env,
  };
  const { spec, given } = wanted(body, decided);
  const left = await labelled(backend, id, name, call);
  if (left !== undefined) await backend.destroy(left.id, { force: true }, call);
  await make(
    daemon,
    reached(backend, id, daemon.egress),
    { spec, given, repo: repoOf(body), setup: body.setup ?? [], furnish: undefined },
    call,
  );
  const sandbox = await backend.get(name, call);
  await passed.finish(daemon, async () => sandbox);
  return sandbox;
}

/** A snapshot is where it is. */
function driverOf(
  body: CreateBody,
  snapshot: Snapshot | undefined,
  { drivers, driver }: ServeSettings,
): string {
  const wanted = body.driver || (snapshot?.driver ?? driver);
  if (!drivers.includes(wanted))
    throw new HttpRefusal(400, `unknown driver ${JSON.stringify(wanted)} (expected: ${drivers.join(' | ')})`);
  if (snapshot !== undefined && wanted !== snapshot.driver)
    throw new HttpRefusal(400, `snapshot '${body.snapshot}' is on driver '${snapshot.driver}'`);
  return wanted;
}

/** Where there are no images, the name of none is as good as saying nothing. */
function imageOf({ manifest }: Backend, body: CreateBody, { settings }: Base): string | undefined {
  if (manifest.createOptions.includes('image')) return body.image || settings.image;
  return body.image === NO_IMAGE ? undefined : body.image;
}

/** Only caps that are in force: 0 is none. */
function limitsOf(body: CreateBody, { settings }: Base): RecordLimits {
  const { memoryMb, cpus, pidsLimit } = { ...settings.limits, ...defined(body) };
  if (memoryMb > 0 && memoryMb < LEAST_MEMORY_MB)
    throw new HttpRefusal(400, `memoryMb must be at least ${LEAST_MEMORY_MB} (Docker minimum)`);
  if (!Number.isInteger(pidsLimit)) throw new HttpRefusal(400, 'pidsLimit must be a whole number');
  return {
    ...(memoryMb > 0 ? { memoryMb } : {}),
    ...(cpus > 0 ? { cpus } : {}),
    ...(pidsLimit > 0 ? { pidsLimit } : {}),
  };
}

function defined(body: CreateBody): RecordLimits {
  const { memoryMb, cpus, pidsLimit } = body;
  return {
    ...(memoryMb === undefined ? {} : { memoryMb }),
    ...(cpus === undefined ? {} : { cpus }),
    ...(pidsLimit === undefined ? {} : { pidsLimit }),
  };
}

interface Decided {
  readonly id: string;
  readonly name: string;
  readonly image: string | undefined;
  /** Id of the snapshot, which is its name on the backend. */
  readonly snapshot: string | undefined;
  readonly labels: Readonly<Record<string, string>>;
  readonly env: Readonly<Record<string, string>>;
  readonly limits: RecordLimits;
  readonly workdir: string;
  readonly network: Enclosure;
}

/** The contract's words for it, and which of them the client gave, by its own words. */
function wanted(
  body: CreateBody,
  { id, name, image, snapshot, labels, env, limits, workdir, network }: Decided,
): { readonly spec: CreateSpec; readonly given: readonly GivenOption[] } {
  const { user, command } = body;
  const { memoryMb, cpus, pidsLimit } = limits;
  const spec: CreateSpec = {
    name,
    image,
    snapshot,
    env,
    labels: { ...labels, [OWNER_LABEL]: id },
    limits: {
      ...(memoryMb === undefined ? {} : { memory: Math.round(memoryMb * MEGABYTE) }),
      ...(cpus === undefined ? {} : { cpus }),
      ...(pidsLimit === undefined ? {} : { pids: Math.round(pidsLimit) }),
    },
    workdir,
    user,
    ...network,
    ...(command === undefined ? {} : { command: checkArgv(command) }),
  };
  checkCreateSpec(spec);
  const options: readonly (readonly [GivenOption['option'], string, unknown])[] = [
    ['image', 'image', image],
    ['snapshot', 'snapshot', snapshot],
    ['limits.memory', 'memoryMb', memoryMb],
    ['limits.cpus', 'cpus', cpus],
    ['limits.pids', 'pidsLimit', pidsLimit],
    ['workdir', 'workdir', body.workdir],
    ['user', 'user', user],
    ['network', 'network', network.network],
    ['command', 'command', command],
  ];
  const given = options.flatMap(([option, as, value]) => (value === undefined ? [] : [{ option, as }]));
  return { spec, given };
}

/** Undefined: it asks for no token. */
function policyOf({ egress }: CreateBody, now: Date): EgressPolicy | undefined {
  if (egress === true) return {};
  return typeof egress === 'object' && egress !== null ? parsePolicy(egress, now) : undefined;
}

/** A sandbox that must not go around the gateway may have no network at all, but none of its own choice. */
function networkOf({ network }: CreateBody, enclosure: Enclosure | undefined): Enclosure {
  const asked = network as CreateSpec['network'];
  if (enclosure === undefined || asked === 'none') return { network: asked };
  if (asked === undefined) return enclosure;
  throw new HttpRefusal(400, 'network must be none here: all traffic goes through the egress gateway');
}

/** The backend, but that its new sandbox reaches the gateway before anything runs in it. */
function reached(backend: Backend, id: string, egress: Egress): Backend {
  return {
    ...backend,
    create: (spec, call, furnish) =>
      backend.create(spec, call, async (sandbox) => {
        await egress.reach(id, async () => sandbox);
        await furnish?.(sandbox);
      }),
  };
}

/** A path would be one of the server's machine, which is none of the client's business. */
function repoOf({ repo, repoRef }: CreateBody): RepoSource | undefined {
  if (repo === undefined || repo === '') {
    if (repoRef) throw new HttpRefusal(400, 'repoRef is of no use without a repo');
    return undefined;
  }
  const source = parseRepo(repoRef ? `${repo}#${repoRef}` : repo, '/');
  if (source.kind === 'local') throw new HttpRefusal(400, 'repo must be a URL that the sandbox can reach');
  return source;
}

interface Making {
  readonly spec: CreateSpec;
  readonly given: readonly GivenOption[];
  readonly repo: RepoSource | undefined;
  readonly setup: readonly string[];
  readonly furnish: Furnish | undefined;
}

async function make(
  daemon: Pick<Base, 'having'>,
  backend: Backend,
  making: Making,
  call: Call,
): Promise<void> {
  let output = '';
  const progress: Progress = {
    step: () => undefined,
    detail: () => undefined,
    count: () => undefined,
    output: (data) => {
      output = `${output}${Buffer.from(data).toString('utf8')}`.slice(-OUTPUT_KEPT);
    },
    fail: () => undefined,
    note: () => undefined,
  };
  try {
    await createSandbox(
      backend,
      { ...making, wait: [], waitTimeoutMs: 0, ifNotExists: false },
      { having: daemon.having, git: { env: {} }, progress },
      call,
    );
  } catch (error) {
    if (!(error instanceof SbxError) || error.code === 'bug') throw error;
    if (error.code === 'conflict') throw new HttpRefusal(409, error.message);
    if (error.code === 'usage' || error.code === 'unsupported') throw new HttpRefusal(400, error.message);
    const said = output.trim() === '' ? '' : `: ${output.trim()}`;
    throw new HttpRefusal(422, `sandbox provisioning failed: ${error.message}${said}`);
  }
}
