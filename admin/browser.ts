import { createDecipheriv, createECDH, type ECDH, hkdfSync, randomBytes } from 'node:crypto';

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

const tagBytes = 16;
const publicKeyBytes = 65;
/** Salt, record size, length of the key id, and the key id (RFC 8188 §2.1): the sender's public key. */
const headerBytes = 16 + 4 + 1 + publicKeyBytes;
/** The delimiter after the data of the last record (RFC 8188 §2). Zeros after it are padding. */
const lastRecordDelimiter = 2;

export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

/**
 * Decrypts a push message as a browser does: aes128gcm in a single record (RFC 8188), with the key
 * derivation of RFC 8291 §3.
 * @throws {DecryptionError} naming the invalid part of the body.
 */
export function decrypt(body: Buffer, keys: BrowserKeys): Buffer {
  const { salt, asPublic, ciphertext } = parseBody(body);
  const { cek, nonce } = deriveKeys(salt, asPublic, keys);
  const record = decryptRecord(ciphertext, cek, nonce);
  return unpad(record);
}

function parseBody(body: Buffer) {
  if (body.length < headerBytes + 1 + tagBytes) {
    throw new DecryptionError(`The message of ${body.length} bytes is too short for aes128gcm.`);
  }
  const recordSize = body.readUInt32BE(16);
  const keyLength = body.readUInt8(20);
  if (keyLength !== publicKeyBytes) {
    throw new DecryptionError(`The sender's public key has ${keyLength} bytes; it must have 65.`);
  }
  const ciphertext = body.subarray(headerBytes);
  // RFC 8291 §4: a single record, so the record size must be greater than the record.
  if (recordSize <= ciphertext.length) {
    throw new DecryptionError(
      `The record size is ${recordSize} bytes; it must be greater than ${ciphertext.length}.`,
    );
  }
  return { salt: body.subarray(0, 16), asPublic: body.subarray(21, headerBytes), ciphertext };
}

function deriveKeys(salt: Buffer, asPublic: Buffer, keys: BrowserKeys) {
  const { publicKey, authSecret } = keys;
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, asPublic]);
  const ikm = derive(sharedSecret(asPublic, keys), authSecret, keyInfo, 32);
  return {
    cek: derive(ikm, salt, 'Content-Encoding: aes128gcm\0', 16),
    nonce: derive(ikm, salt, 'Content-Encoding: nonce\0', 12),
  };
}

function sharedSecret(asPublic: Buffer, { ecdh }: BrowserKeys): Buffer {
  try {
    return ecdh.computeSecret(asPublic);
  } catch (cause) {
    throw new DecryptionError("The sender's public key is not a point on P-256.", { cause });
  }
}

function derive(ikm: Buffer, salt: Buffer, info: string | Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', ikm, salt, info, length));
}

function decryptRecord(ciphertext: Buffer, cek: Buffer, nonce: Buffer): Buffer {
  const decipher = createDecipheriv('aes-128-gcm', cek, nonce);
  decipher.setAuthTag(ciphertext.subarray(-tagBytes));
  const record = decipher.update(ciphertext.subarray(0, -tagBytes));
  try {
    decipher.final();
  } catch (cause) {
    const message = 'The message was altered or encrypted for another subscription.';
    throw new DecryptionError(message, { cause });
  }
  return record;
}

function unpad(record: Buffer): Buffer {
  const end = record.findLastIndex((byte) => byte !== 0);
  if (record[end] !== lastRecordDelimiter) {
    throw new DecryptionError('The delimiter of the last record is missing.');
  }
  return record.subarray(0, end);
}
