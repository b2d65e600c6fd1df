import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installPythonTool } from '../../bin/python-tool.ts';
import { useFolder } from '../fixtures/folder.ts';
import { useService } from '../fixtures/service.ts';

/** Part of this time goes to cases that it makes from each schema in turn, the rest to random ones. */
const seconds = 40;
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

const folder = useFolder();
const service = useService({ environment: { RATE_LIMIT_PER_MINUTE: '1000000' } });

test('schemathesis, which reads only openapi.json, finds no 5xx and nothing undocumented', async () => {
  const programs = await installPythonTool('schemathesis==4.32.5');
  if (programs === undefined) return;
  const project = await service.createProject();
  const { body } = await service.send(project, { title: 'T' });
  // Otherwise nearly every path names a project that does not exist.
  const configuration = folder.write(
    'schemathesis.toml',
    `[parameters]\n"path.projectId" = "${project.projectId}"\n"path.notificationId" = "${body.id}"\n`,
  );
  const options = [
    ...['--url', service.stack.baseUrl, '-H', `Authorization: Bearer ${project.secretKey}`],
    ...['--phases', 'examples,coverage,fuzzing', '--max-time', `${seconds}`, '--seed', '1'],
    ...['--checks', checks.join(), '--generation-database', 'none', '--no-color'],
  ];
  const read = ['--config-file', configuration, 'run', resolve('openapi.json'), ...options];
  const { stdout } = await promisify(execFile)(join(programs, 'schemathesis'), read, {
    ...{ cwd: folder.path, maxBuffer: 1e8 },
  }).catch((error: { readonly stdout: string; readonly stderr: string }) => {
    throw new Error(error.stdout + error.stderr);
  });
  const [, cases] = /(\d+) generated, \1 passed/.exec(stdout) ?? [];
  expect(Number(cases)).toBeGreaterThan(50);
});
