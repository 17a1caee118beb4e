import type { Manifest } from '../../backend/manifest.ts';

/** A server of the hotcell API: `sbx serve`, or another one. */
export const manifest: Manifest = {
  type: 'daemon',
  title: 'A server of sandboxes: sbx serve, or any that speaks the hotcell API',
  capabilities: {
    power: 'native',
    suspend: 'native',
    env: 'native',
    archive: 'native',
    files: 'native',
    processes: 'native',
    ports: 'native',
    dial: 'native',
    stats: 'native',
    terminal: 'native',
    sessions: 'native',
    egress: 'native',
    diff: 'native',
  },
  createOptions: [
    'name',
    'image',
    'env',
    'labels',
    'limits.cpus',
    'limits.memory',
    'limits.pids',
    'network',
    'workdir',
    'user',
    'idle',
    'egress',
    'command',
  ],
  limits: {},
  config: [
    {
      name: 'url',
      description: 'address of the server, such as https://sandboxes.example.com',
      required: true,
      from: 'whoever runs it: sbx serve prints it',
    },
    {
      name: 'token',
      description: "the server's API key",
      required: false,
      secret: true,
      from: 'whoever runs the server',
    },
    {
      name: 'ca',
      description: 'file with the certificate of the server or its authority, PEM',
      required: false,
    },
  ],
};
