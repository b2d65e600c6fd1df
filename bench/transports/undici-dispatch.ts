import { serveDispatch } from '../undici-dispatch.ts';

serveDispatch();
