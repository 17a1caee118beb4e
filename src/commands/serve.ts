import { readFile } from 'node:fs/promises';
import { duration, Flags, size } from '../lib/cli/flags.ts';
import { SbxCommand } from '../lib/cli/sbx-command.ts';
import { SbxError } from '../lib/errors.ts';
import type { ListenAddress, ServeSettings } from '../lib/server/settings.ts';
import { visible } from '../lib/ui/text.ts';

const MEGABYTE = 1024 * 1024;

/** The daemon: the sandboxes of this machine, over HTTP. */
export default class Serve extends SbxCommand<typeof Serve> {
  static summary = 'serve the sandboxes of this machine over HTTP, until Ctrl-C';
  static description =
    'Speaks the hotcell API, described at /openapi.json. Requests are logged on stderr, one JSON object a line. Sandboxes and their ' +
    'processes outlive it, and are found again by the next one.\n\nWithout an API key it listens on this machine alone. ' +
    'The key comes from $SBX_API_KEY or a file, never from the command line.\n\nSandboxes reach model providers through its ' +
    'egress gateway, with tokens instead of keys. Their keys are taken from its environment: $OPENAI_API_KEY, $ANTHROPIC_API_KEY, ' +
    '$OPENROUTER_API_KEY, $GOOGLE_API_KEY, $GEMINI_API_KEY, and those that the file of providers names.';
  static examples = [
    '<%= config.bin %> serve',
    '<%= config.bin %> serve --listen 0.0.0.0:4750 --api-key-file key --tls-cert cert.pem --tls-key key.pem',
    '<%= config.bin %> serve --backend docker --image debian --sleep-after 15m',
    '<%= config.bin %> serve --egress-enforce --egress-allow pypi.org --egress-allow "*.debian.org"',
  ];
  static flags = {
    listen: Flags.string({
      completes: 'none',
      default: '127.0.0.1:4750',
      helpValue: '<address:port>',
      summary: 'where to listen; port 0 takes any free one',
    }),
    'preview-listen': Flags.string({
      completes: 'none',
      default: '127.0.0.1:4751',
      helpValue: '<address:port>',
      summary: 'where exposed ports are seen, as http://SANDBOX-PORT.localhost:4751',
    }),
    'api-key-file': Flags.string({
      completes: 'file',
      helpValue: '<file>',
      summary: 'file with the API key, instead of $SBX_API_KEY',
    }),
    'tls-cert': Flags.string({
      completes: 'file',
      helpValue: '<file>',
      summary: 'certificate chain, PEM',
      dependsOn: ['tls-key'],
    }),
    'tls-key': Flags.string({
      completes: 'file',
      helpValue: '<file>',
      summary: 'private key, PEM',
      dependsOn: ['tls-cert'],
    }),
    'allow-host': Flags.string({
      multiple: true,
      completes: 'none',
      helpValue: '<name>',
      summary: 'another name that this server is called by; may be repeated, or several with commas',
    }),
    image: Flags.string({
      completes: 'none',
      helpValue: '<image>',
      summary: 'image of sandboxes that name none',
    }),
    memory: size({ summary: 'memory of sandboxes that name none' }),
    cpus: Flags.string({
      completes: 'none',
      helpValue: '<n>',
      summary: 'CPUs of sandboxes that name none',
    }),
    pids: Flags.string({
      completes: 'none',
      helpValue: '<n>',
      summary: 'most processes of sandboxes that name none',
    }),
    'sleep-after': duration({ summary: 'pause sandboxes that nobody uses for so long; any use wakes them' }),
    'memory-budget': size({ summary: 'refuse sandboxes that would need more memory than this in all' }),
    'cost-cpu-hour': Flags.string({
      completes: 'none',
      default: '0.05',
      helpValue: '<dollars>',
      summary: 'what an hour of a CPU costs, in reports of cost',
    }),
    'cost-memory-gb-hour': Flags.string({
      completes: 'none',
      default: '0.01',
      helpValue: '<dollars>',
      summary: 'what a gigabyte of memory costs an hour',
    }),
    'cost-egress-gb': Flags.string({
      completes: 'none',
      default: '0.1',
      helpValue: '<dollars>',
      summary: 'what a gigabyte sent costs',
    }),
    'otlp-endpoint': Flags.string({
      completes: 'none',
      env: 'OTEL_EXPORTER_OTLP_ENDPOINT',
      helpValue: '<url>',
      summary: 'send a span of each request there, by OTLP over HTTP',
    }),
    'body-limit': size({ summary: 'largest JSON body of a request; default 32m' }),
    'egress-listen': Flags.string({
      completes: 'none',
      default: '127.0.0.1:4752',
      helpValue: '<address:port>',
      summary: 'where the egress gateway listens, which has the keys of model providers',
    }),
    'egress-advertise': Flags.string({
      completes: 'none',
      helpValue: '<host>',
      summary: 'where sandboxes of other backends than local find the gateway',
    }),
    'egress-providers': Flags.string({
      completes: 'file',
      helpValue: '<file>',
      summary: 'further providers: [{"name", "baseUrl", "keyEnv"}]',
    }),
    'egress-prices': Flags.string({
      completes: 'file',
      helpValue: '<file>',
      summary: 'prices of models: {"model": {"input", "output"}}, dollars a million tokens',
    }),
    'egress-spend-cap': Flags.string({
      completes: 'none',
      helpValue: '<dollars>',
      summary: 'most that a sandbox may spend at the gateway',
    }),
    'egress-enforce': Flags.boolean({
      summary: 'give sandboxes no way out but the gateway, which is then their proxy',
    }),
    'egress-network': Flags.string({
      completes: 'none',
      helpValue: '<name>',
      summary:
        'network of containers that must go through the gateway, made with docker network create --internal',
      dependsOn: ['egress-enforce'],
    }),
    'egress-allow': Flags.string({
      multiple: true,
      completes: 'none',
      helpValue: '<host>',
      summary:
        'where the proxy goes to: a name, *.name, address or *; may be repeated, or several with commas',
      dependsOn: ['egress-enforce'],
    }),
  };

  async run(): Promise<undefined> {
    const { context } = this;
    const [{ serve }, backends, settings] = await Promise.all([
      import('../lib/server/serve.ts'),
      context.backends(),
      this.#settings(),
    ]);
    const stop = Promise.withResolvers<void>();
    using _ = context.signals.takeOver(() => stop.resolve());
    const serving = await serve({
      settings,
      backends,
      folder: `${context.paths.state}/serve`,
      handle: handedOver(context.env, process.pid),
      now: () => context.clock.now(),
      notice: (line) => context.logger.warn(visible(line)),
      log: (line) => context.logger.info(line),
    });
    context.logger.info(`serving at ${serving.url}`);
    await stop.promise;
    context.logger.info('stopping');
    await serving.close();
    return undefined;
  }

  async #settings(): Promise<ServeSettings> {
    const { flags, context } = this;
    const backends = await context.backends();
    const driver = backends.default();
    const { image: configured } = backends.describe(driver).settings;
    const drivers = backends.names().filter((name) => backends.describe(name).type !== 'daemon');
    if (!drivers.includes(driver)) {
      throw new SbxError('usage', `backend '${driver}' is a server itself`, {
        hint: 'name one that it shall serve: sbx serve --backend local',
      });
    }
    const key =
      flags['api-key-file'] === undefined ? context.env.SBX_API_KEY : await secretFrom(flags['api-key-file']);
    return {
      listen: parseListen(flags.listen, '--listen'),
      previewListen: parseListen(flags['preview-listen'], '--preview-listen'),
      apiKey: key === '' ? undefined : key,
      allowedHosts: listed(flags['allow-host']),
      tls: await this.#tls(),
      bodyLimit: flags['body-limit'] ?? 32 * MEGABYTE,
      driver,
      drivers,
      image: flags.image ?? (typeof configured === 'string' ? configured : undefined),
      limits: {
        memoryMb: (flags.memory ?? 0) / MEGABYTE,
        cpus: parseAmount(flags.cpus, '--cpus'),
        pidsLimit: parseAmount(flags.pids, '--pids'),
      },
      sleepAfterMs: flags['sleep-after'] ?? 0,
      cost: {
        cpuPerHour: parseAmount(flags['cost-cpu-hour'], '--cost-cpu-hour'),
        memGbPerHour: parseAmount(flags['cost-memory-gb-hour'], '--cost-memory-gb-hour'),
        egressPerGb: parseAmount(flags['cost-egress-gb'], '--cost-egress-gb'),
      },
      egress: await this.#egress(),
      memoryBudgetMb: (flags['memory-budget'] ?? 0) / MEGABYTE,
      otlpEndpoint: flags['otlp-endpoint'] || undefined,
    };
  }

  async #egress(): Promise<ServeSettings['egress']> {
    const { flags, context } = this;
    const { egressSettings } = await import('../lib/server/egress/settings.ts');
    const textAt = (path: string | undefined) => (path === undefined ? undefined : textOf(path));
    return egressSettings({
      listen: parseListen(flags['egress-listen'], '--egress-listen'),
      advertise: flags['egress-advertise'],
      providers: await textAt(flags['egress-providers']),
      prices: await textAt(flags['egress-prices']),
      enforce: flags['egress-enforce'],
      network: flags['egress-network'],
      allow: listed(flags['egress-allow']),
      spendCapUsd: parseAmount(flags['egress-spend-cap'], '--egress-spend-cap'),
      env: context.env,
    });
  }

  async #tls(): Promise<ServeSettings['tls']> {
    const { 'tls-cert': cert, 'tls-key': key } = this.flags;
    if (cert === undefined || key === undefined) return undefined;
    return { cert: await textOf(cert), key: await textOf(key) };
  }
}

/** `ADDRESS:PORT`, `[ADDRESS]:PORT`, or a port on loopback. */
function parseListen(text: string, flag: string): ListenAddress {
  const [, host = '127.0.0.1', digits = ''] = /^(?:(.+):)?(\d{1,5})$/.exec(text) ?? [];
  const port = Number(digits);
  if (digits === '' || port > 65_535) {
    throw new SbxError('usage', `${flag} ${JSON.stringify(text)} is no address and port`, {
      hint: `${flag} 127.0.0.1:0`,
    });
  }
  return { host: host.replace(/^\[(.*)\]$/, '$1'), port };
}

/** A variable has one value, and has to hold several. */
function listed(values: readonly string[] = []): string[] {
  return values
    .flatMap((value) => value.split(','))
    .map((name) => name.trim())
    .filter((name) => name !== '');
}

function parseAmount(text = '0', flag: string): number {
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text);
  throw new SbxError('usage', `${flag} ${JSON.stringify(text)} is no number`);
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (cause) {
    throw new SbxError('failed', `cannot read ${path}: ${(cause as Error).message}`, { cause });
  }
}

/** An empty file would leave the server open to everybody. */
async function secretFrom(path: string): Promise<string> {
  const secret = (await textOf(path)).trim();
  if (secret !== '') return secret;
  throw new SbxError('usage', `there is no API key in ${path}`, { hint: `openssl rand -hex 32 > ${path}` });
}

/** The socket that systemd listens on for us: descriptor 3. sd_listen_fds(3). @throws SbxError `usage` for several */
function handedOver(
  env: Readonly<Record<string, string | undefined>>,
  pid: number,
): { readonly fd: number } | undefined {
  const { LISTEN_PID, LISTEN_FDS } = env;
  if (LISTEN_PID !== String(pid) || LISTEN_FDS === undefined) return undefined;
  if (LISTEN_FDS === '1') return { fd: 3 };
  throw new SbxError('usage', `${LISTEN_FDS} sockets were handed over, and one is taken: that of --listen`, {
    hint: 'one ListenStream= in one socket unit',
  });
}
