import { SbxError } from '../errors.ts';
import type { Backend, BackendCapabilities, CreateOption, Sandbox, SandboxCapabilities } from './contract.ts';
import type { CapabilityName, Manifest } from './manifest.ts';

/** Types whose manifests have `capability`; injected so that this file loads no backend. */
export type CapabilityIndex = (capability: CapabilityName) => readonly string[];

/**
 * The operations of a sandbox's capability, or an `unsupported` error that names the backend types that have it.
 */
export function need<K extends keyof SandboxCapabilities>(
  sandbox: Sandbox,
  capability: K,
  having: CapabilityIndex,
): NonNullable<SandboxCapabilities[K]> {
  const found = sandbox.can[capability];
  if (found !== undefined) return found as NonNullable<SandboxCapabilities[K]>;
  if (sandbox.limitation === undefined) throw unsupported(capability, sandbox.backend, having);
  throw new SbxError(
    'unsupported',
    `sandbox '${sandbox.name}' does not support ${capability}: ${sandbox.limitation}`,
    { backend: sandbox.backend, hint: 'make one that does: sbx create' },
  );
}

/** Like {@link need} for a capability of the whole backend. */
export function needOfBackend<K extends keyof BackendCapabilities>(
  backend: Backend,
  capability: K,
  having: CapabilityIndex,
): NonNullable<BackendCapabilities[K]> {
  const found = backend.can[capability];
  if (found !== undefined) return found as NonNullable<BackendCapabilities[K]>;
  throw unsupported(capability, backend.name, having);
}

/** What a user asked `create` for: the option of the contract, and the words they used for it, such as `--image`. */
export interface GivenOption {
  readonly option: CreateOption;
  readonly as: string;
}

/** Refuses, by the user's own words, options of `create` that the backend would ignore. */
export function refuseIgnoredOptions(
  manifest: Manifest,
  backend: string,
  given: readonly GivenOption[],
): void {
  const honoured = new Set<string>(manifest.createOptions);
  const ignored = given.filter(
    ({ option }) => !honoured.has(option) && !honoured.has(option.split('.', 1)[0] ?? ''),
  );
  if (ignored.length === 0) return;
  const names = [...new Set(ignored.map((each) => each.as))].join(', ');
  throw new SbxError('unsupported', `backend '${backend}' (${manifest.type}) cannot honour ${names}`, {
    backend,
    hint: 'leave it out, or see what each backend can do: sbx capabilities',
  });
}

function unsupported(capability: CapabilityName, backend: string, having: CapabilityIndex): SbxError {
  const others = having(capability);
  return new SbxError('unsupported', `backend '${backend}' does not support ${capability}`, {
    backend,
    hint:
      others.length > 0
        ? `backends that do: ${others.join(', ')}`
        : 'no backend type has it yet: sbx capabilities',
  });
}

/** Throws the `unsupported` error before a sandbox is made, where the manifest says that it could not do `capability`. */
export function refuseMissing(backend: Backend, capability: CapabilityName, having: CapabilityIndex): void {
  if (backend.manifest.capabilities[capability] === undefined)
    throw unsupported(capability, backend.name, having);
}
