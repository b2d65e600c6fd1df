import { consoleFiles } from '../../console/console-files.ts';

test('the page, its script and its styles are bundled', async () => {
  const files = await consoleFiles(process.cwd());
  expect([...files.keys()]).toEqual(['/', '/console.js', '/console.css', '/bell.svg']);
  expect(Buffer.from(files.get('/console.js')!.contents).toString()).toContain('Carillon');
});
