/** The variables by which programs in a sandbox find the gateway, without knowing of it. */
import Type from 'typebox';
import type { ProviderAccess } from '../../backend/contract.ts';
import type { Provider } from './providers.ts';

/** Where the gateway is, as a sandbox sees it. */
export interface GatewayAddress {
  readonly host: string;
  readonly port: number;
}

export const providerAccess = Type.Object({
  name: Type.String(),
  baseUrl: Type.String(),
  baseUrlEnv: Type.String(),
  keyEnv: Type.String(),
});

export function accessTo(providers: readonly Provider[], address: GatewayAddress): ProviderAccess[] {
  return providers.map(({ name }) => {
    const word = name.toUpperCase().replace(/[^A-Z0-9]/g, '_');
    return {
      name,
      baseUrl: `http://${authority(address)}/${name}`,
      baseUrlEnv: `${word}_BASE_URL`,
      keyEnv: `${word}_API_KEY`,
    };
  });
}

type Variables = Readonly<Record<string, string>>;

/** The token stands in for the key of each provider. */
export function providerVariables(access: readonly ProviderAccess[], token: string): Variables {
  return Object.fromEntries(
    access.flatMap(({ baseUrl, baseUrlEnv, keyEnv }) => [
      [baseUrlEnv, baseUrl],
      [keyEnv, token],
    ]),
  );
}

/** Not for the gateway itself and the sandbox's own loopback. Some programs read one spelling, some the other. */
export function proxyVariables(address: GatewayAddress, token: string): Variables {
  // Many clients send no credentials where the password is empty.
  const proxy = `http://${token}:${token}@${authority(address)}`;
  const direct = `localhost,127.0.0.1,${address.host}`;
  return {
    HTTP_PROXY: proxy,
    HTTPS_PROXY: proxy,
    http_proxy: proxy,
    https_proxy: proxy,
    NO_PROXY: direct,
    no_proxy: direct,
  };
}

/** An environment without the variables that hold one of these tokens, and those that go with them. */
export function withoutTokens(
  env: Variables,
  tokens: readonly string[],
  access: readonly ProviderAccess[],
): Variables {
  const gone = new Set(Object.keys(env).filter((name) => tokens.some((token) => env[name]?.includes(token))));
  for (const { baseUrlEnv, keyEnv } of access) if (gone.has(keyEnv)) gone.add(baseUrlEnv);
  if (gone.has('HTTP_PROXY')) for (const name of ['NO_PROXY', 'no_proxy']) gone.add(name);
  return Object.fromEntries(Object.entries(env).filter(([name]) => !gone.has(name)));
}

const authority = ({ host, port }: GatewayAddress) => `${host.includes(':') ? `[${host}]` : host}:${port}`;
