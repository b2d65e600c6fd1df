import { english, helpOf } from '../../sdk/bell/texts.ts';

type State = Parameters<typeof helpOf>[0];

const granted: State = { reason: undefined, permission: 'granted' };
const denied: State = { reason: undefined, permission: 'denied' };

const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)';
const agents = {
  chrome: `${mac} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36`,
  edge: `${mac} AppleWebKit/537.36 (KHTML, like Gecko) Chrome/150.0.0.0 Safari/537.36 Edg/150.0.0.0`,
  firefox: 'Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0',
  safari: `${mac} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.4 Safari/605.1.15`,
};
const helpIn = (state: State, userAgent: string, webkit = {}) =>
  helpOf(state, english, { navigator: { userAgent, ...webkit } });

test.each([
  ['chrome', 'Select the icon to the left of the address, and allow'],
  ['edge', 'Select the icon to the left of the address, and allow'],
  ['firefox', 'remove the block'],
  ['safari', 'Safari’s settings'],
] as const)(
  'a visitor who blocked notifications in %s reads where to allow them',
  (agent, text) => {
    expect(helpIn(denied, agents[agent])).toContain(text);
  },
);

test('an app on the home screen of iOS has its permission in the Settings app', () => {
  expect(helpIn(denied, agents.safari, { standalone: true })).toContain('Settings app');
});

test('a tab on iOS tells how to add the site to the home screen', () => {
  const state = { reason: 'ios_not_installed', permission: 'unsupported' } as const;
  expect(helpIn(state, agents.safari, { standalone: false })).toContain('Add to Home Screen');
});

test.each([
  ['allowed notifications', granted],
  ['an undecided visitor', { reason: undefined, permission: 'default' }],
  ['a browser without push', { reason: 'no_push', permission: 'unsupported' }],
  ['an http page', { reason: 'insecure_context', permission: 'unsupported' }],
] as const)('%s needs no help', (_, state) => {
  expect(helpIn(state, agents.chrome)).toBe('');
});
