/** Questions that have to be answered before anything else. */
import { type Child, el, freshId } from './dom.ts';
import { messageOf } from './failure.ts';

export interface Question {
  readonly title: string;
  readonly body: readonly Child[];
  /** What the button says that does it. */
  readonly accept: string;
  /** Whether that button destroys something. */
  readonly danger?: boolean;
  /** Absent: there is no way out but the answer. */
  readonly cancel?: string;
  /** Its failure is told in the dialog, which stays open. */
  readonly act: () => Promise<void>;
}

/** Opens a dialog. Resolves with whether it was done when it is closed again. */
export function modal({ title, body, accept, danger, cancel, act }: Question): Promise<boolean> {
  const heading = el('h2', { id: freshId() }, title);
  const failure = el('p', { class: 'failure', role: 'alert' });
  const submit = el('button', { type: 'submit', class: danger === true ? 'danger' : 'primary' }, accept);
  const leave =
    cancel === undefined ? undefined : el('button', { type: 'button', onclick: () => close(false) }, cancel);
  const form = el('form', {}, heading, ...body, failure, el('div', { class: 'actions' }, leave, submit));
  const dialog = el('dialog', { 'aria-labelledby': heading.id }, form);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const close = (done: boolean) => {
    dialog.close();
    dialog.remove();
    resolve(done);
  };
  dialog.addEventListener('cancel', (event) => {
    event.preventDefault();
    if (cancel !== undefined) close(false);
  });
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    failure.textContent = '';
    try {
      await act();
      close(true);
    } catch (error) {
      failure.textContent = messageOf(error);
      submit.disabled = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  return promise;
}
