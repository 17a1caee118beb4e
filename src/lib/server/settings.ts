/** What `sbx serve` is told: checked once, never changed. */
import { SbxError } from '../errors.ts';
import type { EgressSettings } from './egress/settings.ts';

/** An address to listen on. Port 0: any free one. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

/** Certificate chain and private key, as PEM text. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

/** Caps of sandboxes that name none; 0: none. */
export interface DefaultLimits {
  readonly memoryMb: number;
  readonly cpus: number;
  readonly pidsLimit: number;
}

/** What a unit of each resource costs, in dollars. */
export interface CostRates {
  readonly cpuPerHour: number;
  readonly memGbPerHour: number;
  readonly egressPerGb: number;
}

export interface ServeSettings {
  readonly listen: ListenAddress;
  /** Where exposed ports of sandboxes are seen. */
  readonly previewListen: ListenAddress;
  /** Undefined: everybody who reaches the server may do everything; allowed on loopback only. */
  readonly apiKey: string | undefined;
  /** Names besides loopback's that a Host header may have. */
  readonly allowedHosts: readonly string[];
  readonly tls: TlsFiles | undefined;
  /** Most bytes of a JSON body. */
  readonly bodyLimit: number;
  /** The configured backend of sandboxes that name no driver. */
  readonly driver: string;
  /** Names of configured backends that sandboxes may be made on. */
  readonly drivers: readonly string[];
  /** Image of sandboxes that name none; undefined: what the backend makes of nothing. */
  readonly image: string | undefined;
  readonly limits: DefaultLimits;
  /** Milliseconds without use after which a sandbox is paused; 0: never. */
  readonly sleepAfterMs: number;
  readonly cost: CostRates;
  readonly egress: EgressSettings;
  /** Megabytes that all sandboxes may ask for together; 0: nobody counts. */
  readonly memoryBudgetMb: number;
  /** Where spans are sent to by OTLP over HTTP, without `/v1/traces`. */
  readonly otlpEndpoint: string | undefined;
}

/** Shortest key that is worth the name. */
const KEY_LENGTH = 16;

/** Refuses what would be open to everybody. @throws SbxError `usage` */
export function checkSettings(settings: ServeSettings): ServeSettings {
  const { apiKey, listen, previewListen } = settings;
  for (const { host } of [listen, previewListen]) {
    if (apiKey !== undefined || isLoopback(host)) continue;
    throw new SbxError('usage', `${host} can be reached from elsewhere, and there is no API key`, {
      hint: 'SBX_API_KEY=$(openssl rand -hex 32) sbx serve …, or --api-key-file FILE',
    });
  }
  if (apiKey !== undefined && (apiKey.length < KEY_LENGTH || !/^[\x21-\x7e]+$/.test(apiKey))) {
    throw new SbxError(
      'usage',
      `the API key must be at least ${KEY_LENGTH} visible ASCII characters without spaces`,
      { hint: 'openssl rand -hex 32' },
    );
  }
  const { otlpEndpoint } = settings;
  if (otlpEndpoint !== undefined && !/^https?:$/.test(URL.parse(otlpEndpoint)?.protocol ?? '')) {
    throw new SbxError('usage', `${JSON.stringify(otlpEndpoint)} is no http or https URL to send spans to`, {
      hint: '--otlp-endpoint http://127.0.0.1:4318',
    });
  }
  return settings;
}

/** Whether an address or name is this machine's own alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
