/** A backend whose sandboxes are states in memory, for what stands around them. */
import type { Backend, Call, Sandbox, SandboxInfo, SandboxState } from '../../../src/lib/backend/contract.ts';
import type { Manifest } from '../../../src/lib/backend/manifest.ts';
import { SbxError } from '../../../src/lib/errors.ts';

export interface FakeBox {
  name: string;
  state: SandboxState;
  readonly labels: Record<string, string>;
}

export interface FakeBoxes {
  readonly backend: Backend;
  readonly boxes: Map<string, FakeBox>;
  /** What was done to sandboxes, such as `pause one`. */
  readonly done: string[];
  /** What comes before anything that is done. */
  before: (what: string) => Promise<void>;
}

/** @param can what its sandboxes have. */
export function fakeBoxes(can: { readonly suspend: boolean } = { suspend: true }): FakeBoxes {
  const boxes = new Map<string, FakeBox>();
  const done: string[] = [];
  const fake: FakeBoxes = {
    boxes,
    done,
    before: async () => undefined,
    backend: {
      name: 'fake',
      manifest: { type: 'fake', createOptions: [] } as unknown as Manifest,
      create: () => Promise.reject(new Error('nobody makes one')),
      get: async (name) => sandboxOf(find(name)),
      async *list() {
        yield* [];
      },
      async destroy(name) {
        await act('destroy', name, () => void boxes.delete(name));
      },
      check: async () => [],
      can: {},
    },
  };
  const find = (name: string): FakeBox => {
    const box = boxes.get(name);
    if (box === undefined) throw new SbxError('not_found', `no sandbox '${name}'`);
    return box;
  };
  const act = async (what: string, name: string, change: () => void) => {
    await fake.before(`${what} ${name}`);
    done.push(`${what} ${name}`);
    change();
  };
  const sandboxOf = (box: FakeBox): Sandbox => {
    const to = (what: string, state: SandboxState) => () =>
      act(what, box.name, () => {
        box.state = state;
      });
    return {
      id: box.name,
      name: box.name,
      backend: 'fake',
      info: async (_: Call) => ({ ...box, id: box.name }) as unknown as SandboxInfo,
      exec: () => Promise.reject(new Error('nothing runs')),
      can: {
        power: { start: to('start', 'running'), stop: to('stop', 'stopped') },
        ...(can.suspend
          ? { suspend: { pause: to('pause', 'paused'), resume: to('resume', 'running') } }
          : {}),
      },
    };
  };
  return fake;
}
