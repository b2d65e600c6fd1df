import { readFileSync } from 'node:fs';
import { carillonJson, cdkJson } from '../../admin/deploy/settings-file.ts';
import { useFolder } from '../fixtures/folder.ts';

const folder = useFolder();
const settings = { first: '1, "a"', second: 2, third: true };

test.each(Object.keys(settings))('%s is removed, and the others stay', async (name) => {
  const { [name]: _, ...others } = settings as Record<string, unknown>;
  const removed = { [name]: undefined, absent: undefined };

  const app = { app: 'node app', context: settings };
  const cdk = folder.write('cdk.json', JSON.stringify(app, null, 2));
  await cdkJson(cdk).write(removed, 'eu-west-1');
  expect(JSON.parse(readFileSync(cdk, 'utf8'))).toEqual({ ...app, context: others });

  const own = carillonJson(folder.write('carillon.json', JSON.stringify(settings)));
  await own.write(removed, 'eu-west-1');
  expect(await own.read()).toEqual(others);
});
