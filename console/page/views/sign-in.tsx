import { Alert, Button, Container, Paper, Stack, TextInput, Title } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { projectClient } from '../calls/project-client.ts';
import { Problem } from '../components/problem.tsx';
import type { SignedIn } from '../session.ts';
import { keyIssue, projectIdIssue } from './access-issues.ts';

interface SignInProps {
  /** Of the URL. */
  readonly projectId: string | undefined;
  /** Whether the service has refused the key that was used so far. */
  readonly isExpired: boolean;
  readonly onSignIn: (session: SignedIn) => void;
}

/** Asks for project and key, as password managers know it. */
export function SignIn({ projectId, isExpired, onSignIn }: SignInProps) {
  const form = useRef<HTMLFormElement>(null);
  const [issues, setIssues] = useState<{ project?: string; key?: string }>({});
  const [error, setError] = useState<unknown>();
  const [isRunning, setRunning] = useState(false);
  useEffect(() => {
    document.title = 'Sign in · Carillon console';
  }, []);
  useEffect(
    () => form.current!.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(),
    [issues],
  );

  async function attempt() {
    // What a password manager has filled in may have caused no event.
    const values = new FormData(form.current!);
    const [project, key] = ['username', 'password'].map((name) => String(values.get(name)).trim());
    const found = { project: projectIdIssue(project!), key: keyIssue(key!) };
    setIssues(found);
    setError(undefined);
    if (found.project || found.key || isRunning) return;
    setRunning(true);
    await signIn(project!, key!).then(onSignIn, setError);
    setRunning(false);
  }

  return (
    <Container component="main" size={420} py="xl">
      <Paper withBorder p="lg">
        <form
          ref={form}
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            void attempt();
          }}
        >
          <Stack>
            <Title order={1} size="h3">
              Carillon console
            </Title>
            {isExpired && (
              <Alert
                role="alert"
                color="yellow"
                variant="outline"
                title="Your key is no longer valid."
              >
                It has expired, or was revoked. Sign in with another one.
              </Alert>
            )}
            <TextInput
              label="Project id"
              name="username"
              autoComplete="username"
              autoCapitalize="none"
              spellCheck={false}
              defaultValue={projectId}
              error={issues.project}
            />
            <TextInput
              type="password"
              label="Key"
              description="Your own key, or the project’s secret key. It stays in this page until you close it."
              name="password"
              autoComplete="current-password"
              error={issues.key}
            />
            <Button type="submit" loading={isRunning}>
              Sign in
            </Button>
            <Problem error={error} />
          </Stack>
        </form>
      </Paper>
    </Container>
  );
}

/** Reads the project, which also tells the role of the key. @throws {CarillonError} */
async function signIn(projectId: string, key: string): Promise<SignedIn> {
  const project = await projectClient(projectId, key).project();
  return { projectId, key, access: project.access };
}
