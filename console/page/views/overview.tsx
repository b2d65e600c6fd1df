import { limits } from '../../../contract/limits.ts';
import { type AudienceCounts, channelsByCount } from '../../../contract/schemas/project.ts';
import { useLoad } from '../calls/use-load.ts';
import { useNotificationPages } from '../calls/use-notification-pages.ts';
import { CopyButton } from '../components/copy-button.tsx';
import { Problem } from '../components/problem.tsx';
import { View } from '../components/view.tsx';
import { countText, monthText, rateText, timeText } from '../format.ts';
import { History } from '../history/history.tsx';
import { fragmentOf } from '../routing/place.ts';
import { useSession } from '../session.ts';
import { NotificationRows } from './notification-rows.tsx';
import { SimulatedBrowsers } from './simulated-browsers.tsx';

const latest = 5;

/** The project's subscribers, its usage against the limits, and its latest notifications. */
export function OverviewView() {
  const { client, settings } = useSession();
  const { projectId } = client;
  const project = useLoad(() => client.project({ sample: 'subscribers' }), [client]);
  const pages = useNotificationPages(client, limits.largestPage);
  const place = (view: 'send' | 'notifications' | 'browser') => fragmentOf({ view, projectId });
  return (
    <View
      title="Overview"
      projectId={projectId}
      actions={
        <a class="button primary" href={place('send')}>
          Send a notification
        </a>
      }
    >
      <Problem error={project.error} />
      {project.value !== undefined && (
        <>
          <div class="meters">
            <Meter
              title="Subscribers"
              used={project.value.subscribers}
              cap={project.value.subscriberCap}
              full="The service refuses new subscribers until the limit is raised."
            />
            <Meter
              title={`Notifications in ${monthText(project.value.month)}`}
              used={project.value.sentThisMonth}
              cap={project.value.monthlySendCap}
              full="The service refuses sends until the next month (UTC), or until the limit is raised."
            />
          </div>
          {project.value.subscribers === 0 && (
            <p class="card">
              <strong>Nobody is subscribed yet.</strong>{' '}
              {settings.local ? (
                <a href={place('browser')}>Subscribe this browser</a>
              ) : (
                <>
                  Add the SDK to your site: <code>docs/sdk.md</code> says how.
                </>
              )}
            </p>
          )}
          {settings.local && (
            <SimulatedBrowsers
              applicationServerKey={project.value.applicationServerKey}
              onAdded={project.reload}
            />
          )}
        </>
      )}
      <section class="card" aria-labelledby="latest-title">
        <div class="card-head">
          <h2 id="latest-title">Latest notifications</h2>
          <a href={place('notifications')}>All notifications</a>
        </div>
        {pages.loaded === undefined && <Problem error={pages.error} />}
        {pages.loaded !== undefined && (
          <NotificationRows notifications={pages.loaded.notifications.slice(0, latest)} />
        )}
      </section>
      <History pages={pages} />
      {project.value?.sample !== undefined && project.value.subscribers > 0 && (
        <Sample sample={project.value.sample} subscribers={project.value.subscribers} />
      )}
      {project.value !== undefined && (
        <section class="card" aria-labelledby="project-title">
          <h2 id="project-title">Project</h2>
          <dl class="facts">
            <dt>Id</dt>
            <dd>
              <code>{project.value.projectId}</code>
            </dd>
            <dt>Name</dt>
            <dd>{project.value.name}</dd>
            <dt>Service</dt>
            <dd>
              <code>{settings.baseUrl}</code>
            </dd>
            <dt>Application server key</dt>
            <dd class="with-copy">
              <code>{project.value.applicationServerKey}</code>
              <CopyButton text={project.value.applicationServerKey} label="Copy key" />
            </dd>
            <dt>Created</dt>
            <dd>
              <time dateTime={project.value.createdAt}>{timeText(project.value.createdAt)}</time>
            </dd>
          </dl>
        </section>
      )}
    </View>
  );
}

/** How many subscribers were seen lately, and have which channels. */
function Sample({ sample, subscribers }: { sample: AudienceCounts; subscribers: number }) {
  const rows = [
    ...Object.entries(sample.seenWithinDays).map(
      ([days, found]) => [`Seen within ${days} days`, found] as const,
    ),
    ...channelsByCount(sample).map(([name, found]) => [`Channel ${name}`, found] as const),
  ];
  const isWhole = sample.subscribers >= subscribers;
  return (
    <section class="card" aria-labelledby="sample-title">
      <h2 id="sample-title">Seen lately</h2>
      <dl class="facts" id="sample">
        {rows.map(([label, found]) => (
          <>
            <dt>{label}</dt>
            <dd>
              {isWhole && `${countText(found)}, `}
              {rateText(found, sample.subscribers)}
            </dd>
          </>
        ))}
      </dl>
      {!isWhole && (
        <p class="hint">Shares of a sample of {countText(sample.subscribers)} subscribers.</p>
      )}
    </section>
  );
}

interface MeterProps {
  readonly title: string;
  readonly used: number;
  /** Null: no limit. */
  readonly cap: number | null;
  /** What happens at the limit. */
  readonly full: string;
}

/** A count and its limit. */
function Meter({ title, used, cap, full }: MeterProps) {
  const part = cap === null ? 0 : Math.min(used / cap, 1);
  const level = part === 1 ? 'full' : part >= 0.9 ? 'high' : 'normal';
  return (
    <section class="card meter" data-level={level} aria-label={title}>
      <h2>{title}</h2>
      <p class="meter-count">
        <strong>{countText(used)}</strong>{' '}
        {cap === null ? 'no limit' : `of ${countText(cap)} (${rateText(used, cap) || '0 %'})`}
      </p>
      {cap !== null && (
        <span class="bar" aria-hidden="true">
          <span style={{ width: `${100 * part}%` }} />
        </span>
      )}
      {level === 'full' && <p class="meter-note">{full}</p>}
      {level === 'high' && <p class="meter-note">Nearly at the limit.</p>}
    </section>
  );
}
