import {
  Anchor,
  AppShell,
  Badge,
  Box,
  Burger,
  Button,
  Group,
  type MantineColorScheme,
  NativeSelect,
  NavLink,
  Text,
  useMantineColorScheme,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { type ReactNode, useRef } from 'react';
import bell from './bell.svg?inline';
import { fragmentOf, type Place, type ViewName, viewTitles } from './routing/place.ts';
import { isOffered, useSession } from './session.ts';

interface FrameProps {
  readonly place: Place;
  readonly onSignOut: () => void;
  readonly children: ReactNode;
}

/** What surrounds every view: the project, whose key it is, and the links to the views. */
export function Frame({ place, onSignOut, children }: FrameProps) {
  const session = useSession();
  const { projectId, access } = session;
  const [isOpen, { toggle, close }] = useDisclosure();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const main = useRef<HTMLElement>(null);
  const current = place.view === 'notification' ? 'notifications' : place.view;
  const views = (Object.keys(viewTitles) as ViewName[]).filter((view) =>
    isOffered({ view }, session),
  );
  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !isOpen } }}
      padding="md"
      transitionDuration={0}
    >
      {/* biome-ignore lint/a11y/useValidAnchor: it moves the focus, as a link within the page does. */}
      <a
        className="skip"
        href="#main"
        onClick={(event) => {
          // The fragment has the view.
          event.preventDefault();
          main.current!.focus();
        }}
      >
        Skip to the content
      </a>
      <AppShell.Header px="md">
        <Group h="100%" justify="space-between" wrap="nowrap" gap="xs">
          <Group gap="xs" wrap="nowrap" miw={0}>
            <Burger
              opened={isOpen}
              onClick={toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label="Views"
              aria-expanded={isOpen}
            />
            <img src={bell} alt="" width="28" height="28" />
            <Text fw={600} visibleFrom="sm">
              Carillon
            </Text>
            <Text truncate title={projectId} id="project">
              {projectId}
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            {access.role !== 'owner' && (
              <Text size="sm" truncate maw={160} visibleFrom="sm">
                {access.name}
              </Text>
            )}
            <Badge variant="outline" color="gray" tt="none" autoContrast={false} c="inherit">
              {access.role}
            </Badge>
            <Button variant="default" size="compact-sm" onClick={onSignOut}>
              Sign out
            </Button>
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="sm" aria-label="Views">
        <Box flex={1}>
          {views.map((view) => (
            <NavLink
              key={view}
              href={fragmentOf({ view, projectId })}
              label={viewTitles[view]}
              active={view === current}
              aria-current={view === current ? 'page' : undefined}
              onClick={close}
            />
          ))}
        </Box>
        <NativeSelect
          label="Colours"
          size="xs"
          value={colorScheme}
          onChange={(event) => setColorScheme(event.currentTarget.value as MantineColorScheme)}
          data={[
            { value: 'auto', label: 'As the system' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
        />
        {session.isLocal && (
          <Text size="sm" mt="sm">
            <Anchor href="/docs">API reference</Anchor>
          </Text>
        )}
      </AppShell.Navbar>
      <AppShell.Main ref={main} tabIndex={-1} className="heading" id="main">
        <Box maw={1100} mx="auto">
          {children}
        </Box>
      </AppShell.Main>
    </AppShell>
  );
}
