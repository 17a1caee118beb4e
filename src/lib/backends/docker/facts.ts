/**
 * What sbx knows of a sandbox beyond what the engine does, kept in labels of the container: they cannot be changed,
 * go away with it and come along in one listing. Whoever may use the engine may write them, so they are checked.
 */
import type { Limits } from '../../backend/contract.ts';

/** The id of a sandbox. Our containers are those that have it. */
export const ID_LABEL = 'sbx.sandbox';
/** {@link Facts} as JSON. */
export const FACTS_LABEL = 'sbx.facts';
/** On images: {@link SnapshotFacts} as JSON. */
export const SNAPSHOT_LABEL = 'sbx.snapshot';
/** On the image that a fork starts from, which goes with its last container. */
export const FORK_LABEL = 'sbx.fork';
/** Labels that begin so are ours. */
export const OWN_PREFIX = 'sbx.';

/** What create was told, and what followed from it. */
export interface Facts {
  readonly createdAt: string;
  readonly expiresAt?: string | undefined;
  readonly image?: string | undefined;
  /** Id of the snapshot. */
  readonly snapshot?: string | undefined;
  /** The user's labels; the engine's own list also holds those of the image. */
  readonly labels: Readonly<Record<string, string>>;
  readonly limits: Limits;
  readonly workdir: string;
  readonly user?: string | undefined;
  readonly command?: readonly [string, ...string[]] | undefined;
  /** Names of the variables of its environment that were given, not the image's. */
  readonly env: readonly string[];
  /** Whether the container was made by a restore: it may rightly never have been started. */
  readonly restored?: boolean | undefined;
}

export interface SnapshotFacts {
  readonly name?: string | undefined;
  readonly createdAt: string;
  /** The name of the sandbox it was taken from. */
  readonly sandbox: string;
  readonly labels: Readonly<Record<string, string>>;
  /** What sandboxes made from it start with. */
  readonly facts: Pick<Facts, 'image' | 'workdir' | 'user' | 'env'>;
}

type Labels = Readonly<Record<string, string>> | null | undefined;

/** The sandbox's id; undefined for a container that sbx did not make. */
export function idOf(labels: Labels): string | undefined {
  const id = labels?.[ID_LABEL];
  return id !== undefined && isSandboxId(id) ? id : undefined;
}

/** Whether `text` is like the ids that we give. */
export function isSandboxId(text: string): boolean {
  return /^[0-9a-f]{12}$/.test(text);
}

/** The facts of a container of ours; undefined when they are missing or broken. */
export function factsOf(labels: Labels): Facts | undefined {
  const value = parse(labels?.[FACTS_LABEL]);
  if (value === undefined || typeof value.createdAt !== 'string' || typeof value.workdir !== 'string')
    return undefined;
  const command = strings(value.command);
  const [first, ...rest] = command ?? [];
  return {
    createdAt: value.createdAt,
    expiresAt: text(value.expiresAt),
    image: text(value.image),
    snapshot: text(value.snapshot),
    labels: textRecord(value.labels),
    limits: limitsOf(value.limits),
    workdir: value.workdir,
    user: text(value.user),
    command: first === undefined ? undefined : [first, ...rest],
    env: strings(value.env) ?? [],
    restored: value.restored === true,
  };
}

/** The facts of an image that is a snapshot. */
export function snapshotFactsOf(labels: Labels): SnapshotFacts | undefined {
  const value = parse(labels?.[SNAPSHOT_LABEL]);
  if (value === undefined || typeof value.createdAt !== 'string' || typeof value.sandbox !== 'string')
    return undefined;
  const facts = record(value.facts);
  return {
    name: text(value.name),
    createdAt: value.createdAt,
    sandbox: value.sandbox,
    labels: textRecord(value.labels),
    facts: {
      image: text(facts.image),
      workdir: text(facts.workdir) ?? '/',
      user: text(facts.user),
      env: strings(facts.env) ?? [],
    },
  };
}

/** The labels of a new container of ours: all of them, because those of its image would show through. */
export function ownLabels(id: string, facts: Facts, fork = false): Record<string, string> {
  return {
    ...facts.labels,
    [ID_LABEL]: id,
    [FACTS_LABEL]: JSON.stringify(facts),
    [SNAPSHOT_LABEL]: '',
    [FORK_LABEL]: fork ? 'copy' : '',
  };
}

function parse(json: string | undefined): Readonly<Record<string, unknown>> | undefined {
  if (json === undefined || json === '') return undefined;
  try {
    return record(JSON.parse(json));
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : {};
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function strings(value: unknown): string[] | undefined {
  return Array.isArray(value) && value.every((each) => typeof each === 'string') ? value : undefined;
}

function textRecord(value: unknown): Record<string, string> {
  const pairs = Object.entries(record(value)).filter((entry) => typeof entry[1] === 'string');
  return Object.fromEntries(pairs) as Record<string, string>;
}

function limitsOf(value: unknown): Limits {
  const pairs = Object.entries(record(value)).filter((entry) => typeof entry[1] === 'number');
  return Object.fromEntries(pairs) as Limits;
}
