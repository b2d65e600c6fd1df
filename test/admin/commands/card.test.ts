import { execFileSync } from 'node:child_process';
import { projectCard } from '../../../admin/commands/create.ts';

const project = {
  projectId: 'demo',
  applicationServerKey: 'BPublic',
  secretKey: 'carillon_sk_secret',
  identityKey: 'carillon_id_identity',
};

describe('projectCard', () => {
  const card = projectCard(project, 'https://api.example');

  it('has a script without the keys of the server', () => {
    const script = card.slice(card.indexOf('<script'), card.lastIndexOf('</script>'));
    expect(script).toContain("projectId: 'demo'");
    expect(script).not.toMatch(/carillon_(sk|id)_/);
  });

  it('has a curl command that a shell can run, without the key in its arguments', () => {
    const command = card.slice(card.indexOf('curl '));
    const script = `curl() { printf '%s\\n' "$@"; echo stdin; cat; }\n${command}`;
    const printed = execFileSync('/bin/sh', ['-c', script], { encoding: 'utf8' }).split('\n');
    expect(printed).toEqual([
      '-X',
      'POST',
      'https://api.example/api/v1/projects/demo/notifications',
      '-H',
      '@-',
      '-H',
      'Content-Type: application/json',
      '-d',
      '{ "title": "Hello", "body": "The first of many." }',
      'stdin',
      'Authorization: Bearer carillon_sk_secret',
      '',
    ]);
  });
});
