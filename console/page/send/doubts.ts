import { limits } from '../../../contract/wire/limits.ts';

const prefix = 'carillon doubt ';

/**
 * Drafts whose outcome nobody knows outlive their tab: they are in the storage of the browser until it is found out,
 * for a day at most. They are encrypted with the key that sends them: nobody else at this computer can read what it
 * was, to whom, or from whom. Without a storage they live as long as their tab.
 */
export function doubtStorage<Draft extends { readonly id: string; readonly attemptedAt?: number }>(
  key: string,
) {
  const bytes = new TextEncoder().encode(prefix + key);
  const cipher = crypto.subtle
    .digest('SHA-256', bytes)
    .then((hash) => crypto.subtle.importKey('raw', hash, 'AES-GCM', false, ['encrypt', 'decrypt']));
  async function decrypted(name: string): Promise<Draft | undefined> {
    const [endsAt, iv, data] = JSON.parse(localStorage.getItem(name)!);
    if (endsAt < Date.now()) return localStorage.removeItem(name) as undefined;
    const use = { name: 'AES-GCM', iv: new Uint8Array(iv) };
    const text = await crypto.subtle.decrypt(use, await cipher, new Uint8Array(data));
    return JSON.parse(new TextDecoder().decode(text));
  }
  return {
    async write(draft: Draft): Promise<void> {
      const iv = crypto.getRandomValues(new Uint8Array(12));
      const text = new TextEncoder().encode(JSON.stringify(draft));
      const data = await crypto.subtle.encrypt({ name: 'AES-GCM', iv }, await cipher, text);
      const endsAt = draft.attemptedAt! + limits.idempotencyHours * 60 * 60_000;
      const entry = JSON.stringify([endsAt, [...iv], [...new Uint8Array(data)]]);
      stored(() => localStorage.setItem(prefix + draft.id, entry));
    },
    erase: (id: string) => stored(() => localStorage.removeItem(prefix + id)),
    /** Those that this key has sent. What it cannot read is of another key. */
    async read(): Promise<readonly Draft[]> {
      const names = stored(() => Object.keys(localStorage)) ?? [];
      const ours = names.filter((name) => name.startsWith(prefix));
      const found = await Promise.all(ours.map((name) => decrypted(name).catch(() => undefined)));
      return found.filter((draft) => draft !== undefined);
    },
  };
}

/** What a storage gives. Undefined where the browser allows none, or it is full. */
export function stored<Result>(use: () => Result): Result | undefined {
  try {
    return use();
  } catch {
    return undefined;
  }
}
