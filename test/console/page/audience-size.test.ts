import { audienceSizeText } from '../../../console/page/send/audience-size.ts';
import { emptySendForm, type SendForm } from '../../../console/page/send/send-form.ts';
import type { AudienceCounts } from '../../../contract/schemas/project.ts';

const sample: AudienceCounts = {
  subscribers: 1000,
  seenWithinDays: { 7: 500, 30: 800, 90: 1000, 365: 1000 },
  channels: { news: 300, sales: 100 },
};

test.each<[form: Partial<SendForm>, subscribers: number | undefined, text: string]>([
  [{}, 4000, '4,000 subscribers'],
  [{}, undefined, 'everyone'],
  [{ channels: 'news' }, undefined, 'a part of the subscribers'],
  [{ channels: 'news' }, 1000, '300 subscribers'],
  [{ channels: 'news' }, 4000, 'about 1,200 subscribers'],
  [{ seenWithinDays: '7' }, 4000, 'about 2,000 subscribers'],
  // Some have both channels.
  [{ channels: 'news\nsales' }, 1000, 'at most about 400 subscribers'],
  [{ channels: 'news', seenWithinDays: '7' }, 4000, 'at most about 1,200 subscribers'],
  [{ to: 'userIds', userIds: 'ada\ngrace\n' }, 4000, '2 user ids'],
  [{ to: 'recipients', recipients: 'userId,name\nada,Ada' }, 4000, '1 user id'],
])('%j of %p subscribers goes to %p', (form, subscribers, text) => {
  expect(audienceSizeText({ ...emptySendForm, ...form }, subscribers, sample)).toBe(text);
});
