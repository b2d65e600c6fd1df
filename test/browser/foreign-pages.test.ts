import { GetFunctionConfigurationCommand, LambdaClient } from '@aws-sdk/client-lambda';
import puppeteer, { type Browser, type Page } from 'puppeteer-core';
import { localConfig } from '../../admin/local-config.ts';
import type { Slice } from '../../contract/infrastructure/slice.ts';
import { positionCount } from '../../lambdas/store/items.ts';
import type { SimulatedBrowser } from '../../local/push-service/simulated-browser.ts';
import { type BrowserName, browserNames, describeWith } from './fixtures/browsers.ts';
import { launchChromium } from './fixtures/chromium.ts';
import { type Site, serve } from './fixtures/site.ts';
import { type BrowserStack, startBrowserStack, type TestProject } from './fixtures/stack.ts';

/** A name of the attacker that resolves to this machine (DNS rebinding). */
const reboundHost = 'attacker.example';

const launch: Readonly<Record<BrowserName, (executablePath: string) => Promise<Browser>>> = {
  chromium: (executablePath) =>
    launchChromium(
      executablePath,
      `--host-resolver-rules=MAP ${reboundHost} 127.0.0.1`,
      // Newer versions ask the person before a page of the internet may call this machine.
      '--disable-features=LocalNetworkAccessChecks',
    ),
  firefox: (executablePath) =>
    puppeteer.launch({
      browser: 'firefox',
      executablePath,
      extraPrefsFirefox: { 'network.dns.localDomains': reboundHost },
    }),
};

/** Where a hostile page is, and how it addresses a server of the local stack by its port. */
const attackers = [
  ['of another origin', 'localhost', undefined],
  ['of another port', '127.0.0.1', undefined],
  ['whose name resolves to this machine', undefined, reboundHost],
] as const;

describe.each(browserNames)('%s', (name) => {
  describeWith(name, 'hostile pages', (executablePath) => {
    let stack: BrowserStack;
    let site: Site;
    let browser: Browser;
    let page: Page;
    let project: TestProject;
    let subscriber: SimulatedBrowser;

    beforeAll(async () => {
      stack = await startBrowserStack();
      site = await serve(new Map([['/', '<!doctype html><title>Hostile</title>']]));
      browser = await launch[name](executablePath);
    });
    beforeEach(async () => {
      page = await browser.newPage();
      project = await stack.newProject();
      subscriber = await stack.subscribe(project);
    });
    afterEach(() => page.close());
    afterAll(async () => {
      await browser?.close();
      await site?.stop();
      await stack?.stop();
    });

    /** Opens the hostile page. @returns the origin at which it finds the server with this port. */
    async function openAttacker(port: string, from: string | undefined, rebound?: string) {
      const { port: sitePort } = new URL(site.origin);
      if (rebound === undefined) {
        await page.goto(`http://${from}:${sitePort}/`);
        return `http://127.0.0.1:${port}`;
      }
      // The page comes from the attacker's server, before its name resolves to this machine.
      const own = `http://${rebound}:${port}`;
      await page.setRequestInterception(true);
      page.once('request', (request) =>
        request.respond({ contentType: 'text/html', body: site.files.get('/')! }),
      );
      await page.goto(own);
      await page.setRequestInterception(false);
      return own;
    }

    /** What the page gets for a request: the status and body, or the browser's error. */
    const post = (url: string, headers: Record<string, string>, body: object, mode?: 'no-cors') =>
      page.evaluate(
        async (target, init) => {
          try {
            const response = await fetch(target, init);
            return `${response.status} ${await response.text()}`;
          } catch (error) {
            return String(error);
          }
        },
        url,
        { method: 'POST', headers, body: JSON.stringify(body), ...(mode && { mode }) },
      );
    const refused = /^(403 |TypeError)/;

    const signedBy = (caller: string) => ({
      authorization: `AWS4-HMAC-SHA256 Credential=${caller}/20261122/us-east-1/x/aws4_request, SignedHeaders=host, Signature=0`,
    });
    const databaseCall = (operation: string, caller = 'local') => ({
      ...signedBy(caller),
      'x-amz-date': '20261122T000000Z',
      'content-type': 'application/x-amz-json-1.0',
      'x-amz-target': `DynamoDB_20120810.${operation}`,
    });

    /** The variables of the function that sends, as an operator reads them. */
    async function sendVariables(): Promise<Readonly<Record<string, string>>> {
      const operator = new LambdaClient(localConfig(stack.lambdaEndpoint));
      const FunctionName = functionNamed('Send');
      const { Environment } = await operator.send(
        new GetFunctionConfigurationCommand({ FunctionName }),
      );
      operator.destroy();
      return Environment!.Variables!;
    }
    const functionNamed = (part: string) =>
      [...stack.functions.keys()].find((known) => known.startsWith(part))!;

    test.each(attackers)('a page %s reads and writes nothing in the database', async (_, ...at) => {
      const { endpoint, tables } = stack.dynamodb;
      // A page can find a port, but not the address of the database.
      const target = await openAttacker(new URL(endpoint).port, ...at);
      const { projectId } = project;
      const read = { TableName: tables.VAPID_KEYS_TABLE, Key: { projectId: { S: projectId } } };
      expect(await post(target, databaseCall('GetItem'), read)).toMatch(refused);
      const erase = { TableName: tables.PROJECTS_TABLE, Key: { projectId: { S: projectId } } };
      expect(await post(target, databaseCall('DeleteItem'), erase)).toMatch(refused);
      expect(await stack.registry.find(projectId)).toBeDefined();
    });

    test.each(attackers)(
      'a page %s reads nothing as a function that may read it',
      async (_, ...at) => {
        const variables = await sendVariables();
        const { port } = new URL(variables.AWS_ENDPOINT_URL_DYNAMODB!);
        const target = await openAttacker(port, ...at);
        const { projectId } = project;
        const read = { TableName: stack.dynamodb.tables.VAPID_KEYS_TABLE };
        const headers = databaseCall('GetItem', variables.AWS_ACCESS_KEY_ID);
        const found = await post(target, headers, {
          ...read,
          Key: { projectId: { S: projectId } },
        });
        expect(found).toMatch(refused);
      },
    );

    test.each(attackers)('a page %s cannot push a forged slice', async (_, ...at) => {
      const { port } = new URL(stack.lambdaEndpoint);
      const target = await openAttacker(port, ...at);
      const slice: Slice = {
        projectId: project.projectId,
        project: project.ref,
        notificationId: '01890a5d-ac96-774b-bcce-b302099a8057',
        ...{ slice: 0, requestId: 'forged', sentAt: Date.now() },
        content: { title: 'Forged' },
        conditions: {},
        extraOrigins: [],
        eventsUrl: `${stack.baseUrl}/events`,
        ...{ eventWindowSeconds: 0, firstCounter: 0, counters: 1, consistent: true },
        ...{ from: 0, to: positionCount, step: positionCount },
        expiresAt: Math.floor(Date.now() / 1000) + 3600,
        pushesPerSecond: 1000,
      };
      const { AWS_ACCESS_KEY_ID: sender } = await sendVariables();
      const path = `/2015-03-31/functions/${functionNamed('Deliver')}/invocations`;
      expect(await post(target + path, signedBy(sender!), slice)).toMatch(refused);
      expect(subscriber.messages).toEqual([]);
    });

    test.each(attackers)('a page %s cannot control the push service', async (_, ...at) => {
      const { port } = new URL(stack.pushService.origin);
      const target = await openAttacker(port, ...at);
      const { live, gone } = stack.pushService.stats();
      // Without a preflight, which the push service would refuse. The page cannot read the response.
      await post(`${target}/browsers/${subscriber.id}/behave`, {}, { gone: true }, 'no-cors');
      for (let i = 0; i < 2; i++) await post(`${target}/browsers`, {}, {}, 'no-cors');
      expect(stack.pushService.stats()).toMatchObject({ live, gone });
    });

    test.each(attackers)('a page %s cannot connect as a browser', async (_, ...at) => {
      const { port } = new URL(stack.pushService.origin);
      const target = await openAttacker(port, ...at);
      const outcome = await page.evaluate(
        (url) =>
          new Promise((resolve) => {
            const socket = new WebSocket(url);
            socket.onopen = () => resolve('open');
            socket.onerror = () => resolve('refused');
          }),
        target.replace('http', 'ws'),
      );
      expect(outcome).toBe('refused');
    });
  });
});
