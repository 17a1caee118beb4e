/** The command line of a forward in the background. Pure. */
import type { Sandbox } from '../../backend/contract.ts';
import type { PlannedForward } from './plan.ts';

/** The words that make another sbx run this forward and keep its record under `id`. */
export function backgroundArgs(
  { backend, id: sandbox }: Pick<Sandbox, 'backend' | 'id'>,
  { plan, specs }: PlannedForward,
  id: string,
): string[] {
  return [
    'forward',
    '--background-id',
    id,
    '--no-input',
    ...(plan.reverse ? ['--reverse'] : []),
    ...(plan.all ? ['--all'] : []),
    ...(plan.address === undefined ? [] : ['--address', plan.address]),
    ...plan.unix.flatMap(({ path, remote }) => ['--unix', `${path}:${remote}`]),
    `${backend}/${sandbox}`,
    ...specs,
  ];
}

/** Flags that are about this command alone and must not reach the other one through its environment. */
const OWN = [
  'JSON',
  'OUTPUT',
  'QUIET',
  'DEBUG',
  'BACKEND',
  'BACKGROUND',
  'REVERSE',
  'ALL',
  'ADDRESS',
  'UNIX',
];

/** The environment for it. */
export function backgroundEnv(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string | undefined> {
  return { ...env, ...Object.fromEntries(OWN.map((name) => [`SBX_${name}`, undefined])) };
}
