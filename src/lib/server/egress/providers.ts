/** The providers that sandboxes reach through the gateway, with the keys that only the server has. */
import Type, { type Static } from 'typebox';
import { Compile } from 'typebox/compile';
import { SbxError } from '../../errors.ts';

export interface Provider {
  readonly name: string;
  /** What the path of a request goes behind. */
  readonly baseUrl: URL;
  /** Never told to anybody but the provider. Undefined: it asks for none. */
  readonly key: string | undefined;
  /** Whether `usage.cost` in its answers is in dollars. */
  readonly tellsCost: boolean;
}

interface Known {
  readonly name: string;
  readonly baseUrl: string;
  readonly keyEnv?: string;
  readonly tellsCost?: true;
}

const GOOGLE = 'https://generativelanguage.googleapis.com';

/** Base URLs as the providers' own SDKs have them. */
const KNOWN: readonly Known[] = [
  { name: 'openai', baseUrl: 'https://api.openai.com/v1', keyEnv: 'OPENAI_API_KEY' },
  { name: 'anthropic', baseUrl: 'https://api.anthropic.com', keyEnv: 'ANTHROPIC_API_KEY' },
  {
    name: 'openrouter',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyEnv: 'OPENROUTER_API_KEY',
    tellsCost: true,
  },
  { name: 'google', baseUrl: GOOGLE, keyEnv: 'GOOGLE_API_KEY' },
  { name: 'gemini', baseUrl: GOOGLE, keyEnv: 'GEMINI_API_KEY' },
];

const custom = Type.Array(
  Type.Object({
    name: Type.String({ pattern: '^[a-z0-9][a-z0-9_-]{0,31}$' }),
    baseUrl: Type.String(),
    keyEnv: Type.Optional(Type.String({ minLength: 1 })),
  }),
);
const isCustom = Compile(custom);

type Env = Readonly<Record<string, string | undefined>>;

/**
 * The known providers whose key is in the environment, and those of `file`, which go before known ones of the same name.
 * @param file the text of a JSON file, `[{"name", "baseUrl", "keyEnv"}]`.
 * @throws SbxError `usage`
 */
export function providersFrom(env: Env, file: string | undefined): Provider[] {
  const own = file === undefined ? [] : parseFile(file);
  const names = new Set(own.map(({ name }) => name));
  const known = KNOWN.filter(({ name, keyEnv }) => !names.has(name) && keyEnv !== undefined && env[keyEnv]);
  return [...known, ...own].map((each) => opened(each, env));
}

function parseFile(text: string): Static<typeof custom> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw wrongFile((cause as Error).message, cause);
  }
  if (isCustom.Check(value)) return value;
  const [first] = isCustom.Errors(value);
  throw wrongFile(`${first?.instancePath ?? ''} ${first?.message ?? ''}`.trim());
}

function wrongFile(why: string, cause?: unknown): SbxError {
  return new SbxError('usage', `the file of egress providers is not right: ${why}`, {
    hint: '[{"name": "mine", "baseUrl": "https://models.example/v1", "keyEnv": "MINE_API_KEY"}]',
    cause,
  });
}

function opened({ name, baseUrl, keyEnv, tellsCost }: Known, env: Env): Provider {
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new SbxError('usage', `the base URL of the egress provider ${name} is no http or https address`);
  const key = keyEnv === undefined ? undefined : env[keyEnv];
  if (keyEnv !== undefined && !key) {
    throw new SbxError('usage', `the egress provider ${name} needs $${keyEnv}, which is not set`, {
      hint: `${keyEnv}=… sbx serve …`,
    });
  }
  return { name, baseUrl: url, key, tellsCost: tellsCost === true };
}
