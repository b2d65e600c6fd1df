import { createDecipheriv, hkdfSync } from 'node:crypto';
import type { BrowserKeys } from './browser-keys.ts';

const tagLength = 16;
const publicKeyLength = 65;
/** Salt, record size and length of the key id (RFC 8188 §2.1), then the sender's public key. */
const headerLength = 16 + 4 + 1 + publicKeyLength;
/** Ends the last record's data (RFC 8188 §2); zeros after it are padding. */
const lastRecordDelimiter = 2;

export class DecryptionError extends Error {
  override readonly name = 'DecryptionError';
}

/**
 * Decrypts a push message as a browser does: aes128gcm (RFC 8188) in a single record, with the
 * keys agreed on as in RFC 8291 §3.
 * @throws {DecryptionError} naming the part of the body that is wrong.
 */
export function decrypt(body: Buffer, keys: BrowserKeys): Buffer {
  const { salt, senderKey, ciphertext } = parse(body);
  const { contentKey, nonce } = deriveKeys(salt, senderKey, keys);
  const record = open(ciphertext, contentKey, nonce);
  return unpad(record);
}

function parse(body: Buffer) {
  if (body.length < headerLength + 1 + tagLength) {
    throw new DecryptionError(`A message of ${body.length} bytes is too short to be aes128gcm.`);
  }
  const recordSize = body.readUInt32BE(16);
  const keyLength = body.readUInt8(20);
  if (keyLength !== publicKeyLength) {
    throw new DecryptionError(`The sender's public key has ${keyLength} bytes instead of 65.`);
  }
  const ciphertext = body.subarray(headerLength);
  // RFC 8291 §4: one record, in a size greater than what it holds.
  if (recordSize <= ciphertext.length) {
    throw new DecryptionError(
      `The record size of ${recordSize} bytes does not exceed the record's ${ciphertext.length}.`,
    );
  }
  return { salt: body.subarray(0, 16), senderKey: body.subarray(21, headerLength), ciphertext };
}

function deriveKeys(salt: Buffer, senderKey: Buffer, keys: BrowserKeys) {
  const { publicKey, authSecret } = keys;
  const keyInfo = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, senderKey]);
  const inputKey = derive(agree(senderKey, keys), authSecret, keyInfo, 32);
  return {
    contentKey: derive(inputKey, salt, 'Content-Encoding: aes128gcm\0', 16),
    nonce: derive(inputKey, salt, 'Content-Encoding: nonce\0', 12),
  };
}

function agree(senderKey: Buffer, { ecdh }: BrowserKeys): Buffer {
  try {
    return ecdh.computeSecret(senderKey);
  } catch (cause) {
    throw new DecryptionError("The sender's public key is no point of P-256.", { cause });
  }
}

function derive(inputKey: Buffer, salt: Buffer, info: string | Buffer, length: number): Buffer {
  return Buffer.from(hkdfSync('sha256', inputKey, salt, info, length));
}

function open(ciphertext: Buffer, contentKey: Buffer, nonce: Buffer): Buffer {
  const decipher = createDecipheriv('aes-128-gcm', contentKey, nonce);
  decipher.setAuthTag(ciphertext.subarray(-tagLength));
  const record = decipher.update(ciphertext.subarray(0, -tagLength));
  try {
    decipher.final();
  } catch (cause) {
    const message = 'The message was altered, or encrypted for another subscription.';
    throw new DecryptionError(message, { cause });
  }
  return record;
}

function unpad(record: Buffer): Buffer {
  const end = record.findLastIndex((byte) => byte !== 0);
  if (record[end] !== lastRecordDelimiter) {
    throw new DecryptionError('The record does not end with the delimiter of a last record.');
  }
  return record.subarray(0, end);
}
