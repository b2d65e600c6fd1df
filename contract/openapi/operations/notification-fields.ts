import { type FailureReason, failureReasons } from '../../failure-reasons.ts';
import type { AudienceField, Member } from '../../field-kinds.ts';
import type { deliveryCountsSchema } from '../../schemas/delivery-counts.ts';
import type { notificationContentSchema } from '../../schemas/notification.ts';
import { audienceFields, contentFields } from '../../send-fields.ts';
import type { AnyFields, Fact, Fields } from '../described.ts';
import { type FieldText, fieldTexts } from '../field-texts.ts';

/** Facts of the fields that several operations have. */

export const contentOfRequest = contentFacts(true);
export const contentOfResponse = contentFacts(false);

export const audienceFacts = factsOf(audienceFields, true) as Record<
  keyof typeof audienceFields,
  Fact
>;

function contentFacts(isOfRequest: boolean) {
  return factsOf(contentFields, isOfRequest) as unknown as Fields<typeof notificationContentSchema>;
}

function factsOf(
  rows: Readonly<Record<string, Member | AudienceField>>,
  isOfRequest: boolean,
  texts: Readonly<Record<string, FieldText>> = fieldTexts,
): AnyFields {
  const facts = Object.entries(rows).map(([name, row]) => {
    const { description, members } = texts[name]!;
    const isUrl = row.kind === 'url';
    return [
      name,
      {
        description: isUrl ? `${description}: an absolute http or https URL.` : description,
        // Of requests only: a URL with other characters than RFC 3986 allows is returned as it was sent.
        ...(isUrl && isOfRequest && row.placeholders !== 'filled' && { format: 'uri' }),
        ...('default' in row && { default: row.default }),
        ...(row.kind === 'list' && { fields: factsOf(row.members, isOfRequest, members) }),
      },
    ];
  });
  return Object.fromEntries(facts);
}

export const countFields: Fields<typeof deliveryCountsSchema> = {
  attempted: { description: 'Always `delivered + removed + failed`.' },
  delivered: { description: 'The push service accepted the message.' },
  removed: {
    description:
      'The push service says that the subscription is gone (404 or 410). It was deleted.',
  },
  failed: { description: 'Everything else, after retries.' },
};

export const failuresField = {
  description: 'Failures by their [reason](operating.md#logs). Absent if nothing failed.',
  fields: reasonFields(),
};

function reasonFields() {
  const facts = Object.entries(failureReasons).map(([reason, description]) => [
    reason,
    { description },
  ]);
  return Object.fromEntries(facts) as Record<FailureReason, Fact>;
}

export const unreachedField: Fact = {
  description:
    'At least this many subscribers were not attempted: the time ran out, the database failed, a function ' +
    'crashed, or the notification was [stopped](#stop-a-notification). Absent if all were attempted. With ' +
    '`channels` or `seenWithinDays`, only subscribers that were read are counted, and at least 1.',
};

export const idField: Fact = { description: 'The notification’s id: a UUID of version 7.' };

export const statusField: Fact = {
  description:
    '`sending`: functions work on it. `sent`: they have ended. `interrupted`: a function crashed, and its ' +
    'work is not continued. `stopping`: it was [stopped](#stop-a-notification), and functions may still ' +
    'push. `stopped`: it was stopped, and they have ended.',
};
