import type { NotificationResult } from '../../contract/wire/notification.ts';
import { deviceIdOf } from '../../lambdas/store/items.ts';
import type { Environments } from './environments.ts';
import { type HttpResponse, type Request, request } from './gateway.ts';
import type { DeviceRemoval } from './scenario.ts';
import type { World } from './world.ts';

/** The owner of a project, who has its secret key. The owner repeats a request that fails. */
export class Owner {
  readonly #world: World;
  readonly #environments: Environments;
  readonly #key: string;

  constructor(world: World, environments: Environments, key: string) {
    this.#world = world;
    this.#environments = environments;
    this.#key = key;
  }

  /** @returns the response; undefined if there was none. */
  async stop(notificationId: string): Promise<NotificationResult | undefined> {
    const response = await this.#request({ function: 'stopNotification', notificationId });
    return response?.body as NotificationResult | undefined;
  }

  /** @returns how many subscriptions were removed; undefined without a response. */
  async removeUser(userId: string): Promise<number | undefined> {
    const response = await this.#request({ function: 'removeUser', query: { userId } });
    return response?.body.removed as number | undefined;
  }

  async removeDevice({ userId, origin, path }: DeviceRemoval): Promise<void> {
    const query = { userId, device: deviceIdOf(origin + path) };
    await this.#request({ function: 'removeUser', query }, 'removeDevice');
  }

  /** @returns the ids of the newest notifications; undefined without a response. */
  async list(): Promise<readonly string[] | undefined> {
    const response = await this.#request({ function: 'listNotifications' });
    const found = response?.body.notifications as readonly { readonly id: string }[] | undefined;
    return found?.map(({ id }) => id);
  }

  /** @returns the first response that is a success. */
  async #request(
    made: Pick<Request, 'function' | 'notificationId' | 'query'>,
    requestId: string = made.function,
  ): Promise<HttpResponse | undefined> {
    const { scheduler } = this.#world;
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const one = { ...made, requestId, key: this.#key };
      const response = await request(this.#world, this.#environments, one, 0);
      if (response.status < 300) return response;
      await scheduler.sleep(this.#world.stream('owner').latency(1000, 5000));
    }
    return undefined;
  }
}
