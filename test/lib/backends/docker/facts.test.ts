/** Labels of containers: written by sbx, and by anybody else who may use the engine. */
import { expect, test } from 'vitest';
import {
  type Facts,
  factsOf,
  idOf,
  ownLabels,
  snapshotFactsOf,
} from '../../../../src/lib/backends/docker/facts.ts';
import { listedInfo } from '../../../../src/lib/backends/docker/info.ts';
import { nameUnfinished, unfinishedName } from '../../../../src/lib/backends/docker/unfinished.ts';

const FACTS: Facts = {
  createdAt: '2026-01-02T03:04:05.678Z',
  labels: { team: 'web', odd: '\u001b[31m"\n' },
  limits: { memory: 1 },
  workdir: '/w',
  env: ['A'],
};

test('what is written is read', () => {
  const labels = ownLabels('0123456789ab', FACTS);
  expect(idOf(labels)).toBe('0123456789ab');
  expect(factsOf(labels)).toMatchObject(FACTS);
});

test.each([
  undefined,
  {},
  { 'sbx.facts': '' },
  { 'sbx.facts': '{' },
  { 'sbx.facts': '[]' },
  { 'sbx.facts': 'null' },
  { 'sbx.facts': '{"createdAt":1,"workdir":"/"}' },
])('labels %j hold no facts', (labels) => {
  expect(factsOf(labels)).toBeUndefined();
  expect(snapshotFactsOf(labels)).toBeUndefined();
});

test('members of another type are left out', () => {
  const facts = {
    createdAt: 'x',
    workdir: '/',
    user: 1,
    labels: { a: 1, b: 'c' },
    limits: { cpus: 'many' },
    command: [1],
    env: 'A',
  };
  expect(factsOf({ 'sbx.facts': JSON.stringify(facts) })).toMatchObject({
    ...{ user: undefined, labels: { b: 'c' }, limits: {}, command: undefined, env: [] },
  });
});

test.each(['', 'x', '0123456789AB', '../../etc', '0123456789abc'])('%j is no id', (id) => {
  expect(idOf({ 'sbx.sandbox': id })).toBeUndefined();
});

test('a name on its way tells what it will be', () => {
  const name = nameUnfinished('box.sbx-new-x', 'old', '0a1b2c3d');
  expect(unfinishedName(name)).toEqual({ name: 'box.sbx-new-x', kind: 'old' });
  expect(unfinishedName('box')).toBeUndefined();
});

test('a listing without our labels is what the engine says', () => {
  const info = listedInfo('docker', {
    ...{
      Id: 'f'.repeat(64),
      Names: ['/web'],
      Image: 'nginx',
      Created: 1,
      State: 'running',
      Labels: { a: 'b' },
    },
    Ports: [
      { IP: '0.0.0.0', PrivatePort: 80, PublicPort: 8080, Type: 'tcp' },
      { IP: '::', PrivatePort: 80, PublicPort: 8080, Type: 'tcp' },
      { PrivatePort: 53, Type: 'udp' },
    ],
  });
  expect(info).toMatchObject({
    ...{ id: 'f'.repeat(12), name: 'web', state: 'running', image: 'nginx', labels: { a: 'b' } },
    createdAt: '1970-01-01T00:00:01.000Z',
    ports: [{ port: 80, url: 'http://127.0.0.1:8080' }],
  });
});
