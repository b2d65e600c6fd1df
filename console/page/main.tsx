import '@mantine/core/styles.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { createRoot } from 'react-dom/client';
import bell from './bell.svg?inline';
import { localSession } from './calls/local-stack.ts';
import { Console } from './console.tsx';
import { cssVariables, theme } from './theme.ts';

// As data: the page's policy has no other images than those of https addresses.
document.querySelector<HTMLLinkElement>('link[rel=icon]')!.href = bell;
const session = await localSession();
createRoot(document.getElementById('console')!).render(
  <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
    <Console local={session} />
  </MantineProvider>,
);
