import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installPythonTool } from '../../bin/python-tool.ts';
import { useFolder } from '../fixtures/folder.ts';
import { useService } from '../fixtures/service.ts';

/** Programs of users of generated clients: each prints `delivered` and the code of a refusal. */
const typescript = `
import { createClient } from './client/client';
import { send, type SendRequest, subscribe } from './client';

const { CARILLON_BASE_URL: baseUrl, CARILLON_PROJECT, CARILLON_SECRET_KEY: auth = '', SUBSCRIPTION = '' } = process.env;
const path = { projectId: CARILLON_PROJECT! };
const client = createClient({ baseUrl, auth });

await subscribe({ client, path, body: JSON.parse(SUBSCRIPTION), throwOnError: true });
const body: SendRequest = { title: 'From a generated client', userIds: ['ada'] };
const { data, response } = await send({ client, path, body, headers: { 'Idempotency-Key': 'k' } });
if (data === undefined || 'status' in data) throw new Error(\`\${response.status}\`);
const delivered: number = data.delivered;

// @ts-expect-error the fields are userIds and title
const mistyped: SendRequest = { titel: 'T', userId: 'ada' };
const { error } = await send({ client, path, body: mistyped });
if (error === undefined || !('error' in error)) throw new Error('The request was accepted.');
const code: 'invalid_request' | string = error.error.code;
console.log(JSON.stringify({ delivered, code }));
`;

const python = `
import json, os
from client.client import AuthenticatedClient
from client.api.browsers import subscribe
from client.api.servers import send
from client.models import InvalidRequestError, SendRequest, Subscription

project = os.environ["CARILLON_PROJECT"]
client = AuthenticatedClient(base_url=os.environ["CARILLON_BASE_URL"], token=os.environ["CARILLON_SECRET_KEY"])
subscription = Subscription.from_dict(json.loads(os.environ["SUBSCRIPTION"]))
assert subscribe.sync(project, client=client, body=subscription).ok is True
request = SendRequest(title="From a generated client", user_ids=["ada"])
sent = send.sync(project, client=client, body=request, idempotency_key="k")
refused = send.sync(project, client=client, body=SendRequest(title=""))
assert isinstance(refused, InvalidRequestError)
print(json.dumps({"delivered": sent.delivered, "code": refused.error.code}))
`;

const go = `
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
)

func main() {
	ctx, project, key := context.Background(), os.Getenv("CARILLON_PROJECT"), "k"
	authorize := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Authorization", "Bearer "+os.Getenv("CARILLON_SECRET_KEY"))
		return nil
	}
	client, err := NewClientWithResponses(os.Getenv("CARILLON_BASE_URL"), WithRequestEditorFn(authorize))
	check(err)
	var subscription Subscription
	check(json.Unmarshal([]byte(os.Getenv("SUBSCRIPTION")), &subscription))
	subscribed, err := client.SubscribeWithResponse(ctx, project, subscription)
	check(err)
	request := SendRequest{Title: "From a generated client", UserIds: &[]string{"ada"}}
	sent, err := client.SendWithResponse(ctx, project, &SendParams{IdempotencyKey: &key}, request)
	check(err)
	refused, err := client.SendWithResponse(ctx, project, &SendParams{}, SendRequest{})
	check(err)
	reason, err := refused.JSON400.AsInvalidRequestError()
	check(err)
	if !subscribed.JSON201.Ok {
		panic("not ok")
	}
	fmt.Printf("{\\"delivered\\":%d,\\"code\\":\\"%v\\"}", sent.JSON201.Delivered, reason.Error.Code)
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}
`;

const tsconfig = {
  compilerOptions: {
    target: 'es2023',
    lib: ['es2023', 'dom', 'dom.iterable'],
    module: 'preserve',
    strict: true,
    noEmit: true,
    types: ['node'],
    typeRoots: [`${process.cwd()}/node_modules/@types`],
  },
};

interface Options {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** @returns what it prints. */
async function run(command: string, parameters: readonly string[], { cwd, env }: Options = {}) {
  const options = { ...(cwd && { cwd }), env: { ...process.env, ...env }, maxBuffer: 1e8 };
  try {
    return (await promisify(execFile)(command, parameters, options)).stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${command} ${parameters.join(' ')}\n${stdout}${stderr}`, { cause: error });
  }
}

const folder = useFolder();
const service = useService();
const document = resolve('openapi.json');

/** @param start starts the program with these variables. */
async function expectToSend(
  start: (env: Readonly<Record<string, string>>) => Promise<string>,
): Promise<void> {
  const project = await service.createProject();
  const { applicationServerKey } = project;
  const browser = service.stack.pushService.subscribe({ applicationServerKey });
  const printed = await start({
    CARILLON_BASE_URL: service.stack.baseUrl,
    CARILLON_PROJECT: project.projectId,
    CARILLON_SECRET_KEY: project.secretKey,
    SUBSCRIPTION: JSON.stringify({ ...browser.toJSON(), userId: 'ada' }),
  });
  expect(JSON.parse(printed)).toEqual({ delivered: 1, code: 'invalid_request' });
  expect(browser.messages.map(({ text }) => text)).toEqual([
    expect.stringContaining('From a generated client'),
  ]);
}

test('a TypeScript client from openapi.json compiles, subscribes and sends', async () => {
  const node = (parameters: readonly string[], env?: Options['env']) =>
    run(process.execPath, parameters, { ...(env && { env }) });
  const generator = 'node_modules/@hey-api/openapi-ts/bin/run.js';
  await node([generator, '-i', document, '-o', `${folder.path}/client`, '--no-log-file']);
  folder.write('package.json', '{ "type": "module" }');
  folder.write('tsconfig.json', JSON.stringify(tsconfig));
  const file = folder.write('program.ts', typescript);
  await node(['node_modules/typescript/bin/tsc', '-p', folder.path]);
  await expectToSend((env) => node(['--import', 'tsx', file], env));
});

test('a Go client from openapi.json compiles, subscribes and sends', async () => {
  const inFolder = (parameters: readonly string[]) => run('go', parameters, { cwd: folder.path });
  const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2';
  folder.write('main.go', go);
  try {
    folder.write(
      'client.go',
      await run('go', [
        'run',
        generator,
        '-generate',
        'types,client',
        '-package',
        'main',
        document,
      ]),
    );
    await inFolder(['mod', 'init', 'example']);
    await inFolder(['get', 'github.com/oapi-codegen/runtime@v1.9.0']);
  } catch (error) {
    // Modules that cannot be fetched, or a Go that is too old for them.
    if (!/go: .*(dial tcp|download|proxy|requires go)|ENOENT/.test(String(error))) throw error;
    console.log(`NOT CHECKED: the generator for Go cannot run here: ${error}`);
    return;
  }
  await inFolder(['build', '-o', 'main', '.']);
  await expectToSend((env) => run(join(folder.path, 'main'), [], { env }));
});

test('a Python client from openapi.json subscribes and sends', async () => {
  const programs = await installPythonTool('openapi-python-client==0.29.0');
  if (programs === undefined) return;
  const output = ['--output-path', join(folder.path, 'client'), '--meta', 'none'];
  await run(join(programs, 'openapi-python-client'), ['generate', '--path', document, ...output]);
  const file = folder.write('program.py', python);
  await expectToSend((env) => run(join(programs, 'python'), [file], { env }));
});
