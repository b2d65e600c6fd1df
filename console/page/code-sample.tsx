import { Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { sliceSizes } from '../../contract/infrastructure/delivery.ts';
import type { SendRequest } from '../../contract/wire/notification.ts';
import { useProject } from './calls.ts';
import { codeSample, type SampleLanguage, sampleLanguages } from './code-samples.ts';
import { useSession } from './session.ts';
import { Choice, Copied, Hint } from './view.tsx';

/** The code that sends a notification. */
export function CodeSample({ notification }: { notification: SendRequest }) {
  const { projectId } = useSession();
  const { subscribers = 0 } = useProject().data ?? {};
  const [language, setLanguage] = useState<SampleLanguage>('curl');
  const isToUsers = 'userIds' in notification || 'recipients' in notification;
  const respondAsync = !isToUsers && subscribers > sliceSizes.recipients;
  const code = codeSample(language, {
    baseUrl: location.origin,
    projectId,
    notification,
    respondAsync,
  });
  return (
    <Stack gap="xs" mt="sm">
      <Group>
        <Choice
          label="Language"
          choices={sampleLanguages}
          value={language}
          onChange={setLanguage}
        />
      </Group>
      <Copied text={code} what="the code" isCode />
      <Hint>The secret key is read from the variable CARILLON_SECRET_KEY.</Hint>
    </Stack>
  );
}
