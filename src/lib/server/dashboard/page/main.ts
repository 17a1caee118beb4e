/** The dashboard: the list of sandboxes beside the one that is looked at. */
import * as api from './api.ts';
import { costOf } from './cost.ts';
import { askToCreate } from './create.ts';
import { button, el } from './dom.ts';
import { messageOf } from './failure.ts';
import { type Fleet, openFleet } from './fleet.ts';
import { apiKey, askKey, forgetKey } from './key.ts';
import { sandboxList } from './list.ts';
import { attempt, noticePlace } from './notices.ts';
import { hashOf } from './place.ts';
import { stage } from './stage.ts';
import { moneyText } from './text.ts';

const AGAIN_MS = 3000;

async function start(): Promise<void> {
  document.body.append(noticePlace());
  const info = await firstInfo();
  if (info.auth && apiKey() === undefined) await askKey();
  show(info);
}

async function firstInfo(): Promise<api.Info> {
  let info: api.Info | undefined;
  const ask = async () => {
    info = await api.info();
  };
  while (!(await attempt('reach the server', ask)) || info === undefined)
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  return info;
}

function show(info: api.Info): void {
  const summary = el('p', { class: 'summary' });
  const failure = el('p', { class: 'banner', role: 'alert' });
  const changed = () => fleet.look();
  const list = sandboxList(info, changed);
  const one = stage(info, changed);
  const draw = () => {
    one.draw(fleet.boxes);
    list.draw(fleet.boxes, one.chosen);
    summary.textContent = summaryOf(info, fleet);
  };
  const fleet = openFleet({
    inSight: () => new Set([...list.inSight, ...(one.chosen === undefined ? [] : [one.chosen])]),
    onChange: draw,
    onFailure: (error) => {
      failure.textContent = error === undefined ? '' : `${messageOf(error)} Trying again.`;
    },
  });
  addEventListener('hashchange', draw);
  const create = () =>
    askToCreate(info, async (id) => {
      await changed();
      location.hash = hashOf({ id, tab: 'terminal' });
    });
  const lock = () => {
    forgetKey();
    location.reload();
  };
  document.body.prepend(
    el(
      'header',
      {},
      el('h1', {}, el('a', { href: '#' }, 'sbx')),
      summary,
      button('New sandbox', create, { class: 'primary' }),
      info.auth ? button('Lock', lock, { title: 'forget the API key' }) : undefined,
    ),
    failure,
    el('div', { class: 'columns' }, list.element, one.element),
  );
}

function summaryOf(info: api.Info, { boxes }: Fleet): string {
  const all = [...boxes.values()];
  const running = all.filter(({ record }) => record.status === 'running').length;
  const cost = all.reduce((sum, { usage }) => sum + costOf(usage, info).total, 0);
  return `${running} of ${all.length} running · ${moneyText(cost)}`;
}

void start();
