import { appendFileSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { SubscriptionLog } from '../../../local/push-service/channels.ts';
import { useFolder } from '../../fixtures/folder.ts';

const folder = useFolder();
let file: string;
beforeEach(() => {
  file = join(folder.path, 'subscriptions.jsonl');
});

const simulated = { id: 's', privateKey: 'p', authSecret: 'a' };
const real = { id: 'r', applicationServerKey: 'k', uaid: 'u' };

test('a log has what was added and has ended before it was opened again', () => {
  const log = new SubscriptionLog(file);
  expect([log.subscriptions, log.ended]).toEqual([[], []]);
  log.add(simulated);
  log.add(real);
  log.end('s');
  for (let opened = 0; opened < 2; opened++) {
    const { subscriptions, ended } = new SubscriptionLog(file);
    expect([subscriptions, ended]).toEqual([[real], ['s']]);
  }
  // One line for each; others cannot read the keys.
  expect(readFileSync(file, 'utf8').split('\n')).toHaveLength(3);
  expect(statSync(file).mode & 0o077).toBe(0);
});

test('half a line, of a process that was killed, does not spoil the next one', () => {
  new SubscriptionLog(file).add(simulated);
  appendFileSync(file, '{"id":"half');
  const log = new SubscriptionLog(file);
  expect(log.subscriptions).toEqual([simulated]);
  log.add(real);
  expect(new SubscriptionLog(file).subscriptions).toEqual([simulated, real]);
});
