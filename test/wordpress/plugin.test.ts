import { readFileSync } from 'node:fs';
import { unzipSync } from 'fflate';
import { english } from '../../sdk/bell/texts.ts';
import { temporaryFolder } from '../fixtures/folder.ts';
import { runCommand } from '../fixtures/npm-project.ts';
import { phpOf } from './fixtures/announced-site.ts';
import { builtPlugin } from './fixtures/built-plugin.ts';
import {
  describeWithWordPress,
  startDatabase,
  startWordPress,
  type WordPress,
} from './fixtures/wordpress.ts';

const php74 = '@php-wasm/node-7-4@3.1.56';

describe('the ZIP file', () => {
  let files: ReadonlyMap<string, string>;

  beforeAll(async () => {
    const zip = unzipSync(readFileSync(await builtPlugin()));
    files = new Map(
      Object.entries(zip).map(([name, bytes]) => [name, Buffer.from(bytes).toString()]),
    );
  });

  test('has one folder with what WordPress and the pages need', () => {
    expect([...files.keys()].toSorted()).toEqual([
      'carillon/LICENSE',
      'carillon/carillon.php',
      ...['admin', 'announcements', 'editor', 'service', 'settings', 'visitors'].map(
        (name) => `carillon/includes/${name}.php`,
      ),
      'carillon/readme.txt',
      ...['carillon-sw', 'editor', 'settings', 'visitor'].map(
        (name) => `carillon/scripts/${name}.js`,
      ),
      'carillon/uninstall.php',
    ]);
  });

  test('has its version in the header, the code and the readme', () => {
    expect(files.get('carillon/carillon.php')).toMatch(
      /\* Version: +1\.0\.0\n.*VERSION = '1\.0\.0'/s,
    );
    expect(files.get('carillon/readme.txt')).toContain('Stable tag: 1.0.0\n');
  });

  test('its PHP is read by PHP 7.4', async () => {
    const folder = temporaryFolder();
    folder.write('package.json', '{ "private": true, "type": "module" }');
    await runCommand('npm', ['install', '--no-audit', '--no-fund', '--no-save', php74], {
      cwd: folder.path,
    });
    const scripts = [...files].filter(([name]) => name.endsWith('.php'));
    folder.write('parse.js', parseScript);
    folder.write(
      'files.json',
      JSON.stringify(Object.fromEntries([...scripts, ['of 8.0', '<?php match (1) {};']])),
    );
    const printed = await runCommand('node', ['parse.js'], { cwd: folder.path });
    folder.remove();
    const faults = JSON.parse(printed);
    expect(faults).toEqual({ 'of 8.0': expect.stringContaining('unexpected') });
  });

  test('translates every text of the bell, with the English of the SDK', () => {
    const source = files.get('carillon/includes/visitors.php')!;
    const texts = [...source.matchAll(/'(\w+)' => _[_x]\('([^']*)'/g)].map(([, name, text]) => [
      name,
      text,
    ]);
    expect(Object.fromEntries(texts)).toEqual(english);
  });

  test('names one text domain in every translated text', () => {
    const sources = [...files].filter(([name]) => name.endsWith('.php'));
    const calls = sources.flatMap(
      ([, source]) => source.match(/\b(?:_[_ex]|esc_html_[_e])\('[^']*'[^)]*\)/g) ?? [],
    );
    expect(calls.length).toBeGreaterThan(70);
    expect(calls.filter((call) => !call.endsWith(", 'carillon')"))).toEqual([]);
  });
});

/** Prints the faults that PHP 7.4 finds, by file. */
const parseScript = `
  import { readFileSync } from 'node:fs';
  import { getPHPLoaderModule } from '@php-wasm/node-7-4';
  import { loadPHPRuntime, PHP } from '@php-wasm/universal';
  const php = new PHP(await loadPHPRuntime(await getPHPLoaderModule()));
  php.writeFile('/files.json', readFileSync('files.json'));
  const { text } = await php.run({ code: \`<?php
    $faults = [];
    foreach (json_decode(file_get_contents('/files.json'), true) as $name => $source) {
        try { token_get_all($source, TOKEN_PARSE); }
        catch (ParseError $error) { $faults[$name] = $error->getMessage(); }
    }
    echo json_encode((object) $faults);\` });
  console.log(text);
  process.exit(0);`;

describeWithWordPress('a network of sites', () => {
  let database: Awaited<ReturnType<typeof startDatabase>>;
  let site: WordPress;

  beforeAll(async () => {
    database = await startDatabase();
    const config = `
      define('DISABLE_WP_CRON', true);
      foreach (json_decode(@file_get_contents(__DIR__ . '/constants.json') ?: '[]', true) as $name => $value) { define($name, $value); }`;
    site = await startWordPress(database, await builtPlugin(), { config, multisite: true });
    await site.php(`
      global $wpdb;
      $domain = get_network()->domain;
      $second = wp_insert_site(['domain' => $domain, 'path' => '/second/', 'user_id' => 1]);
      // WordPress removes the port.
      $wpdb->update($wpdb->blogs, ['domain' => $domain], ['blog_id' => $second]);
      clean_blog_cache($second);
      update_blog_option($second, 'home', "http://$domain/second");
      update_blog_option($second, 'siteurl', "http://$domain/second");
      foreach ([1, $second] as $id) {
          switch_to_blog($id);
          Carillon\\change_settings(${phpOf({ baseUrl: 'https://push.example.com' })} + ['project' => "site-$id"]);
          update_option('carillon_key', "carillon_mk_secret-of-$id", false);
          update_option('carillon_known', ['baseUrl' => 'https://push.example.com', 'project' => "site-$id", 'applicationServerKey' => "key-of-$id"]);
          Carillon\\confirm_site();
          restore_current_blog();
      }
      return $second;`);
  });
  afterAll(async () => {
    const errors = site?.errors();
    await site?.stop();
    await database?.stop();
    expect(errors).toBe('');
  });
  afterEach(() => site.write('../constants.json', '[]'));

  /** What the plugin adds to a page. */
  async function optionsIn(page: string | Promise<string>) {
    const [, json] = /data-carillon="([^"]*)"/.exec(await page) ?? [];
    return json && JSON.parse(json.replaceAll('&quot;', '"').replaceAll('&amp;', '&'));
  }

  const get = async (path: string) => (await fetch(site.home + path)).text();

  test('each site has its project, its worker and its scope', async () => {
    expect(await optionsIn(get('/'))).toMatchObject({
      init: { projectId: 'site-1', serviceWorker: '/?carillon-sw.js', scope: '/' },
    });
    expect(await optionsIn(get('/second/'))).toMatchObject({
      init: { projectId: 'site-2', serviceWorker: '/second/?carillon-sw.js', scope: '/second/' },
    });
  });

  test('a post waits in the cron of its own site, under a key of its own', async () => {
    const waiting = await site.php<readonly { key: string; due: boolean }[]>(`
      return array_map(function ($site) {
          switch_to_blog($site);
          $id = wp_insert_post(['post_title' => 'News', 'post_status' => 'publish']);
          $waiting = ['key' => Carillon\\settings()['uuid'], 'due' => (bool) wp_next_scheduled('carillon_attempt', [$id])];
          restore_current_blog();
          return $waiting;
      }, get_sites(['fields' => 'ids']));`);
    expect(waiting.map(({ due }) => due)).toEqual([true, true]);
    expect(new Set(waiting.map(({ key }) => key)).size).toBe(2);
  });

  test.each(['/', '/second/'])('serves the worker at %s', async (path) => {
    const response = await fetch(`${site.home}${path}?carillon-sw.js`);
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'cache-control': 'no-cache',
    });
    expect(await response.text()).toMatch(/^\/\*! Carillon/);
  });

  test('a page is the same for everybody, and has nothing secret', async () => {
    const admin = await site.signIn();
    const [visitor, member] = await Promise.all([get('/'), admin.get('/')]);
    const script = /<script[^>]*data-carillon[^>]*>/;
    expect(script.exec(member)![0]).toBe(script.exec(visitor)![0]);
    expect(script.exec(visitor)![0]).toMatch(
      / type="module".* src='[^']*scripts\/visitor\.js\?ver=1\.0\.0'/,
    );
    expect(visitor).not.toMatch(/secret-of|nonce/);
  });

  test('the key is loaded with no page, and is in no REST response', async () => {
    const loaded = await site.php<object>(`return wp_load_alloptions(true);`);
    expect(Object.keys(loaded)).toContain('carillon');
    expect(Object.keys(loaded)).not.toContain('carillon_key');
    const admin = await site.signIn();
    const settings = await admin.rest('GET', '/wp/v2/settings');
    expect(JSON.stringify(settings)).not.toMatch(/carillon/);
    const page = await admin.get('/wp-admin/options-general.php?page=carillon');
    expect(page).not.toContain('secret-of');
  });

  test('constants come before settings, and are printed nowhere', async () => {
    const key = 'carillon_mk_of-the-constant';
    const constants = {
      CARILLON_BASE_URL: 'https://other.example.com/',
      CARILLON_PROJECT: 'other',
      CARILLON_SECRET_KEY: key,
    };
    site.write('../constants.json', JSON.stringify(constants));
    expect(
      await site.php(
        `return [Carillon\\settings()['baseUrl'], Carillon\\settings()['project'], Carillon\\secret_key()];`,
      ),
    ).toEqual(['https://other.example.com', 'other', key]);
    // What is known is of another project.
    expect(await optionsIn(get('/'))).toBeUndefined();
    const admin = await site.signIn();
    const page = await admin.get('/wp-admin/options-general.php?page=carillon');
    expect(page).toContain('CARILLON_SECRET_KEY in wp-config.php sets it.');
    expect(page).not.toContain(key);
    const fields = await admin.fieldsOf('/wp-admin/options-general.php?page=carillon');
    await admin.post('/wp-admin/admin-post.php', { ...fields, bell: 'none', 'types[]': 'page' });
    site.write('../constants.json', '[]');
    expect(await site.php(`return Carillon\\settings();`)).toMatchObject({
      ...{ baseUrl: 'https://push.example.com', project: 'site-1', bell: 'none', types: ['page'] },
    });
  });

  test('a site that is not in production is confirmed first', async () => {
    site.write('../constants.json', '{"WP_ENVIRONMENT_TYPE":"staging"}');
    expect(await optionsIn(get('/'))).toBeUndefined();
    expect(await site.php(`return Carillon\\is_confirmed();`)).toBe(false);
  });

  test.each([
    ['push.example.com', 'https://push.example.com'],
    ['https://push.example.com/', 'https://push.example.com'],
    ['http://push.example.com:8443/api/v1/projects/x?y', 'https://push.example.com:8443'],
    ['http://localhost:4000/', 'http://localhost:4000'],
    ['', ''],
  ])('the address %p is taken as %p', async (typed, address) => {
    const code = `require_once WP_PLUGIN_DIR . '/carillon/includes/admin.php'; return Carillon\\clean_address('${typed}');`;
    expect(await site.php(code)).toBe(address);
  });

  test.each([
    ['nobody', { attempted: 0, delivered: 0 }, /^Nothing was sent: the service does not know/],
    ['a browser that is gone', { attempted: 1, delivered: 0 }, /did not accept/],
    ['a browser', { attempted: 1, delivered: 1 }, /^$/],
  ])('"Try it" says what became of a notification to %s', async (_, counts, problem) => {
    const response = JSON.stringify({ status: 201, body: counts });
    const code = `require_once WP_PLUGIN_DIR . '/carillon/includes/admin.php'; return Carillon\\trial_problem(json_decode('${response}', true));`;
    expect(await site.php(code)).toMatch(problem);
  });

  test.each([
    ['who may not change settings', 'writer'],
    ['without a nonce', 'admin'],
  ])('%s changes none', async (_, name) => {
    await site.php(
      `wp_insert_user(['user_login' => 'writer', 'user_pass' => 'password', 'role' => 'author']);`,
    );
    const person = await site.signIn(name);
    const before = await site.php(`return Carillon\\settings();`);
    for (const action of ['carillon_save', 'carillon_try', 'carillon_dismiss']) {
      const page = action === 'carillon_try' ? 'admin-ajax' : 'admin-post';
      await person.post(`/wp-admin/${page}.php`, { action, project: 'mine' }).catch(() => {});
    }
    expect(await site.php(`return Carillon\\settings();`)).toEqual(before);
  });

  test('when it is deleted, it leaves nothing on any site', async () => {
    const left = `
      global $wpdb;
      $left = [];
      foreach (get_sites(['fields' => 'ids']) as $id) {
          switch_to_blog($id);
          $left[] = $wpdb->get_col("select option_name from $wpdb->options where option_name like '%carillon%'");
          $left[] = $wpdb->get_col("select meta_key from $wpdb->postmeta where meta_key like '%carillon%'");
          $left[] = array_values(array_filter(array_keys(array_merge(...array_values(_get_cron_array()))), fn ($hook) => strpos($hook, 'carillon') === 0));
          restore_current_blog();
      }
      return array_merge(...$left);`;
    await site.php(`
      foreach (get_sites(['fields' => 'ids']) as $id) {
          switch_to_blog($id);
          $post = wp_insert_post(['post_title' => 'News', 'post_status' => 'publish']);
          Carillon\\opt_out($post, true);
          $GLOBALS['wpdb']->insert($GLOBALS['wpdb']->options, ['option_name' => 'carillon_claim_7', 'option_value' => 1]);
          restore_current_blog();
      }`);
    expect((await site.php<unknown[]>(left)).length).toBeGreaterThan(12);
    await site.php(`
      require_once ABSPATH . 'wp-admin/includes/plugin.php';
      deactivate_plugins('carillon/carillon.php', false, true);
      uninstall_plugin('carillon/carillon.php');`);
    expect(await site.php(left)).toEqual([]);
  });
});
