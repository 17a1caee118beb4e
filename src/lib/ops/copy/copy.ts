/** `sbx cp`: copies trees between this machine, sandboxes and tar streams, complete or not at all. */
import type { Readable, Writable } from 'node:stream';
import type { Call, Sandbox } from '../../backend/contract.ts';
import type { CapabilityIndex } from '../../backend/need.ts';
import { SbxError } from '../../errors.ts';
import {
  type DestinationEnd,
  localDestination,
  localSource,
  type ReadOptions,
  type SourceEnd,
  sandboxDestination,
  sandboxSource,
  streamDestination,
  streamSource,
} from './ends.ts';
import { type GateOptions, gate } from './gate.ts';
import { type Place, parsePlace, type Target, targetOf } from './place.ts';
import type { Tree } from './tree.ts';

/** What a copy needs of the world. */
export interface CopyWorld {
  resolve(ref: string | undefined): Promise<Sandbox>;
  readonly having: CapabilityIndex;
  /** The tar that `-` reads. */
  input(): Readable;
  /** Where `-` writes. */
  output(): Writable;
  /** Milliseconds that only grow. */
  monotonic(): number;
  onProgress?(progress: CopyProgress): void;
}

export interface CopyRequest {
  readonly sources: readonly string[];
  readonly destination: string;
  /** Patterns of a .gitignore, matched below each source. */
  readonly exclude: readonly string[];
  readonly gitignore: boolean;
  /** Follow symlinks that are sources themselves. */
  readonly follow: boolean;
  /** Keep owners and special mode bits. */
  readonly archive: boolean;
  /** Put symlinks that point out of the tree on this machine all the same. */
  readonly outwardLinks: boolean;
}

/** How far a copy is. */
export interface CopyProgress {
  readonly files: number;
  readonly bytes: number;
}

/** What was copied: everything but directories counts as a file. */
export interface CopyResult extends CopyProgress {
  readonly durationMs: number;
}

/**
 * Copies. Nothing is put in place before all of it has arrived.
 * @throws SbxError `usage`, `not_found` for a missing source or parent, `conflict`, `unsupported`, `failed` with the reason.
 */
export async function copy(world: CopyWorld, request: CopyRequest, call: Call): Promise<CopyResult> {
  const start = world.monotonic();
  const places = request.sources.map(parsePlace);
  const end = parsePlace(request.destination);
  refuseNonsense(places, end, request);
  const fromDisk = places.every(({ kind }) => kind === 'local');
  const destination = await openDestination(world, end, request, fromDisk, call);
  const state = await destination.state();
  const sources: SourceEnd[] = [];
  const reading = { ...request, steady: end.kind === 'local' };
  for (const place of places) sources.push(await openSource(world, place, reading, call));
  const [first] = sources;
  if ((sources.length > 1 || first?.facts.shown === '-') && state !== 'directory') {
    const code = state === 'missing' ? 'not_found' : 'conflict';
    throw new SbxError(code, `'${request.destination}' is not a directory`, {
      hint: 'many sources, or a tar stream, need a directory that is there',
    });
  }
  const targets = sources.map(({ facts }) => targetOf(facts, destination.path, state));
  refuseSameName(targets);
  const toLocal = end.kind === 'local';
  const options = { outwardLinks: !toLocal || request.outwardLinks, plainModes: toLocal && !request.archive };
  const count = { files: 0, bytes: 0 };
  const parent = targets[0]?.parent ?? destination.path;
  await destination.write(parent, counted(all(sources, targets, end, options), count, world.onProgress));
  return { ...count, durationMs: Math.round(world.monotonic() - start) };
}

async function* all(
  sources: readonly SourceEnd[],
  targets: readonly Target[],
  end: Place,
  options: Omit<GateOptions, 'top' | 'links'>,
): Tree {
  const links = new Set<string>();
  for (const [at, source] of sources.entries()) {
    const given = targets[at]?.top;
    // In a stream there is nothing to put contents into but the stream itself.
    const top = end.kind === 'stream' && source.facts.contents ? undefined : given;
    yield* gate(source.read(top), { ...options, top, links });
  }
}

async function* counted(
  tree: Tree,
  count: { files: number; bytes: number },
  onProgress: CopyWorld['onProgress'],
): Tree {
  for await (const event of tree) {
    if (event.kind === 'data') count.bytes += event.data.length;
    else if (event.entry.type !== 'directory') count.files++;
    onProgress?.(count);
    yield event;
  }
}

async function openSource(
  world: CopyWorld,
  place: Place,
  options: ReadOptions,
  call: Call,
): Promise<SourceEnd> {
  switch (place.kind) {
    case 'local':
      return localSource(place.path, options, call);
    case 'sandbox':
      return sandboxSource(await world.resolve(place.ref), place.path, options, world.having, call);
    case 'stream':
      return streamSource(world.input(), options);
  }
}

async function openDestination(
  world: CopyWorld,
  place: Place,
  request: CopyRequest,
  fromDisk: boolean,
  call: Call,
): Promise<DestinationEnd> {
  switch (place.kind) {
    case 'local':
      return localDestination(place.path, request.archive, call);
    case 'sandbox':
      return sandboxDestination(
        await world.resolve(place.ref),
        place.path,
        { keepOwner: request.archive, steady: fromDisk },
        world.having,
        call,
      );
    case 'stream':
      return streamDestination(world.output(), call);
  }
}

function refuseNonsense(sources: readonly Place[], destination: Place, request: CopyRequest): void {
  const usage = (message: string, hint?: string) => new SbxError('usage', message, { hint });
  if (![...sources, destination].some((place) => place.kind === 'sandbox')) {
    throw usage(
      'one side of a copy must be in a sandbox',
      'write it as NAME:/path; a local name with a colon starts with ./',
    );
  }
  const streams = sources.filter((place) => place.kind === 'stream').length;
  if (streams > 0 && sources.length > 1) throw usage("'-' must be the only source");
  if (request.gitignore && sources.some((place) => place.kind !== 'local')) {
    throw usage(
      '--gitignore reads the .gitignore files of local sources only',
      'name what to leave out: --exclude PATTERN',
    );
  }
  if (request.follow && streams > 0) throw usage('--follow-link does nothing for a tar stream');
  if (request.outwardLinks && destination.kind !== 'local') {
    throw usage('--unsafe-links is for copies to this machine; elsewhere such links are kept');
  }
  if (request.archive && destination.kind === 'stream')
    throw usage('a tar stream keeps owners without --archive');
}

function refuseSameName(targets: readonly Target[]): void {
  const seen = new Set<string>();
  for (const { top } of targets) {
    if (top === undefined) continue;
    if (seen.has(top))
      throw new SbxError('usage', `two sources are called '${top}'`, {
        hint: 'copy them one after the other',
      });
    seen.add(top);
  }
}
