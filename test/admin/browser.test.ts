import { createCipheriv, createECDH, hkdfSync } from 'node:crypto';
import webpush from 'web-push';
import {
  type BrowserKeys,
  createBrowserKeys,
  DecryptionError,
  decrypt,
} from '../../admin/browser.ts';

const keys = createBrowserKeys();

function encrypt(payload: string | Buffer, { publicKey, authSecret }: BrowserKeys = keys) {
  const [p256dh, auth] = [publicKey.toString('base64url'), authSecret.toString('base64url')];
  return webpush.encrypt(p256dh, auth, payload, 'aes128gcm').cipherText;
}

/** A valid message with some bytes changed. */
function altered(change: (message: Buffer) => void): Buffer {
  const message = encrypt('ding');
  change(message);
  return message;
}

/** Encrypts a record that includes its delimiter and padding; web-push does not let callers set them. */
function encryptRecord(record: string): Buffer {
  const { ecdh, publicKey, authSecret } = keys;
  const sender = createECDH('prime256v1');
  const asPublic = sender.generateKeys();
  const salt = Buffer.alloc(16, 1);
  const derive = (key: Buffer, from: Buffer, info: string, length: number) =>
    Buffer.from(hkdfSync('sha256', key, from, Buffer.from(info, 'latin1'), length));
  const keyInfo = Buffer.concat([publicKey, asPublic]).toString('latin1');
  const secret = ecdh.computeSecret(asPublic);
  const ikm = derive(secret, authSecret, `WebPush: info\0${keyInfo}`, 32);
  const cek = derive(ikm, salt, 'Content-Encoding: aes128gcm\0', 16);
  const nonce = derive(ikm, salt, 'Content-Encoding: nonce\0', 12);
  const cipher = createCipheriv('aes-128-gcm', cek, nonce);
  const header = Buffer.concat([salt, Buffer.from([0, 0, 16, 0, 65]), asPublic]);
  return Buffer.concat([header, cipher.update(record), cipher.final(), cipher.getAuthTag()]);
}

test('padding after the delimiter is removed', () => {
  expect(decrypt(encryptRecord('ding\x02\0\0\0'), keys).toString()).toBe('ding');
});

test('the example of RFC 8291 §5 decrypts to its plaintext', () => {
  const ecdh = createECDH('prime256v1');
  ecdh.setPrivateKey(Buffer.from('q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94', 'base64url'));
  const authSecret = Buffer.from('BTBZMqHH6r4Tts7J_aSIgg', 'base64url');
  const message = Buffer.from(
    'DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN',
    'base64url',
  );
  const plaintext = decrypt(message, { ecdh, publicKey: ecdh.getPublicKey(), authSecret });
  expect(plaintext.toString()).toBe('When I grow up, I want to be a watermelon');
});

test.each([
  ['an empty message', Buffer.alloc(0)],
  ['text beyond ASCII', Buffer.from('Glöckchen 🔔')],
  ['bytes that look like padding', Buffer.from([1, 2, 0, 0])],
  ['the longest push message', Buffer.alloc(3993, 7)],
])('%s encrypted by web-push is decrypted', (_, payload) => {
  expect(decrypt(encrypt(payload), keys)).toEqual(payload);
});

test.each([
  ['a truncated message', encrypt('ding').subarray(0, 102), 'too short'],
  ['a key id of another length', altered((bytes) => bytes.writeUInt8(64, 20)), '64 bytes'],
  ['a sender key off the curve', altered((bytes) => bytes.fill(1, 22, 86)), 'not a point'],
  ['more than one record', altered((bytes) => bytes.writeUInt32BE(18, 16)), 'record size'],
  ['an altered ciphertext', altered((bytes) => bytes.fill(0, 86, 90)), 'altered'],
  ['an altered tag', altered((bytes) => bytes.subarray(-4).fill(0)), 'altered'],
  ['a record that is not the last', encryptRecord('ding\x01'), 'delimiter'],
  ['a record without a delimiter', encryptRecord('\0\0\0'), 'delimiter'],
  ['a message to another browser', encrypt('ding', createBrowserKeys()), 'another subscription'],
])('%s is refused with the reason', (_, message, reason) => {
  expect(() => decrypt(message, keys)).toThrow(DecryptionError);
  expect(() => decrypt(message, keys)).toThrow(reason);
});
