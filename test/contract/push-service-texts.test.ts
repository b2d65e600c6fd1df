import { pushServiceHosts, pushServiceOf } from '../../contract/wire/push-services.ts';
import { pushServiceText } from '../../contract/wording/push-service-texts.ts';

test('each push service that is known by name has a text, and others have their origin', () => {
  const names = pushServiceHosts.map((host) =>
    pushServiceOf(`https://${host.replace('*', 'a')}`, []),
  );
  for (const name of names) expect(pushServiceText(name!)).toMatch(/^[A-Z]/);
  expect(pushServiceText('https://push.example.com')).toBe('https://push.example.com');
  expect(pushServiceText('constructor')).toBe('constructor');
});
