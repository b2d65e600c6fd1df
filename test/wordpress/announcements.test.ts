import { useService } from '../fixtures/service.ts';
import { until } from '../fixtures/until.ts';
import type { Fault } from '../reliability/fixtures/faulty-gateway.ts';
import { type AnnouncedSite, announcedSite, phpOf } from './fixtures/announced-site.ts';
import { builtPlugin } from './fixtures/built-plugin.ts';
import type { Session } from './fixtures/session.ts';
import {
  describeWithWordPress,
  startDatabase,
  startWordPress,
  type WordPress,
} from './fixtures/wordpress.ts';

describeWithWordPress('the plugin for WordPress', () => {
  const service = useService();
  let database: Awaited<ReturnType<typeof startDatabase>>;
  let site: WordPress;
  let admin: Session;
  let announced: AnnouncedSite;

  beforeAll(async () => {
    database = await startDatabase();
    const config = `define('DISABLE_WP_CRON', true);`;
    site = await startWordPress(database, await builtPlugin(), { config });
    site.write('mu-plugins/test.php', testPlugin);
    admin = await site.signIn();
  });
  afterAll(async () => {
    const errors = site?.errors();
    await site?.stop();
    await database?.stop();
    expect(errors).toBe('');
  });
  beforeEach(async () => {
    announced = await announcedSite(site, service);
  });
  afterEach(() => announced.stop());

  /** Inserts a post as a program does. @returns its id. */
  const insert = (fields: object) =>
    site.php<number>(`return wp_insert_post(${phpOf({ post_title: 'News', ...fields })});`);

  const draft = (fields: object = {}) => insert({ post_status: 'draft', ...fields });
  const publish = (fields: object = {}) => insert({ post_status: 'publish', ...fields });

  /** Published by WordPress's cron, which has not run for so long. */
  async function schedule(hoursLate: number): Promise<number> {
    const id = await insert({ post_status: 'future', post_date: '2099-01-01 00:00:00' });
    await site.php(`
      global $wpdb;
      $time = time() - ${hoursLate} * HOUR_IN_SECONDS - 1;
      $dates = ['post_date' => gmdate('Y-m-d H:i:s', $time), 'post_date_gmt' => gmdate('Y-m-d H:i:s', $time)];
      $wpdb->update($wpdb->posts, $dates, ['ID' => ${id}]);
      wp_clear_scheduled_hook('publish_future_post', [${id}]);
      wp_schedule_single_event($time, 'publish_future_post', [${id}]);`);
    await site.runCron();
    return id;
  }

  /** The fields of the classic editor's form that a test does not fill in. */
  async function classicForm(path: string): Promise<Record<string, string>> {
    const form = await admin.fieldsOf(path, 'post');
    const dates = ['aa', 'mm', 'jj', 'hh', 'mn'].map((name) => [name, form[`hidden_${name}`]!]);
    return { ...form, ...Object.fromEntries(dates) };
  }

  async function classic(fields: Readonly<Record<string, string>>): Promise<number> {
    const form = await classicForm('/wp-admin/post-new.php?classic');
    await admin.post('/wp-admin/post.php', {
      ...form,
      ...fields,
      post_title: 'News',
      content: 'Text',
      publish: 'Publish',
    });
    return Number(form.post_ID);
  }

  const published: readonly (readonly [string, () => Promise<number>])[] = [
    ['a program', () => publish()],
    [
      'a program that publishes a draft',
      async () => {
        const id = await draft();
        return site.php(`return wp_update_post(['ID' => ${id}, 'post_status' => 'publish']);`);
      },
    ],
    [
      'the REST API',
      async () =>
        (await admin.rest('POST', '/wp/v2/posts', { title: 'News', status: 'publish' })).id,
    ],
    [
      'the REST API, after a draft',
      async () => {
        const { id } = await admin.rest('POST', '/wp/v2/posts', { title: 'News', status: 'draft' });
        await admin.rest('POST', `/wp/v2/posts/${id}`, { status: 'publish' });
        return id;
      },
    ],
    ['the classic editor', () => classic({})],
    [
      'quick edit',
      async () => {
        const id = await draft();
        const { _inline_edit } = await admin.fieldsOf('/wp-admin/edit.php');
        await admin.post('/wp-admin/admin-ajax.php', {
          ...{
            action: 'inline-save',
            post_type: 'post',
            post_view: 'list',
            post_ID: `${id}`,
            edit_date: '',
            _status: 'publish',
          },
          ...{ post_title: 'News', screen: 'edit-post', _inline_edit: _inline_edit! },
        });
        return id;
      },
    ],
    ['a schedule', () => schedule(0)],
    ['a schedule, by a cron that ran five hours late', () => schedule(5)],
    [
      'making it public, after it was private',
      async () => {
        const id = await insert({ post_status: 'private' });
        return site.php(`return wp_update_post(['ID' => ${id}, 'post_status' => 'publish']);`);
      },
    ],
    [
      'publishing a copy of an announced post',
      async () => {
        const original = await publish({ post_title: 'The original' });
        await announced.arrived();
        const id = await draft();
        await site.php(`
        foreach (get_post_meta(${original}) as $key => [$value]) { add_post_meta(${id}, $key, wp_slash(maybe_unserialize($value))); }
        wp_update_post(['ID' => ${id}, 'post_status' => 'publish']);`);
        return id;
      },
    ],
  ];

  test.each(published)('a post that is published by %s is announced once', async (_, act) => {
    const id = await act();
    const arrived = await announced.arrived();
    expect(arrived.filter(({ title }) => title === 'News')).toHaveLength(1);
    expect(await announced.view(id)).toMatchObject({
      text: 'Announced to 1.',
      button: 'Announce again',
      busy: false,
    });
  });

  const notAnnounced: readonly (readonly [string, string, () => Promise<number>])[] = [
    ['an imported post', 'it was imported', () => imported()],
    ['a post of a bulk edit', 'bulk edit', () => bulkEdited()],
    [
      'a post that is dated more than a day ago',
      'more than a day ago',
      () => publish({ post_date: '2020-01-01 00:00:00' }),
    ],
    [
      'a scheduled post, by a cron that ran two days late',
      'more than a day ago',
      () => schedule(48),
    ],
    ['a private post', 'it is private', () => insert({ post_status: 'private' })],
    ['a post with a password', 'it has a password', () => publish({ post_password: 'secret' })],
    [
      'a post that the theme leaves out',
      'another plugin has decided so',
      () => publish({ post_title: 'Not this one' }),
    ],
    [
      'a post whose author has opted out',
      'as chosen here',
      async () => {
        const { id } = await admin.rest('POST', '/wp/v2/posts', { title: 'News', status: 'draft' });
        const off = { carillon: { off: true }, status: 'publish' };
        await admin.rest('POST', `/wp/v2/posts/${id}`, off);
        return id;
      },
    ],
    [
      'a post whose author has opted out in the classic editor',
      'as chosen here',
      () => classic({ carillon_off: '1' }),
    ],
  ];

  test.each(notAnnounced)('%s is not announced, and the editor says why', async (_, why, act) => {
    const id = await act();
    expect(await announced.arrived()).toEqual([]);
    const { text, button } = await announced.view(id);
    expect({ text, button }).toEqual({
      text: expect.stringContaining(why),
      button: 'Announce now',
    });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a page', () => publish({ post_type: 'page' })],
    ['a draft', () => draft()],
    [
      'a post that waits for its date',
      () => insert({ post_status: 'future', post_date: '2099-01-01' }),
    ],
  ])('%s is not announced', async (_, act) => {
    await act();
    expect(await announced.arrived()).toEqual([]);
  });

  test('a post that is updated, taken offline and published again is announced once', async () => {
    const id = await publish();
    for (const status of ['publish', 'draft', 'publish', 'trash', 'publish']) {
      await update(id, { post_status: status, post_content: status });
      await announced.arrived();
    }
    expect(announced.sends()).toHaveLength(1);
  });

  test('an update of a post that was published before is not announced', async () => {
    await site.php(`Carillon\\change_settings(['types' => []]);`);
    const id = await publish();
    await site.php(`Carillon\\change_settings(['types' => ['post']]);`);
    await update(id, { post_content: 'Corrected' });
    expect(await announced.arrived()).toEqual([]);
    expect(await announced.view(id)).toMatchObject({ button: 'Announce now' });
  });

  describe('what is announced', () => {
    test('has the title as text, the excerpt, the address and the picture', async () => {
      await site.php(`
        $id = wp_insert_post(['post_title' => '<em>Doors</em> open &#8211; at {{8}} o’clock "now"', 'post_status' => 'draft', 'post_excerpt' => 'Bring <b>a</b> friend &amp; come']);
        $picture = wp_insert_attachment(['post_mime_type' => 'image/png', 'guid' => 'x'], 'picture.png', $id);
        set_post_thumbnail($id, $picture);
        wp_update_post(['ID' => $id, 'post_status' => 'publish']);`);
      expect(await announced.arrived()).toMatchObject([
        {
          title: 'Doors open – at {\u2060{8}} o’clock “now”',
          body: 'Bring a friend & come',
          navigate: expect.stringMatching(/^http:\/\/localhost:\d+\/\d+\/\d+\/\d+\/doors-open/),
          image: expect.stringMatching(/^http.*picture\.png$/),
        },
      ]);
    });

    test.each([
      ['of 300 characters is cut', '𝒳'.repeat(300), '𝒳'.repeat(256)],
      ['that nobody sees becomes the name of the site', ' &nbsp; ', 'Daily News'],
    ])('has a title: one %s', async (_, title, shown) => {
      await publish({ post_title: title, post_content: 'Text' });
      expect(await announced.arrived()).toMatchObject([{ title: shown }]);
    });

    test('is what the filter makes of it', async () => {
      await publish({ post_title: 'With a filter' });
      expect(await announced.arrived()).toMatchObject([
        { title: 'Filtered', requireInteraction: true },
      ]);
    });

    test('goes to those who have chosen its category, or the one above', async () => {
      const [sport, football, other] = await site.php<number[]>(`
        require_once ABSPATH . 'wp-admin/includes/taxonomy.php';
        $sport = wp_create_category('Sport'); $football = wp_create_category('Football', $sport);
        Carillon\\change_settings(['categories' => [$sport]]);
        return [$sport, $football, wp_create_category('Other')];`);
      const first = await publish({ post_category: [football] });
      const id = await publish({ post_category: [other] });
      await announced.runEvents();
      const bodies = announced.sends().map(({ body }) => JSON.parse(body));
      expect(bodies).toMatchObject([{ channels: [`category-${sport}`] }]);
      expect((await announced.view(id)).text).toContain('none of its categories');
      // The site has a subscriber, who has not chosen it.
      const text = await until('the counts', async () => {
        await announced.runEvents();
        const view = await announced.view(first);
        return view.busy ? undefined : view.text;
      });
      expect(text).toBe('Announced, but nobody is subscribed to it yet.');
    });

    test('goes to readers of its language, with a plugin that has the languages of posts', async () => {
      await publish({ post_title: 'in at' });
      await publish({ post_title: 'in en' });
      await publish();
      await announced.runEvents();
      const bodies = announced.sends().map(({ body }) => JSON.parse(body));
      // Another language of the site is German too.
      const locales = bodies.map((body) => [body.title, body.locales]);
      expect(locales.sort()).toEqual([
        ['News', undefined],
        ['in at', ['de-AT']],
        ['in en', ['en']],
      ]);
    });
  });

  describe('a person', () => {
    test('announces a post that was not announced, and announces it again', async () => {
      const id = await publish({ post_password: 'secret' });
      await announced.arrived();
      for (const count of [1, 2]) {
        const { carillon } = await admin.rest('POST', `/wp/v2/posts/${id}`, {
          carillon: { announce: true },
        });
        expect(carillon).toMatchObject({ busy: true, button: '' });
        expect(await announced.arrived()).toHaveLength(count);
      }
      const keys = announced.sends().map(({ headers }) => headers['idempotency-key']);
      expect(new Set(keys).size).toBe(2);
    });

    test('announces a post in the classic editor', async () => {
      const id = await publish();
      await announced.arrived();
      const form = await classicForm(`/wp-admin/post.php?post=${id}&action=edit&classic`);
      const fields = {
        ...form,
        post_title: 'News',
        carillon_announce: '1',
        post_status: 'publish',
      };
      await admin.post('/wp-admin/post.php', fields);
      expect(await announced.arrived()).toHaveLength(2);
    });

    test('who may not publish cannot announce', async () => {
      await site.php(
        `wp_insert_user(['user_login' => 'writer', 'user_pass' => 'password', 'role' => 'contributor']);`,
      );
      const writer = await site.signIn('writer');
      const id = await draft({
        post_author: await site.php(`return get_user_by('login', 'writer')->ID;`),
      });
      const request = writer.rest('POST', `/wp/v2/posts/${id}`, { carillon: { announce: true } });
      await expect(request).rejects.toThrow('403');
      expect(await announced.arrived()).toEqual([]);
    });

    test('who reads the REST API without a log-in sees nothing of it', async () => {
      await publish();
      const response = await fetch(`${site.home}/index.php?rest_route=/wp/v2/posts`);
      expect(await response.text()).not.toMatch(/carillon|Announced/);
    });
  });

  describe('once', () => {
    test('of many processes that publish and send a post, one sends it', async () => {
      const id = await draft();
      await site.php(`wp_publish_post(${id});`);
      const again = `$draft = get_post(${id}); $draft->post_status = 'draft';
        do_action('wp_after_insert_post', ${id}, get_post(${id}), true, clone $draft);
        do_action('carillon_attempt', ${id});`;
      await Promise.all(Array.from({ length: 8 }, () => site.php(again)));
      expect(await announced.arrived()).toHaveLength(1);
      expect(announced.sends()).toHaveLength(1);
    });

    test('an outage is repeated with the same body under the same key', async () => {
      await outage([
        'response lost',
        { code: 'unavailable', retryAfter: 300 },
        { code: 'rate_limited' },
      ]);
      const id = await publish();
      await announced.runEvents();
      expect((await announced.view(id)).text).toMatch(
        /^It may have been announced\. .* does not respond/,
      );
      await announced.runEvents();
      const pause = `return wp_next_scheduled('carillon_attempt', [${id}]) - time();`;
      expect(await site.php(pause)).toBeGreaterThan(290);
      await update(id, { post_title: 'Another title', post_name: 'another' });
      expect(await announced.arrived()).toMatchObject([{ title: 'News' }]);
      const sends = announced
        .sends()
        .map(({ headers, body }) => [headers['idempotency-key'], body]);
      expect(sends).toEqual(Array(4).fill(sends[0]));
    });

    test('what a lost response may have announced is not said to be not announced', async () => {
      await outage(['response lost', { code: 'unauthorized' }]);
      const id = await publish();
      await announced.runEvents();
      await announced.runEvents();
      const { text, button } = await announced.view(id);
      expect(text).toMatch(/^It may have been announced\. .* does not accept this key/);
      expect(button).toBe('Announce again');
    });

    test('a post that gets a password after a lost response may have been announced', async () => {
      await outage(['response lost']);
      const id = await publish();
      await announced.runEvents();
      await update(id, { post_password: 'secret' });
      await announced.runEvents();
      expect((await announced.view(id)).text).toContain('An attempt before may have announced it.');
    });

    test('what a process that died may have announced is not said to be not announced', async () => {
      const id = await publish();
      // It dies when the response has arrived.
      const attempt = `add_filter('http_response', function () { exit; }); do_action('carillon_attempt', ${id});`;
      await expect(site.php(attempt)).rejects.toThrow();
      expect(announced.sends()).toHaveLength(1);
      await site.php(`
        global $wpdb;
        $wpdb->delete($wpdb->options, ['option_name' => 'carillon_claim_${id}']);`);
      await update(id, { post_password: 'secret' });
      await announced.runEvents();
      const { text, button } = await announced.view(id);
      expect(text).toContain('An attempt before may have announced it.');
      expect(button).toBe('Announce again');
    });

    test('an event that WordPress has lost after a lost response may have announced it', async () => {
      await outage(['response lost']);
      const id = await publish();
      await announced.runEvents();
      await site.php(`wp_clear_scheduled_hook('carillon_attempt', [${id}]);`);
      const { text, button } = await announced.view(id);
      expect(text).toMatch(/^It may have been announced.*lost/);
      expect(button).toBe('Announce again');
    });

    test('a response that does not say what became of it is no refusal', async () => {
      await outage([{ code: 'outcome_unknown' }]);
      const id = await publish();
      await announced.runEvents();
      const { text } = await announced.view(id);
      expect(text).toMatch(/^It may have been announced\. .*A message\./);
      expect(text).not.toContain('refuse');
    });

    test('a success that cannot be read may have announced it', async () => {
      const id = await publish();
      await site.php(`
        add_filter('pre_http_request', fn () => ['response' => ['code' => 202], 'headers' => [], 'body' => '']);
        do_action('carillon_attempt', ${id});`);
      expect((await announced.view(id)).text).toMatch(/^It may have been announced\..*status 202/);
    });

    test.each([
      ['46', 'It is being delivered.'],
      ['81', 'Announced. The console of Carillon has the counts.'],
    ])('counts are not said while the delivery goes on, after %s minutes', async (age, text) => {
      const id = await publish();
      await announced.arrived();
      const body = { status: 'sending', attempted: 5, delivered: 5, removed: 0, failed: 0 };
      await site.php(`
        $record = ['state' => 'sending', 'since' => time() - ${age} * MINUTE_IN_SECONDS] + Carillon\\record(${id});
        Carillon\\save($record, 0);
        add_filter('pre_http_request', fn () => ['response' => ['code' => 200], 'headers' => [], 'body' => '${JSON.stringify(body)}']);
        do_action('carillon_attempt', ${id});`);
      expect((await announced.view(id)).text).toBe(text);
    });

    test.each<[string, object]>([
      ['gets a password', { post_password: 'secret' }],
      ['is taken offline', { post_status: 'draft' }],
      ['goes to the trash', { post_status: 'trash' }],
      ['becomes private', { post_status: 'private' }],
    ])('a post that %s during an outage is not announced', async (_, fields) => {
      await outage([{ code: 'unavailable' }]);
      const id = await publish();
      await announced.runEvents();
      await update(id, fields);
      expect(await announced.arrived()).toEqual([]);
      expect(announced.sends()).toHaveLength(1);
    });

    test('a post whose author opts out during an outage is not announced', async () => {
      await outage([{ code: 'unavailable' }]);
      const id = await publish();
      await announced.runEvents();
      await admin.rest('POST', `/wp/v2/posts/${id}`, { carillon: { off: true } });
      expect(await announced.arrived()).toEqual([]);
    });

    test('an outage of 23 hours ends with a notice', async () => {
      await outage([{ code: 'unavailable' }]);
      const id = await publish({ post_title: 'Breaking' });
      await announced.runEvents();
      await site.php(`
        $record = Carillon\\record(${id});
        update_post_meta(${id}, '_carillon', wp_slash(['since' => $record['since'] - 23 * HOUR_IN_SECONDS - 1] + $record));`);
      expect(await announced.arrived()).toEqual([]);
      expect((await announced.view(id)).text).toContain('Nothing succeeded for 23 hours');
      const notice = /Breaking<\/a>: Not announced. Nothing succeeded.*href="([^"]*dismiss[^"]*)"/;
      const page = await admin.get('/wp-admin/edit.php');
      expect(page).toMatch(notice);
      const [, dismiss] = notice.exec(page)!;
      await admin.get(dismiss!.replaceAll('&#038;', '&').replace(site.home, ''));
      expect(await admin.get('/wp-admin/edit.php')).not.toMatch(notice);
    });

    test('a process that died before it sent is continued by the next one', async () => {
      await outage([{ code: 'unavailable' }]);
      const id = await publish();
      await announced.runEvents();
      await site.php(`
        global $wpdb;
        $wpdb->insert($wpdb->options, ['option_name' => 'carillon_claim_${id}', 'option_value' => time() - 60, 'autoload' => 'no']);`);
      await announced.runEvents();
      expect(announced.sends()).toHaveLength(1);
      await site.php(`
        global $wpdb;
        $wpdb->update($wpdb->options, ['option_value' => time() - 301], ['option_name' => 'carillon_claim_${id}']);
        wp_schedule_single_event(time(), 'carillon_attempt', [${id}]);`);
      expect(await announced.arrived()).toHaveLength(1);
    });

    test('an event that WordPress has lost is said, and can be queued again', async () => {
      const id = await publish();
      await site.php(`wp_clear_scheduled_hook('carillon_attempt', [${id}]);`);
      expect(await announced.view(id)).toMatchObject({
        text: expect.stringContaining('lost'),
        button: 'Announce now',
      });
      await admin.rest('POST', `/wp/v2/posts/${id}`, { carillon: { announce: true } });
      expect(await announced.arrived()).toHaveLength(1);
    });
  });

  /** Sets the plugin up again, for a service that fails. */
  async function outage(faults: readonly Fault[]): Promise<void> {
    await announced.stop();
    announced = await announcedSite(site, service, { faults });
  }

  const update = (id: number, fields: object) =>
    site.php(`wp_update_post(${phpOf({ ID: id, ...fields })});`);

  async function bulkEdited(): Promise<number> {
    const id = await draft();
    const { _wpnonce } = await admin.fieldsOf('/wp-admin/edit.php');
    const query = new URLSearchParams({
      ...{ bulk_edit: 'Update', action: 'edit', _status: 'publish', post_type: 'post' },
      ...{ 'post[]': `${id}`, _wpnonce: _wpnonce!, post_view: 'list', post_author: '-1' },
      ...{ comment_status: '', ping_status: '', post_format: '-1', sticky: '-1' },
    });
    await admin.get(`/wp-admin/edit.php?${query}`);
    expect(await site.php(`return get_post_status(${id});`)).toBe('publish');
    return id;
  }

  const imported = () =>
    site.php<number>(
      `return wp_insert_post(['post_title' => 'News', 'post_status' => 'publish']);`,
      `define('WP_IMPORTING', true);`,
    );

  describe('a refusal says what to do', () => {
    test.each<[string, string, RegExp]>([
      ['a closed port', `update('baseUrl', 'http://localhost:1')`, /localhost:1 does not respond/],
      ['another program', `update('baseUrl', home_url())`, /status 40\d, and not as Carillon does/],
      ['a mistyped project', `update('project', 'daly-news')`, /key for the project “daly-news”/],
      [
        'a mistyped key',
        `update_option('carillon_key', 'carillon_mk_x')`,
        /does not accept this key/,
      ],
    ])('%s', async (_, change, text) => {
      await site.php(`$update = fn ($name, $value) => Carillon\\change_settings([$name => $value]);
        ${change.replace('update(', '$update(')};`);
      const id = await publish();
      await announced.runEvents();
      expect((await announced.view(id)).text).toMatch(text);
      const fields = await admin.fieldsOf('/wp-admin/options-general.php?page=carillon');
      expect(fields.action).toBeDefined();
      expect(await admin.get('/wp-admin/options-general.php?page=carillon&saved=1')).toMatch(text);
    });

    test('a used-up month is not repeated', async () => {
      await outage([{ code: 'send_cap_reached' }]);
      const id = await publish();
      await announced.arrived();
      expect(announced.sends()).toHaveLength(1);
      expect((await announced.view(id)).text).toContain('used up its notifications of this month');
    });

    test('without settings, publishing works and the editor says what is missing', async () => {
      await site.php(`delete_option('carillon'); delete_option('carillon_key');`);
      const id = await publish();
      expect((await announced.view(id)).text).toContain('not set up');
    });
  });

  describe('a copy of the site', () => {
    test('announces nothing until a person confirms it, and then under its own keys', async () => {
      const original = await site.php<string>(`return Carillon\\settings()['uuid'];`);
      await site.php(`Carillon\\change_settings(['confirmed' => 'example.com (production)']);`);
      const id = await publish();
      expect(await announced.arrived()).toEqual([]);
      expect((await announced.view(id)).text).toContain(
        'not the one for which Carillon was set up',
      );
      const page = '/wp-admin/options-general.php?page=carillon';
      expect(await admin.get(page)).toContain('This was set up for example.com (production)');
      const form = { ...(await admin.fieldsOf(page)), confirm: '1', 'types[]': 'post' };
      await admin.post('/wp-admin/admin-post.php', form);
      await publish();
      expect(await announced.arrived()).toHaveLength(1);
      const key = announced.sends()[0]!.headers['idempotency-key'];
      expect(key).not.toContain(original);
    });
  });
});

/** The classic editor where a test asks for it, and the filters of the plugin. */
const testPlugin = `<?php
  add_filter('use_block_editor_for_post', fn ($uses) => $uses && !isset($_GET['classic']));
  add_filter('carillon_should_announce', fn ($should, $post) => $post->post_title !== 'Not this one', 10, 2);
  add_filter('carillon_notification', fn ($fields, $post) => $post->post_title === 'With a filter'
      ? ['title' => 'Filtered', 'requireInteraction' => true] : $fields, 10, 2);
  // As WPML has them.
  add_filter('wpml_active_languages', fn () => array_map(fn ($locale) => ['default_locale' => $locale],
      ['de' => 'de_DE', 'at' => 'de_AT', 'en' => 'en_US']));
  add_filter('wpml_element_language_code', fn ($none, $element) =>
      sscanf(get_the_title($element['element_id']), 'in %s')[0] ?? null, 10, 2);`;
