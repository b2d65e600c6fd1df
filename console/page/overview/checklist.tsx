import { Anchor, Box, Button, Group, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { countOf } from '../../../contract/text/text.ts';
import type { NotificationList } from '../../../contract/wire/notification.ts';
import type { ProjectResult } from '../../../contract/wire/project-result.ts';
import { Icon } from '../icons.tsx';
import { mayDo, useSession } from '../session.ts';
import { Card, CodeBlock, CopiedText, Facts, Hint, Round, Row } from '../view.tsx';

interface Step {
  readonly title: string;
  readonly isDone: boolean;
  /** What to do, and once it is done, what tells it. */
  readonly texts: readonly [toDo: string, done?: string];
  readonly action?: ReactNode;
  /** Below the step. */
  readonly details?: ReactNode;
}

/** The way to the first click. The next step has the only button. Nothing, once all is done. */
export function Checklist({
  project,
  list: { notifications },
}: {
  project: ProjectResult;
  list: NotificationList;
}) {
  const { access, isLocal, href } = useSession();
  const { subscribers } = project;
  const hasSent = notifications.length > 0;
  const are = subscribers === 1 ? 'is' : 'are';
  // Where there are figures, they say it.
  const subscribed = hasSent ? '' : `${countOf(subscribers, 'browser')} ${are} subscribed.`;
  const steps: readonly Step[] = [
    isLocal
      ? {
          title: 'Subscribe a browser',
          isDone: subscribers > 0 || hasSent,
          texts: ['This one, or simulated ones.', subscribed],
          action: (
            <Group gap="sm">
              <Anchor href={href('local')}>Add 500 simulated browsers</Anchor>
              <Button component="a" href={href('local')}>
                Subscribe this browser
              </Button>
            </Group>
          ),
        }
      : {
          title: 'Add the SDK to your site',
          isDone: subscribers > 0 || hasSent,
          texts: ['Then subscribe on it.', subscribed],
          details: <SiteSnippet project={project} />,
        },
    {
      title: 'Send a notification',
      isDone: hasSent,
      texts: ['To everyone who is subscribed, or to yourself as a test.'],
      action: mayDo(access).send && (
        <Button component="a" href={href('send')}>
          New notification
        </Button>
      ),
    },
    {
      title: 'See the first click',
      isDone: notifications.some(({ clicked }) => clicked > 0),
      texts: ['It is counted here when somebody clicks the notification.'],
    },
  ];
  const done = steps.filter(({ isDone }) => isDone).length;
  if (done === steps.length) return null;
  const next = steps.find(({ isDone }) => !isDone);
  return (
    <Card title="Your first notification" aside={<Hint>{`${done} of ${steps.length} done`}</Hint>}>
      <ol>
        {steps.map((step, index) => (
          <Row key={step.title}>
            <Round tone={step.isDone ? 'good' : 'neutral'}>
              {step.isDone ? <Icon name="tick" /> : index + 1}
            </Round>
            <Box flex="1 1 14rem">
              <Text fw={500}>{step.title}</Text>
              <Hint>{step.texts[step.isDone ? 1 : 0]}</Hint>
            </Box>
            {step === next && step.action}
            {step === next && step.details}
          </Row>
        ))}
      </ol>
    </Card>
  );
}

/** What a page needs to subscribe its visitors. */
export function SiteSnippet({
  project: { projectId, applicationServerKey },
}: {
  project: ProjectResult;
}) {
  const snippet = `<script src="/carillon.js"></script>
<script>
  const push = Carillon.init({
    baseUrl: '${location.origin}',
    projectId: '${projectId}',
    applicationServerKey: '${applicationServerKey}',
  });
</script>
<button onclick="push.subscribe()">Notify me</button>`;
  return (
    <Facts
      isStacked
      facts={[
        [
          'Application server key',
          <CopiedText key="key" text={applicationServerKey} what="the key" />,
        ],
        [
          'A page, with carillon.js and carillon-sw.js of the package at the root of its site',
          <CodeBlock key="snippet" code={snippet} what="the snippet" />,
        ],
      ]}
    />
  );
}
