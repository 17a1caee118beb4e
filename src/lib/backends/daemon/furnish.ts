/** Making a sandbox that is furnished from here before its main command starts. docs/protocol.md, "links/create". */
import type { Call, Furnish, Sandbox } from '../../backend/contract.ts';
import { SbxError } from '../../errors.ts';
import { frameLink } from '../../transport/frame-link.ts';
import { FRAMES } from '../../wire/links.ts';
import { type Api, toldFailure } from './api.ts';
import { recordOf } from './record.ts';
import { openSandbox } from './sandbox.ts';

/** The server removes it again when the connection ends before it is whole: so does a failure of `furnish`, and our death. */
export async function createFurnished(
  api: Api,
  body: object,
  furnish: Furnish,
  call: Call,
): Promise<Sandbox> {
  const made = Promise.withResolvers<Sandbox>();
  let failure: unknown;
  const handle = (record: unknown) => openSandbox(api, recordOf(record, api.backend));
  const link = frameLink(await api.upgrade('/links/create', FRAMES, call), (message) => {
    if (message.furnish !== undefined) {
      furnish(handle(message.furnish)).then(
        () => link.send({ furnished: true }),
        (error: unknown) => {
          // The server answers when it has removed the sandbox.
          failure = error;
          link.send({ furnished: false });
        },
      );
    } else if (message.made !== undefined) made.resolve(handle(message.made));
    else if (message.error !== undefined) made.reject(failure ?? toldFailure(message, api.backend));
  });
  const giveUp = () => made.reject(new SbxError('interrupted', 'interrupted'));
  call.signal.addEventListener('abort', giveUp, { once: true });
  void link.closed.then((cause) =>
    made.reject(
      new SbxError('unreachable', `the connection to ${api.url} was lost while a sandbox was made`, {
        backend: api.backend,
        hint: `what was half made is removed: sbx ls --all --backend ${api.backend}`,
        cause,
      }),
    ),
  );
  link.send({ create: body });
  try {
    return await made.promise;
  } finally {
    call.signal.removeEventListener('abort', giveUp);
    link.destroy();
  }
}
