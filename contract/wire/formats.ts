/** `limits.idempotencyKeyLength` printable ASCII characters without spaces. */
export const idempotencyKeyPattern = /^[\x21-\x7e]{1,255}$/;

/** `limits.channelNameLength` characters. */
export const channelPattern = /^[a-z0-9-]{1,32}$/;

/** SHA-256 of an endpoint, 32 bytes in base64url. The 2 bits of the last character that encode nothing are 0. */
export const deviceIdPattern = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/;

export const projectIdPattern = /^[a-z0-9][a-z0-9-]{0,63}$/;

/** `carillon_sk_` and 256 random bits in base64url. */
export const secretKeyPrefix = 'carillon_sk_';
export const secretKeyPattern = /^carillon_sk_[A-Za-z0-9_-]{43}$/;

/** A person's key, in place of the secret key. */
export const memberKeyPrefix = 'carillon_mk_';
export const memberKeyPattern = /^carillon_mk_[A-Za-z0-9_-]{43}$/;

/** 65 bytes in base64url, the first of which is 4: the public key of a VAPID pair. */
export const applicationServerKeyPattern = /^B[A-P][A-Za-z0-9_-]{85}$/;

/** `carillon_id_` and 256 random bits in base64url. */
export const identityKeyPrefix = 'carillon_id_';
export const identityKeyPattern = /^carillon_id_[A-Za-z0-9_-]{43}$/;

/** Whether anything of a text can be seen: not of spaces, control characters, and characters without a width. */
export function hasVisibleCharacter(text: string): boolean {
  return /[^\p{Cc}\p{Cf}\p{Z}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

/** A language tag (BCP 47) as `Intl` writes it, such as `pt-BR` for `pt-br`; undefined for a text that is no tag. */
export function canonicalTag(text: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(text)[0];
  } catch {
    return undefined;
  }
}
