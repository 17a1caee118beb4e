/** Requests to a server with the settings of tests. */
import type { Serving } from '../../../../src/lib/server/serve.ts';
import { testSettings } from '../../../conformance/serving.ts';

/** What is told of a new sandbox. */
export interface Box {
  readonly id: string;
  readonly env: Readonly<Record<string, string>>;
}

/** The answer of a route, which has to succeed. */
export async function ask<T>({ url }: Serving, target: string, body?: object): Promise<T> {
  const [method = '', path = ''] = target.split(' ');
  const answer = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${testSettings.apiKey}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const said = await answer.text();
  if (!answer.ok) throw new Error(`${answer.status} ${said}`);
  return JSON.parse(said) as T;
}

/** What a command prints. */
export async function say({ url }: Serving, id: string, command: string): Promise<string> {
  const answer = await fetch(`${url}/sandboxes/${id}/exec`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testSettings.apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ command }),
  });
  const events = (await answer.text())
    .split('\n\n')
    .filter((event) => event !== '')
    .map((event) => JSON.parse(event.replace(/^data: /, '')) as { type: string; data?: string });
  return events
    .filter(({ type }) => type === 'stdout' || type === 'stderr')
    .map(({ data }) => data)
    .join('');
}
