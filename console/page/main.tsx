import '@mantine/core/styles.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { createRoot } from 'react-dom/client';
import { localSession } from './calls/local-stack.ts';
import { Console } from './console.tsx';
import { cssVariables, theme } from './theme.ts';

const session = await localSession();
createRoot(document.getElementById('console')!).render(
  <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
    <Console local={session} />
  </MantineProvider>,
);
