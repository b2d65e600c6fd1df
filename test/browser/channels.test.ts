import type { CarillonClient } from '../../sdk/client/carillon.ts';
import { until } from '../fixtures/until.ts';
import { axeViolations } from './fixtures/axe-violations.ts';
import { type FetchRecord, recordFetches, registrationSettled } from './fixtures/in-page.ts';
import { describeWithSdk } from './fixtures/sdk-session.ts';
import type { TestProject } from './fixtures/stack.ts';

/** Declared by the page's script. */
declare const push: CarillonClient;

describeWithSdk('channels in Firefox', (session) => {
  const stored = async (project: TestProject) =>
    (await session.stack.subscriptions(project)).map(({ channels = [] }) => [...channels].sort());

  test('a visitor subscribes with channels and changes them; the worker keeps them in a renewal', async () => {
    const { project, site } = await session.newSite();
    const { page } = await session.open(`${site.origin}/`);
    await page.evaluate(() => push.subscribe({ channels: ['news', 'sales'], userId: 'ada' }));
    expect(await stored(project)).toEqual([['news', 'sales']]);
    expect(await page.evaluate(() => push.channels())).toEqual(['news', 'sales']);

    const seen = page.evaluate(
      () => new Promise((resolve) => push.on('change', ({ channels }) => resolve(channels))),
    );
    await page.evaluate(() => push.setChannels(['sales']));
    expect(await stored(project)).toEqual([['sales']]);
    expect(await seen).toEqual(['sales']);
    const refused = await page.evaluate(() =>
      push.setChannels(['Sales']).catch(({ code }) => code),
    );
    expect(refused).toBe('invalid_options');
    expect(await page.evaluate(() => push.channels())).toEqual(['sales']);
    await page.close();

    session.stack.pushService.realBrowsers.forget();
    const [before] = await session.stack.subscriptions(project);
    await until('only the new endpoint', async () => {
      const subscriptions = await session.stack.subscriptions(project);
      return subscriptions.length === 1 && subscriptions[0]!.endpoint !== before!.endpoint;
    });
    expect(await stored(project)).toEqual([['sales']]);
    expect(await session.stack.send(project, { title: 'News', channels: ['news'] })).toMatchObject({
      attempted: 0,
    });
    const { id, delivered } = await session.stack.send(project, {
      title: 'Sale',
      channels: ['sales'],
    });
    expect(delivered).toBe(1);
    await session.stack.expectBeacons(project, id, { shown: 1, clicked: 0 });
  });

  test('channels of init apply until the visitor has chosen others', async () => {
    const { project, site } = await session.newSite();
    const page = site.files.get('/')!;
    const withChannels = page.replace('projectId:', "channels: ['news'], projectId:");
    expect(withChannels).not.toBe(page);
    const first = await session.open(`${site.origin}/`);
    await first.subscribe();
    expect(await stored(project)).toEqual([[]]);

    site.files.set('/', withChannels);
    const second = await session.open(`${site.origin}/`);
    await second.page.evaluate(registrationSettled);
    expect(await stored(project)).toEqual([['news']]);
    await second.page.evaluate(() => push.setChannels([]));
    expect(await stored(project)).toEqual([[]]);

    site.files.set('/', recordFetches + withChannels);
    const third = await session.open(`${site.origin}/`);
    await third.page.evaluate(registrationSettled);
    expect(await third.page.evaluate(() => (window as FetchRecord).fetches)).toEqual([]);
    expect(await third.page.evaluate(() => push.channels())).toEqual([]);
    expect(await stored(project)).toEqual([[]]);
  });

  test('the check boxes of the bell choose channels, also with the keyboard', async () => {
    const { project, site } = await session.newSite();
    const channels = { news: 'News', 'flash-sales': 'Flash sales' };
    const bell = `<script type="module">
      import { showBell } from '/carillon-bell.mjs';
      showBell(push, { channels: ${JSON.stringify(channels)} });
    </script>`;
    site.files.set('/', site.files.get('/')! + bell);
    const { page } = await session.open(`${site.origin}/`);
    const panel = '.floating >>> [role=dialog]';
    const isOn = () =>
      page.$eval('.floating >>> [role=switch]', (input) => (input as HTMLInputElement).checked);
    await page.waitForSelector('.floating:not([hidden])');
    await page.evaluate(() => push.subscribe({ channels: ['other'] }));
    await until('the switch', isOn);

    const press = async (...keys: readonly ('Tab' | ' ' | 'Enter' | 'Escape')[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    // The bell opens its panel: the switch, the button that closes it, and the check boxes.
    await press('Tab', 'Enter', 'Tab', 'Tab', 'Tab', ' ');
    await until('news', async () => (await stored(project))[0]!.includes('news'));
    await press('Tab', ' ');
    await until('flash sales', async () => (await stored(project))[0]!.length === 3);
    await press(' ');
    await until('no flash sales', async () => (await stored(project))[0]!.length === 2);
    await press(' ');
    await until('flash sales again', async () => (await stored(project))[0]!.length === 3);
    // A channel without a check box is kept.
    expect(await stored(project)).toEqual([['flash-sales', 'news', 'other']]);
    const boxes = await page.$$eval('.floating >>> fieldset input', (inputs) =>
      inputs.map((input) => [input.labels![0]!.textContent, input.checked]),
    );
    expect(boxes).toEqual([
      ['News', true],
      ['Flash sales', true],
    ]);
    const violations = await axeViolations(page, '.floating');
    expect(violations).toEqual([]);
    const sent = await session.stack.send(project, {
      title: 'Half price',
      channels: ['flash-sales'],
    });
    expect(sent).toMatchObject({ attempted: 1, delivered: 1 });
    await session.stack.expectBeacons(project, sent.id, { shown: 1, clicked: 0 });

    // The notification has taken the keyboard's focus.
    await page.click('.floating >>> input[value=flash-sales]');
    await until('no flash sales', async () => (await stored(project))[0]!.length === 2);
    const after = await session.stack.send(project, { title: 'Again', channels: ['flash-sales'] });
    expect(after).toMatchObject({ attempted: 0 });
    await press('Escape');
    expect(await page.$eval(panel, (element) => element.checkVisibility())).toBe(false);
    await page.evaluate(() => push.unsubscribe());
    await until('a switch that is off', async () => !(await isOn()));
  });
});
