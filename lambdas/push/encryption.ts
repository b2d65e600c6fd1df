import webpush from 'web-push';

/** The browser's half of the encryption, base64url without padding. */
export interface SubscriptionKeys {
  readonly p256dh: string;
  readonly auth: string;
}

/**
 * Encrypts a message for one subscription (RFC 8291): one aes128gcm record (RFC 8188) under a
 * fresh key pair and salt.
 * @returns the body of the push, 103 bytes longer than the message.
 */
export function encrypt(message: Buffer, { p256dh, auth }: SubscriptionKeys): Buffer {
  return webpush.encrypt(p256dh, auth, message, 'aes128gcm').cipherText;
}
