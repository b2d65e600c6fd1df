import { createECDH, type ECDH, randomBytes } from 'node:crypto';

/** A browser's keys of one subscription (RFC 8291 §2): a P-256 key pair and an auth secret. */
export interface BrowserKeys {
  readonly ecdh: ECDH;
  /** Uncompressed point, 65 bytes. */
  readonly publicKey: Buffer;
  /** 16 bytes. */
  readonly authSecret: Buffer;
}

/** The keys with this private key. */
export function restoreBrowserKeys(privateKey: Buffer, authSecret: Buffer): BrowserKeys {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(privateKey);
  return { ecdh, publicKey: ecdh.getPublicKey(), authSecret };
}

export function createBrowserKeys(): BrowserKeys {
  const ecdh = createECDH('prime256v1');
  return { ecdh, publicKey: ecdh.generateKeys(), authSecret: randomBytes(16) };
}
