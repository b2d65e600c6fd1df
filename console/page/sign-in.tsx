import { ActionIcon, Alert, Button, Group, Stack, TextInput, Title } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import {
  identityKeyPrefix,
  memberKeyPattern,
  memberKeyPrefix,
  projectIdPattern,
  secretKeyPattern,
  secretKeyPrefix,
} from '../../contract/wire/formats.ts';
import { projectClient } from './calls.ts';
import { bell, Icon } from './icons.tsx';
import { placeOf } from './place.ts';
import type { SignedIn } from './session.ts';
import { Hint, Problem, submitting } from './view.tsx';

interface SignInProps {
  /** Whether the service has refused the key that was used so far. */
  readonly isExpired: boolean;
  readonly onSignIn: (session: SignedIn) => void;
}

/** Asks for project and key, as password managers know it. */
export function SignIn({ isExpired, onSignIn }: SignInProps) {
  const form = useRef<HTMLFormElement>(null);
  const [issues, setIssues] = useState<{ project?: string; key?: string }>({});
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · Carillon console';
  }, []);
  useEffect(
    () => form.current!.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    [issues],
  );

  /** @param values what a password manager has filled in may have caused no event. */
  async function attempt(values: FormData) {
    const [id = '', key = ''] = ['username', 'password'].map((name) =>
      String(values.get(name)).trim(),
    );
    const found = { project: projectIdIssue(id), key: keyIssue(key) };
    setIssues(found);
    setError(undefined);
    if (found.project || found.key || isRunning) return;
    setRunning(true);
    // Reading the project also tells the role of the key.
    await projectClient(id, key)
      .project()
      .then(({ access }) => onSignIn({ projectId: id, key, access }), setError);
    setRunning(false);
  }

  return (
    <Group component="main" justify="center" mih="100vh" px="md" pb="24vh">
      <form
        ref={form}
        noValidate
        style={{ width: 360, maxWidth: '100%' }}
        onSubmit={submitting(attempt)}
      >
        <Stack>
          <img src={bell} alt="" width="40" height="40" />
          <Title order={1} mb="xs">
            Sign in to Carillon
          </Title>
          {isExpired && (
            <Alert color="warning" title="Your key is no longer valid.">
              It has expired, or was revoked. Sign in with another one.
            </Alert>
          )}
          <TextInput
            label="Project"
            name="username"
            autoComplete="username"
            defaultValue={placeOf(location.hash)?.projectId}
            error={issues.project}
          />
          <TextInput
            label="Key"
            type={isShown ? 'text' : 'password'}
            name="password"
            autoComplete="current-password"
            error={issues.key}
            rightSection={
              <ActionIcon
                aria-label="Show the key"
                aria-pressed={isShown}
                onClick={() => setShown(!isShown)}
              >
                <Icon name="eye" />
              </ActionIcon>
            }
          />
          <Button type="submit" loading={isRunning} size="md" mt="xs" fullWidth>
            Sign in
          </Button>
          <Problem error={error} />
          <Hint>
            The key stays in this page until you close it. Lost it? The operator makes another.
          </Hint>
        </Stack>
      </form>
    </Group>
  );
}

/** What is wrong with a project id that a person entered. */
export function projectIdIssue(projectId: string): string | undefined {
  if (projectId === '') return 'Enter the id of the project.';
  return projectIdPattern.test(projectId)
    ? undefined
    : 'Use 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen.';
}

/** What is wrong with a key that a person entered. It never contains the key. */
export function keyIssue(key: string): string | undefined {
  if (key === '') return 'Enter the key.';
  if (secretKeyPattern.test(key) || memberKeyPattern.test(key)) return undefined;
  if (key.startsWith(identityKeyPrefix)) {
    return `This is the identity key, which signs user ids. A secret key starts with “${secretKeyPrefix}”.`;
  }
  return `A key is “${secretKeyPrefix}” or “${memberKeyPrefix}”, and 43 characters. This text has ${key.length}: copy it again.`;
}
