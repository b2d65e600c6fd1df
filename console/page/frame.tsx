import {
  Anchor,
  Box,
  Button,
  Flex,
  Stack,
  Text,
  UnstyledButton,
  useMantineColorScheme,
  VisuallyHidden,
} from '@mantine/core';
import { type ReactNode, useRef } from 'react';
import { useProject } from './calls.ts';
import { bell, Icon } from './icons.tsx';
import { type ViewName, viewTitles } from './place.ts';
import { isOffered, useSession } from './session.ts';
import { Choice, Hint, Round } from './view.tsx';

/** What surrounds every view: the project, the links to the views, and whose key it is. On phones it is a head. */
export function Frame({ children }: { children: ReactNode }) {
  const session = useSession();
  const { projectId, place, href } = session;
  const name = useProject().data?.name ?? projectId;
  const main = useRef<HTMLElement>(null);
  const current = place.view === 'notification' ? 'notifications' : place.view;
  const views = (Object.keys(viewTitles) as ViewName[]).filter(
    (view) => view !== 'send' && isOffered(view, session),
  );
  return (
    <Box
      display={{ sm: 'grid' }}
      style={{ gridTemplateColumns: '14.5rem minmax(0, 1fr)' }}
      // Back finds a list where it was left.
      onClickCapture={() => history.replaceState({ top: window.scrollY }, '')}
    >
      <Anchor
        className="skip"
        href="#main"
        style={{ position: 'absolute', zIndex: 300, padding: 8, background: 'var(--subtle)' }}
        onClick={(event) => {
          // The fragment has the view: only the focus moves.
          event.preventDefault();
          main.current!.focus();
        }}
      >
        Skip to the content
      </Anchor>
      <Flex
        component="header"
        direction={{ base: 'row', sm: 'column' }}
        wrap={{ base: 'wrap', sm: 'nowrap' }}
        gap={{ base: 4, sm: 14 }}
        p={{ base: '6px 8px 0', sm: '16px 12px' }}
        pos={{ sm: 'sticky' }}
        top={0}
        h={{ sm: '100vh' }}
        bg={{ sm: 'var(--subtle)' }}
        style={{ boxShadow: 'inset -1px -1px var(--line)' }}
      >
        <Flex align="center" gap={10} p="4px 8px" miw={0} flex={{ base: 1, sm: 'none' }}>
          <img src={bell} alt="" width="28" height="28" />
          <Box miw={0}>
            <Text fw={600} truncate title={name}>
              <bdi>{name}</bdi>
            </Text>
            {name !== projectId && (
              <Text fz="xs" lh="xs" c="var(--faint)" truncate visibleFrom="sm">
                {projectId}
              </Text>
            )}
          </Box>
        </Flex>
        <NewNotification visibleFrom="sm" />
        <nav aria-label="Views">
          {views.map((view) => (
            <a key={view} href={href(view)} aria-current={view === current ? 'page' : undefined}>
              <Text component="span" visibleFrom="sm">
                <Icon name={view} />
              </Text>
              {viewTitles[view]}
            </a>
          ))}
        </nav>
        <Account />
      </Flex>
      <Box
        component="main"
        ref={main}
        tabIndex={-1}
        id="main"
        style={{ outline: 'none' }}
        w="100%"
        maw={1072}
        mx="auto"
        p={{ base: '20px 16px 48px', sm: '32px 32px 64px' }}
      >
        {children}
      </Box>
    </Box>
  );
}

/** Opens the form, for those who may send. Where a view has an ink button of its own, this one has none: see `console.css`. */
export function NewNotification(width: { visibleFrom?: 'sm'; hiddenFrom?: 'sm' }) {
  const { may, href } = useSession();
  if (!may('send')) return null;
  return (
    <Button
      component="a"
      href={href('send')}
      className="new"
      leftSection={<Icon name="plus" />}
      {...width}
    >
      {width.hiddenFrom === undefined ? 'New notification' : 'New'}
    </Button>
  );
}

const roleTexts = { owner: 'Owner', sender: 'Can send', viewer: 'Can view' } as const;

const colors = { auto: 'As the system', light: 'Light', dark: 'Dark' } as const;

/** Whose key it is, and what concerns the page as a whole: in a popover, which the browser opens and closes. */
function Account() {
  const { access, isLocal, signOut } = useSession();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const popover = useRef<HTMLDivElement>(null);
  const name = access.role === 'owner' ? 'Secret key' : access.name;
  const role = roleTexts[access.role];
  const words = name.trim().split(/\s+/);
  const initials = [words[0]!, ...words.slice(1).slice(-1)].map(([first]) => first?.toUpperCase());
  return (
    <Box
      mt="auto"
      onBlur={({ currentTarget, relatedTarget: next }) => {
        // It would be over what has the focus then.
        if (next !== null && !currentTarget.contains(next)) popover.current!.hidePopover();
      }}
    >
      <UnstyledButton className="account" w="100%" popoverTarget="account">
        <span aria-hidden>
          <Round tone="warning">{initials}</Round>
        </span>
        <VisuallyHidden hiddenFrom="sm">{`${name}, ${role}`}</VisuallyHidden>
        <Text component="span" fw={500} truncate visibleFrom="sm" flex={1}>
          <bdi>{name}</bdi>
          <Text component="span" display="block" fz="xs" lh="xs" c="var(--faint)">
            {role}
          </Text>
        </Text>
        <Icon name="more" />
      </UnstyledButton>
      <div id="account" popover="auto" ref={popover}>
        <Stack gap="sm" align="start">
          <Hint hiddenFrom="sm">
            <bdi>{name}</bdi> · {role}
          </Hint>
          <Choice label="Colours" choices={colors} value={colorScheme} onChange={setColorScheme} />
          {isLocal && <Anchor href="/docs">API reference</Anchor>}
          <Button variant="default" onClick={signOut}>
            Sign out
          </Button>
        </Stack>
      </div>
    </Box>
  );
}
