import { pushServiceText, systemAdvice } from '../../sdk/check/check.ts';
import { english } from '../../sdk/check/texts.ts';

test.each([
  ['https://fcm.googleapis.com/fcm/send/x', /^Messages come through Google \(FCM\)/],
  ['https://jmt17.google.com/fcm/send/x', /Google \(FCM\)/],
  ['https://updates.push.services.mozilla.com/wpush/v2/x', /^Messages come through Mozilla\.$/],
  ['https://db5p.notify.windows.com/w/?token=x', /Microsoft \(WNS\)/],
  ['https://web.push.apple.com/x', /Apple/],
  ['https://ntfy.sh/x', /^Messages come through ntfy\.sh\.$/],
])('the push service of %s is told in words', async (endpoint, text) => {
  expect(await pushServiceText(endpoint, {}, english)).toEqual({
    text: expect.stringMatching(text),
  });
});

test('the address that Edge for Android gives is a problem', async () => {
  const { problem } = await pushServiceText(
    'https://permanently-removed.invalid/fcm/x',
    {},
    english,
  );
  expect(problem).toContain('an address that does not exist (permanently-removed.invalid)');
});

test('Brave is told which setting it needs', async () => {
  const brave = { isBrave: async () => true };
  const { text } = await pushServiceText(
    'https://fcm.googleapis.com/fcm/send/x',
    { brave },
    english,
  );
  expect(text).toContain('“Use Google services for push messaging” is on');
});

test.each([
  ['Mozilla/5.0 (Linux; Android 16; Pixel 9) Chrome/150.0 Mobile', 'battery saving'],
  ['Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X)', 'turn off Focus'],
  ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)', 'System Settings'],
  ['Mozilla/5.0 (Windows NT 10.0; Win64; x64)', 'System, Notifications'],
  ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0)', 'notification settings of the system'],
])('%s gets advice for its system', (userAgent, advice) => {
  expect(systemAdvice(userAgent, english)).toContain(advice);
});
