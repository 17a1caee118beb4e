/** The names that exposed ports go by: `ID-PORT.DOMAIN`, an origin of its own for each. */
import { isLoopback, type ServeSettings } from '../settings.ts';

type Names = Pick<ServeSettings, 'previewListen' | 'allowedHosts'>;

/** What is asked for by a Host header. */
export interface PreviewTarget {
  /** The sandbox's id. */
  readonly id: string;
  readonly port: number;
}

/** Browsers take every name below it for this machine. */
const LOCAL = 'localhost';

/** The URL of an exposed port, when the preview server listens on `serverPort`. */
export function previewUrl({ id, port }: PreviewTarget, serverPort: number, names: Names): string {
  const { previewListen, allowedHosts } = names;
  const domain = isLoopback(previewListen.host) ? LOCAL : (allowedHosts[0]?.toLowerCase() ?? LOCAL);
  return `http://${id}-${port}.${domain}:${serverPort}`;
}

/**
 * What a Host header asks for. Only below known domains: a page whose own name leads here (DNS rebinding) would be of the
 * same origin as what it reads.
 */
export function previewTarget(
  host: string,
  { allowedHosts }: Pick<Names, 'allowedHosts'>,
): PreviewTarget | undefined {
  const [, id, digits, domain] =
    /^([a-z0-9]+)-(\d{1,5})\.([a-z0-9.-]+?)(?::\d+)?$/.exec(host.toLowerCase()) ?? [];
  const domains = [LOCAL, ...allowedHosts.map((name) => name.toLowerCase())];
  if (id === undefined || domain === undefined || !domains.includes(domain)) return undefined;
  return { id, port: Number(digits) };
}
