import { serveDispatch } from '../undici-dispatch.ts';

serveDispatch({ connections: 4, pipelining: 25 });
