import { Progress, SimpleGrid, Stack, Text } from '@mantine/core';
import { countText } from '../../contract/text/text.ts';
import { type PublicName, publicSettings } from '../../contract/wire/project.ts';
import type { ProjectResult } from '../../contract/wire/project-result.ts';
import { settingText, settingTexts } from '../../contract/wording/setting-texts.ts';
import { useProject } from './calls.ts';
import { monthEndText, timeText } from './format.ts';
import { SiteSnippet } from './overview-view.tsx';
import { Card, Copied, Fact, Hint, Pending, View } from './view.tsx';

/** Which project it is, what a page needs, and its limits. */
export function SettingsView() {
  const query = useProject();
  const project = query.data;
  return (
    <View title="Settings">
      <Pending of={[query]} heights={[230, 320]} />
      {project !== undefined && (
        <SimpleGrid type="container" cols={{ base: 1, '46rem': 2 }}>
          <Stack>
            <Card title="Project">
              <dl className="stacked">
                {Object.entries(publicSettings(project)).map(([name, value]) => (
                  <Fact key={name} name={settingTexts[name as PublicName].label}>
                    <bdi>{settingText(name as PublicName, value)}</bdi>
                  </Fact>
                ))}
                <Fact name="Id">
                  <Copied text={project.projectId} what="the id" />
                </Fact>
                <Fact name="Service">
                  <Copied text={location.origin} what="the address" />
                </Fact>
                <Fact name="Created">{timeText(project.createdAt, 'long')}</Fact>
              </dl>
            </Card>
            <Limits {...project} />
          </Stack>
          <Stack>
            <Card title="For your page">
              <SiteSnippet {...project} />
            </Card>
          </Stack>
        </SimpleGrid>
      )}
    </View>
  );
}

/** How much of each limit is used. */
function Limits({ month, ...project }: ProjectResult) {
  const restart = `Starts at 0 again on ${monthEndText(month)} (UTC)`;
  const limits = [
    ['Subscribers', project.subscribers, project.subscriberCap, ''],
    ['Notifications', project.sentThisMonth, project.monthlySendCap, restart],
  ] as const;
  return (
    <Card title="Limits">
      {limits.map(([name, used, cap, note]) => (
        <div key={name} data-limit={name}>
          <Text>
            <b>{name}</b> {countText(used)}
            {cap === null ? ', no limit' : ` of ${countText(cap)}`}
          </Text>
          {cap !== null && (
            <Progress
              value={(100 * used) / cap}
              my={6}
              aria-hidden
              color={used >= cap ? 'var(--bad-fill)' : undefined}
            />
          )}
          <Hint>{note}</Hint>
        </div>
      ))}
    </Card>
  );
}
