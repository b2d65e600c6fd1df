import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { CarillonServer, signUserId } from 'carillon/server';

const { CARILLON_IDENTITY_KEY, PORT = '8000' } = process.env;
const port = Number(PORT);
const config = {
  baseUrl: process.env.CARILLON_BASE_URL,
  projectId: process.env.CARILLON_PROJECT,
  applicationServerKey: process.env.CARILLON_APPLICATION_SERVER_KEY,
};

const fileOf = (name) => readFile(fileURLToPath(import.meta.resolve(name)));
const scripts = {
  '/carillon.js': await fileOf('carillon/global'),
  '/carillon-sw.js': await fileOf('carillon/sw'),
};

const carillon = CarillonServer.fromEnvironment();

/** Users by the id of their session. */
const sessions = new Map();

/** The ids of the devices that each user has removed. Your site stores them. */
const removedDevices = new Map();

/** Text cannot end the script element that it is in. */
const json = (value) => JSON.stringify(value).replaceAll('<', '\\u003c');

/** The user id for the page, with the proof that it is theirs. The user is that of the session. */
const identity = (user) => (user ? [user, signUserId(CARILLON_IDENTITY_KEY, user)] : [null]);

const logInForm = `
<form method="post" action="/log-in">
  <label>Name <input name="user" required pattern="[a-z]{1,20}"></label> <button>Log in</button>
</form>`;

const account = (user) => `
<p>You are ${user}. <button type="button" id="notify" hidden></button></p>
<h2>Where you get notifications</h2>
<ul id="devices"></ul>
<form method="post" action="/log-out"><button>Log out</button></form>`;

const page = (user) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>A shop</title>
<h1>A shop</h1>
${user ? account(user) : logInForm}
<script src="/carillon.js"></script>
<script>
  const push = Carillon.init(${json(config)});

  // On every page: it makes a request only after a log-in or log-out, if this browser is subscribed.
  push.identify(...${json(identity(user))}).catch(console.warn);

  const button = document.getElementById('notify');
  const list = document.getElementById('devices');
  const browsers = { fcm: 'Chrome', mozilla: 'Firefox', wns: 'Edge', apple: 'Safari' };

  function entry({ id, pushService, updatedAt }, isThisBrowser) {
    const item = document.createElement('li');
    const day = new Date(updatedAt).toLocaleDateString();
    item.textContent = (browsers[pushService] ?? 'Another browser') + ', last seen on ' + day + ' ';
    if (isThisBrowser) {
      item.append('(this browser)');
      return item;
    }
    const remove = document.createElement('button');
    remove.textContent = 'Remove';
    remove.onclick = async () => {
      await fetch('/devices?id=' + id, { method: 'DELETE' });
      await show();
    };
    item.append(remove);
    return item;
  }

  async function show() {
    const own = await push.deviceId();
    const { devices, removed } = await (await fetch('/devices')).json();
    // Removed on another device: init() would register this browser again.
    if (removed.includes(own)) return push.unsubscribe().catch(console.warn);
    list.replaceChildren(...devices.map((device) => entry(device, device.id === own)));
    button.hidden = !push.supported || (await push.permission()) === 'denied';
    button.textContent = (await push.subscription()) ? 'Stop notifications' : 'Notify me about my orders';
  }
  if (button) {
    button.onclick = async () => {
      const subscription = await push.subscription();
      await (subscription ? push.unsubscribe() : push.subscribe()).catch(console.warn);
    };
    push.on('change', show);
    push.ready.then(show);
  }
</script>
</html>`;

const server = createServer(async (request, response) => {
  const [path, query] = request.url.split('?');
  const [, session] = /(?:^|; )session=([\w-]+)/.exec(request.headers.cookie ?? '') ?? [];
  if (path in scripts) {
    response.writeHead(200, { 'Content-Type': 'text/javascript' }).end(scripts[path]);
  } else if (path === '/devices') {
    await serveDevices(request.method, new URLSearchParams(query), sessions.get(session), response);
  } else if (request.method !== 'POST') {
    // The page says who is logged in. From the browser's cache, Back would say it again after a log-out.
    response.writeHead(200, {
      'Content-Type': 'text/html; charset=utf-8',
      'Cache-Control': 'no-store',
    });
    response.end(page(sessions.get(session)));
  } else {
    sessions.delete(session);
    if (path === '/log-in') await logIn(request, response);
    response.writeHead(303, { Location: '/' }).end();
  }
});

/** Lists the devices of a user, or removes one. The user is that of the session. */
async function serveDevices(method, query, user, response) {
  if (user === undefined) return response.writeHead(401).end();
  const removed = removedDevices.get(user) ?? new Set();
  try {
    if (method === 'DELETE') {
      const id = query.get('id') ?? '';
      await carillon.removeDevice(user, id);
      removedDevices.set(user, removed.add(id));
    }
    const { devices } = await carillon.user(user);
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end(json({ devices, removed: [...removed] }));
  } catch (error) {
    console.warn(error.message);
    response.writeHead(502).end();
  }
}

/** Your site checks a password here. */
async function logIn(request, response) {
  let body = '';
  for await (const chunk of request) body += chunk;
  const user = new URLSearchParams(body).get('user') ?? '';
  if (!/^[a-z]{1,20}$/.test(user)) return;
  const session = randomUUID();
  sessions.set(session, user);
  response.setHeader('Set-Cookie', `session=${session}; HttpOnly; SameSite=Lax; Path=/`);
}

server.listen(port, '127.0.0.1', () => console.log(`Open http://localhost:${port}`));
