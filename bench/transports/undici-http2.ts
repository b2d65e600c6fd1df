import { serveDispatch } from '../undici-dispatch.ts';

serveDispatch({ connections: 2, pipelining: 100, allowH2: true });
