/** Volumes as the engine writes them: `SOURCE:TARGET` or `SOURCE:TARGET:MODES`. Docker Engine API, "HostConfig", Binds. */
import type { Volume } from '../../backend/contract.ts';
import { INSIDE } from './pipes.ts';

/** A volume for the engine. */
export function bindOf({ source, target, readOnly }: Volume): string {
  return `${source}:${target}${readOnly === true ? ':ro' : ''}`;
}

/** The volumes of a container, without the mount of pipes.ts, of which Podman tells here; of the modes only `ro` is known. */
export function volumesOf(binds: readonly string[] | null | undefined): Volume[] {
  return (binds ?? []).flatMap((bind) => {
    const [source, target, modes = ''] = bind.split(':');
    if (source === undefined || target === undefined || target === INSIDE) return [];
    return [{ source, target, readOnly: modes.split(',').includes('ro') }];
  });
}
