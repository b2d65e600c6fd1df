import { Pool } from 'undici';

/** Posts with undici over keep-alive connections, one per push in flight. */
export function undiciPost(origin: string, ca: string, connections: number) {
  const pool = new Pool(origin, { connections, connect: { ca } });
  return async (endpoint: string, headers: Headers, body: Uint8Array) => {
    const response = await pool.request({
      method: 'POST',
      path: endpoint.slice(origin.length),
      headers: Object.fromEntries(headers),
      body,
    });
    await response.body.dump();
    return { status: response.statusCode };
  };
}
