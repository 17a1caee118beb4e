/** How sandboxes look: a line each in a list, or everything known of one. Pure. */
import type { SandboxInfo, SandboxState } from '../backend/contract.ts';
import { ageOf } from '../util/duration.ts';
import { formatSize } from '../util/size.ts';
import type { Style } from './color.ts';
import type { View } from './output.ts';
import { visible } from './text.ts';

/** How each state is coloured. */
export const STATE_STYLES: Readonly<Record<SandboxState, Style>> = {
  creating: 'yellow',
  running: 'green',
  paused: 'yellow',
  stopped: 'dim',
  failed: 'red',
};

/** A sandbox as a line. */
export const sandboxView: View<SandboxInfo> = {
  name: ({ name }) => name,
  columns: [
    { header: 'NAME', value: ({ name }) => name, whole: true },
    { header: 'BACKEND', value: ({ backend }) => backend },
    { header: 'STATE', value: ({ state }) => state, style: ({ state }) => STATE_STYLES[state] },
    { header: 'AGE', value: ({ createdAt }, now) => ageOf(createdAt, now) },
    { header: 'IMAGE', value: ({ image, snapshot }) => image ?? snapshot },
    { header: 'PORTS', value: portsText },
    { header: 'ID', value: ({ id }) => id, wide: true },
    { header: 'URLS', value: urlsText, wide: true },
    { header: 'EXPIRES', value: ({ expiresAt }) => expiresAt, wide: true },
    { header: 'LABELS', value: labelsText, wide: true },
    { header: 'REASON', value: ({ reason }) => reason, wide: true },
  ],
};

/** Everything known of a sandbox, a fact a line; unknown facts have no line. */
export function sandboxDetails(info: SandboxInfo, now: Date): string {
  const { limits } = info;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['name', info.name],
    ['id', info.id],
    ['backend', info.backend],
    ['state', info.state],
    ['reason', info.reason],
    ['created', when(info.createdAt, now)],
    ['started', info.startedAt === undefined ? undefined : when(info.startedAt, now)],
    ['expires', info.expiresAt],
    ['image', info.image],
    ['snapshot', info.snapshot],
    ['isolation', info.isolation],
    ['network', info.network],
    ['ports', portsText(info)],
    ['urls', urlsText(info)],
    ['volumes', volumesText(info)],
    ['runtime', info.runtime],
    ['cpus', limits?.cpus?.toString()],
    ['memory', limits?.memory === undefined ? undefined : formatSize(limits.memory)],
    ['pids', limits?.pids?.toString()],
    ['disk', limits?.disk === undefined ? undefined : formatSize(limits.disk)],
    ['workdir', info.workdir],
    ['user', info.user],
    ['command', info.command === undefined ? undefined : JSON.stringify(info.command)],
    ['labels', labelsText(info)],
  ];
  const known = facts.filter((fact): fact is readonly [string, string] => fact[1] !== undefined);
  const width = Math.max(...known.map(([label]) => label.length)) + 1;
  return known.map(([label, value]) => `${`${label}:`.padEnd(width)} ${visible(value)}\n`).join('');
}

function when(time: string, now: Date): string {
  const age = ageOf(time, now);
  return age === undefined ? time : `${time} (${age} ago)`;
}

function portsText({ ports }: SandboxInfo): string | undefined {
  return ports === undefined || ports.length === 0 ? undefined : ports.map(({ port }) => port).join(',');
}

/** Where the ports can be reached from here. */
function urlsText({ ports = [] }: SandboxInfo): string | undefined {
  const urls = ports.flatMap(({ url }) => url ?? []);
  return urls.length === 0 ? undefined : urls.join(',');
}

function volumesText({ volumes = [] }: SandboxInfo): string | undefined {
  const all = volumes.map(({ source, target, readOnly }) => `${source}:${target}${readOnly ? ':ro' : ''}`);
  return all.length === 0 ? undefined : all.join(',');
}

function labelsText({ labels }: SandboxInfo): string | undefined {
  const all = Object.entries(labels).map(([key, value]) => (value === '' ? key : `${key}=${value}`));
  return all.length === 0 ? undefined : all.join(',');
}
