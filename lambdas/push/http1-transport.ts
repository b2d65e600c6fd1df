import http from 'node:http';
import https from 'node:https';
import { AnswerBody } from './answer-body.ts';
import { type Address, addressOf, type Sockets } from './sockets.ts';
import type { Transport } from './transport.ts';

/** An idle connection is closed after these ms: its other end may have been left by then. */
const options = { keepAlive: true, timeout: 30_000 };

/**
 * Pushes over HTTP/1.1, to a connection one at a time: a POST is not to be pipelined, since after
 * a break nobody could tell which ones had been taken (RFC 9112 §9.3.2).
 */
export function http1Transport(sockets: Sockets): Transport {
  const secure = { agent: new https.Agent(options), request: https.request };
  const plain = { agent: new http.Agent(options), request: http.request };
  const addresses = new Map<string, Address>();
  secure.agent.createConnection = (target) => sockets.openTls(target as Address, ['http/1.1']);
  plain.agent.createConnection = (target) => sockets.openPlain(target as Address);
  for (const { agent } of [secure, plain]) sockets.addHolder(() => closeIdle(agent));

  return ({ origin, path, headers, body, timeout }) => {
    const { agent, request } = origin.startsWith('https:') ? secure : plain;
    let address = addresses.get(origin);
    if (address === undefined) {
      address = addressOf(origin);
      addresses.set(origin, address);
    }
    const { host, port } = address;
    return new Promise((resolve, reject) => {
      const push = request({
        host,
        port,
        path,
        method: 'POST',
        agent,
        headers: { ...headers, 'content-length': body.length },
      });
      const timer = setTimeout(() => push.destroy(new Error('No answer in time.')), timeout);
      push.once('error', (error) => {
        clearTimeout(timer);
        reject(error);
      });
      push.once('response', (answer) => {
        const text = new AnswerBody();
        answer.on('data', (chunk: Buffer) => {
          if (!text.add(chunk)) answer.destroy();
        });
        // The status is known: a body that breaks off changes nothing of it.
        answer.on('error', () => {});
        answer.once('close', () => {
          clearTimeout(timer);
          resolve({
            status: answer.statusCode!,
            headers: answer.headers,
            body: text.toString(),
          });
        });
      });
      push.end(body);
    });
  };
}

function closeIdle(agent: http.Agent): boolean {
  const [socket] = Object.values(agent.freeSockets).flatMap((free) => free ?? []);
  socket?.destroy();
  return socket !== undefined;
}
