/** The docker backend against the docker command, both at the same engine: $SBX_TEST_DOCKER, which test/support/engines/docker.sh sets. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { interleave } from '../lib/measure.mjs';
import { freePort } from '../lib/world.mjs';

const IMAGE = 'sbx-test/debian';
const BOX = 'bench-docker';
const STREAM_BYTES = 1e9;
const FILE_BYTES = 2.5e8;
const SMALL_FILES = 10_000;
const LISTED = 100;

const big = `[ -e "$BENCH_TMP/big" ] || head -c ${FILE_BYTES} /dev/urandom >"$BENCH_TMP/big"`;
const tree = `[ -e "$BENCH_TMP/tree" ] || { mkdir "$BENCH_TMP/tree" && for ((n = 0; n < ${SMALL_FILES}; n++)); do head -c 4096 /dev/zero >"$BENCH_TMP/tree/$n"; done; }`;
const cleanIn = `docker exec ${BOX} rm -rf /tmp/in`;

/** @type {import('../lib/report.mjs').Row[]} */
export const dockerRows = [
  row('docker-exec', 'exec of true on docker, against docker exec', 20, {
    target: { most: 1 },
    ours: `sbx exec ${BOX} -- true`,
    theirs: `docker exec ${BOX} true`,
  }),
  row('docker-stdout', 'stdout of exec on docker, against docker exec', 5, {
    bytes: STREAM_BYTES,
    ours: `sbx exec ${BOX} -- head -c ${STREAM_BYTES} /dev/zero | cat >/dev/null`,
    theirs: `docker exec ${BOX} head -c ${STREAM_BYTES} /dev/zero | cat >/dev/null`,
  }),
  row('docker-stdin', 'stdin of exec on docker, against docker exec', 5, {
    bytes: STREAM_BYTES,
    ours: `head -c ${STREAM_BYTES} /dev/zero | sbx exec -i ${BOX} -- sh -c 'cat >/dev/null'`,
    theirs: `head -c ${STREAM_BYTES} /dev/zero | docker exec -i ${BOX} sh -c 'cat >/dev/null'`,
  }),
  row('docker-cp-in', 'cp of one file into a sandbox on docker, against docker cp', 5, {
    ...{ bytes: FILE_BYTES, before: big, after: cleanIn },
    ours: `sbx cp "$BENCH_TMP/big" ${BOX}:/tmp/in`,
    theirs: `docker cp "$BENCH_TMP/big" ${BOX}:/tmp/in`,
  }),
  row('docker-cp-out', 'cp of one file out of a sandbox on docker, against docker cp', 5, {
    bytes: FILE_BYTES,
    before: `docker exec ${BOX} sh -c '[ -e /tmp/out ] || head -c ${FILE_BYTES} /dev/urandom >/tmp/out'`,
    after: 'rm -rf "$BENCH_TMP/to"/*',
    ours: `sbx cp ${BOX}:/tmp/out "$BENCH_TMP/to/file"`,
    theirs: `docker cp ${BOX}:/tmp/out "$BENCH_TMP/to/file"`,
  }),
  row('docker-cp-tree', `cp of ${SMALL_FILES} small files into a sandbox on docker, against docker cp`, 5, {
    ...{ bytes: SMALL_FILES * 4096, before: tree, after: cleanIn },
    ours: `sbx cp "$BENCH_TMP/tree" ${BOX}:/tmp/in`,
    theirs: `docker cp "$BENCH_TMP/tree" ${BOX}:/tmp/in`,
  }),
  row(
    'docker-cp-tree-out',
    `cp of ${SMALL_FILES} small files out of a sandbox on docker, against docker cp`,
    5,
    {
      bytes: SMALL_FILES * 4096,
      before: `${tree}; docker exec ${BOX} test -e /tmp/tree || docker cp "$BENCH_TMP/tree" ${BOX}:/tmp/tree`,
      after: 'rm -rf "$BENCH_TMP/to"/*',
      ours: `sbx cp ${BOX}:/tmp/tree "$BENCH_TMP/to/tree"`,
      theirs: `docker cp ${BOX}:/tmp/tree "$BENCH_TMP/to/tree"`,
    },
  ),
  row('docker-cp-start', 'cp of one small file into a sandbox on docker, against docker cp', 20, {
    ours: `sbx cp /etc/hostname ${BOX}:/tmp/in`,
    theirs: `docker cp /etc/hostname ${BOX}:/tmp/in`,
  }),
  row('docker-run', 'run -- true of the local backend, against docker run --rm', 10, {
    ours: 'sbx run --backend local --network private -- true',
    theirs: `docker run --rm ${IMAGE} true`,
  }),
  row('docker-run-docker', 'run -- true of the docker backend, against docker run --rm', 10, {
    ours: `sbx run --image ${IMAGE} -- true`,
    theirs: `docker run --rm ${IMAGE} true`,
  }),
  {
    id: 'docker-ls',
    title: `ls of ${LISTED} sandboxes on docker, against docker ps`,
    kind: 'time',
    target: { most: 1 },
    measure: (world) => onEngine(world, () => measureList(world)),
  },
  {
    id: 'docker-forward',
    title: 'forward of one stream to a sandbox on docker, against socat to its address',
    kind: 'rate',
    target: { least: 1 },
    bytes: STREAM_BYTES,
    measure: (world) => onEngine(world, () => measureForward(world)),
  },
];

/** @returns {import('../lib/report.mjs').Row} */
function row(id, title, rounds, { bytes, target, before, after, ours, theirs }) {
  const isRate = bytes !== undefined;
  return {
    ...{ id, title, bytes, kind: isRate ? 'rate' : 'time' },
    target: target ?? (isRate ? { least: 1 } : undefined),
    measure: (world) =>
      onEngine(world, async () => {
        const peers = [ours, theirs].map((run) => ({ before, run, after }));
        return { commands: [ours, theirs], figures: await interleave(world, peers, rounds * world.rounds) };
      }),
  };
}

/** `measure` with the docker backend as the default and a sandbox on it; a note where there is no engine. */
async function onEngine(world, measure) {
  const host = process.env.SBX_TEST_DOCKER;
  if (host === undefined) return { note: 'no engine: test/support/engines/docker.sh WORK npm run bench' };
  if (spawnSync('docker', ['--version']).status !== 0) return { note: 'no docker command' };
  mkdirSync(join(world.tmp, 'to'), { recursive: true });
  // Of the rows here alone: the others measure the default backend.
  const old = { ...world.env };
  Object.assign(world.env, { DOCKER_HOST: host, SBX_CONFIG_DIR: join(world.tmp, 'config-docker') });
  try {
    const known = await world.sbx(['backend', 'ls', '--json']);
    if (!known.includes('"engine"'))
      await world.sbx(['backend', 'add', 'engine', '--type', 'docker', '--use']);
    await world.sbx(['create', BOX, '--image', IMAGE, '--network', 'private']);
    return await measure();
  } finally {
    await world.sbx(['rm', '--all', '--force', '--yes']);
    for (const name of Object.keys(world.env)) delete world.env[name];
    Object.assign(world.env, old);
  }
}

async function measureList(world) {
  for (let n = 1; n < LISTED; n++)
    await world.sbx(['create', `bench-${n}`, '--image', IMAGE, '--network', 'none']);
  const commands = ['sbx ls', 'docker ps'];
  const peers = commands.map((run) => ({ run }));
  return { commands, figures: await interleave(world, peers, 15 * world.rounds) };
}

/** Debian has no server of a stream but perl's; it costs both the same. */
const SOURCE = [
  'use Socket; socket(S,PF_INET,SOCK_STREAM,0); setsockopt(S,SOL_SOCKET,SO_REUSEADDR,1);',
  'bind(S,sockaddr_in(7000,INADDR_ANY)); listen(S,16); print "listening\\n"; $|=1; $SIG{CHLD}="IGNORE"; $SIG{PIPE}="DEFAULT";',
  'my $b="\\0"x262144; while(accept(C,S)){ if(!fork){ while(defined syswrite(C,$b)){} exit } close C }',
].join(' ');

async function measureForward(world) {
  const address = execFileSync(
    'docker',
    ['inspect', '--format', '{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}', BOX],
    { env: world.env, encoding: 'utf8' },
  ).trim();
  const ports = [await freePort(), await freePort()];
  await world.background(['docker', 'exec', BOX, 'perl', '-e', `$|=1; ${SOURCE}`], /listening/);
  const ours = ['forward', BOX, `${ports[0]}:7000`];
  await world.background([process.execPath, world.env.SBX_ENTRY, ...ours], /./);
  const socat = `socat -d -d TCP-LISTEN:${ports[1]},bind=127.0.0.1,reuseaddr,fork TCP:${address}:7000`;
  await world.background(socat.split(' '), /listening on/);
  const peers = ports.map((port) => ({
    run: `head -c ${STREAM_BYTES} </dev/tcp/127.0.0.1/${port} >/dev/null`,
  }));
  return {
    commands: [`sbx ${ours.join(' ')}`, socat],
    figures: await interleave(world, peers, 5 * world.rounds),
  };
}
