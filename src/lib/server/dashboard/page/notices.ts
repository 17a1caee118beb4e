/** Failures and news at the edge of the page, for as long as they are worth reading. */
import { button, el } from './dom.ts';
import { messageOf } from './failure.ts';

const STAY_MS = 8000;

const place = el('div', { class: 'notices', role: 'status' });

/** Where they appear. */
export function noticePlace(): HTMLElement {
  return place;
}

/** Does something that may fail, and tells of it if it does. @returns whether it was done. */
export async function attempt(what: string, act: () => Promise<unknown>): Promise<boolean> {
  try {
    await act();
    return true;
  } catch (error) {
    tell(`Cannot ${what}: ${messageOf(error)}`);
    return false;
  }
}

function tell(text: string): void {
  const notice = el('div', { class: 'notice', role: 'alert' }, el('span', {}, text));
  notice.append(button('Dismiss', () => notice.remove()));
  place.append(notice);
  setTimeout(() => notice.remove(), STAY_MS);
}
