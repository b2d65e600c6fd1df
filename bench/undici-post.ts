import { Pool } from 'undici';

/** Posts by undici, over as many kept connections as there are pushes in flight. */
export function undiciPost(origin: string, ca: string, connections: number) {
  const pool = new Pool(origin, { connections, connect: { ca } });
  return async (endpoint: string, headers: Headers, body: Uint8Array) => {
    const answer = await pool.request({
      method: 'POST',
      path: endpoint.slice(origin.length),
      headers: Object.fromEntries(headers),
      body,
    });
    await answer.body.dump();
    return { status: answer.statusCode };
  };
}
