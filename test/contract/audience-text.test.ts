import { audienceText } from '../../contract/openapi/audience-text.ts';

test.each([
  [{ channels: ['sales', 'news'], seenWithinDays: 7 }],
  [{ seenWithinDays: 7, channels: ['sales', 'news'] }],
])('an audience has one text, in whatever order %j was stored', (audience) => {
  expect(audienceText({ audience })).toBe('everyone, with sales or news, seen within 7 days');
});
