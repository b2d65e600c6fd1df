import { createECDH, createPrivateKey, createPublicKey, generateKeyPairSync } from 'node:crypto';
import { InvalidVapidPair, newVapidPair, readVapidPair } from '../../admin/vapid-pair.ts';

function pairFrom(scalarHex: string) {
  const curve = createECDH('prime256v1');
  curve.setPrivateKey(scalarHex.padStart(64, '0'), 'hex');
  return {
    publicKey: curve.getPublicKey('base64url'),
    privateKey: Buffer.from(scalarHex.padStart(64, '0'), 'hex').toString('base64url'),
  };
}

describe('newVapidPair', () => {
  it('keeps leading zero bytes: keys have 65 and 32 bytes', () => {
    // One private key in 256 starts with a zero byte. Of 3,000, at least one almost certainly does.
    const pairs = Array.from({ length: 3000 }, newVapidPair);
    const privateKeys = pairs.map(({ privateKey }) => Buffer.from(privateKey, 'base64url'));
    expect(new Set(privateKeys.map(({ length }) => length))).toEqual(new Set([32]));
    const publicKeys = pairs.map(({ publicKey }) => Buffer.from(publicKey, 'base64url'));
    expect(new Set(publicKeys.map(({ length }) => length))).toEqual(new Set([65]));
    for (const key of pairs.flatMap(Object.values)) expect(key).toMatch(/^[\w-]+$/);
    const padded = pairs.filter((_, index) => privateKeys[index]?.[0] === 0);
    expect(padded.length).toBeGreaterThan(0);
    for (const pair of padded) expect(readVapidPair(pair.publicKey, pair.privateKey)).toEqual(pair);
  });
});

const hex = (key: string) => Buffer.from(key, 'base64url').toString('hex');
const base64 = (text: string | Buffer) => Buffer.from(text).toString('base64');

/** Each form of a pair, by its name. */
function formsOf(pair: ReturnType<typeof pairFrom>) {
  const point = Buffer.from(pair.publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33), point.subarray(33)].map((one) =>
    one.toString('base64url'),
  );
  const jwk = { kty: 'EC', crv: 'P-256', x: x!, y: y!, d: pair.privateKey };
  const key = createPrivateKey({ key: jwk, format: 'jwk' });
  const publicKey = createPublicKey(key);
  const pkcs8 = key.export({ type: 'pkcs8', format: 'pem' }).toString();
  const sec1 = key.export({ type: 'sec1', format: 'pem' }).toString();
  const spki = publicKey.export({ type: 'spki', format: 'pem' }).toString();
  const der = key.export({ type: 'pkcs8', format: 'der' });
  const parameters =
    '-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n';
  const colons = (text: string) => text.toUpperCase().replace(/(..)(?=.)/g, '$1:');
  const { d, ...publicJwk } = jwk;
  return {
    privateKeys: {
      base64url: pair.privateKey,
      'base64url with white space': ` ${pair.privateKey}\r\n`,
      'base64url in quotes': `"${pair.privateKey}"`,
      'base64url in single quotes': `'${pair.privateKey}'`,
      base64: base64(Buffer.from(pair.privateKey, 'base64url')),
      hex: hex(pair.privateKey),
      'hex with prefix': `0x${hex(pair.privateKey)}`,
      'hex with colons over two lines': colons(hex(pair.privateKey)).replace(/(.{48})/, '$1\n    '),
      PKCS8: pkcs8,
      'PKCS8 with a mark and CRLF': `\ufeff${pkcs8.replaceAll('\n', '\r\n')}`,
      'PKCS8 on one line': pkcs8.replaceAll('\n', '\\n'),
      'PKCS8 on one line with spaces': pkcs8.replaceAll('\n', ' '),
      'PKCS8 in base64': base64(pkcs8),
      'PKCS8 as DER': der.toString('base64url'),
      'PKCS8 as DER in hex': der.toString('hex'),
      'PKCS8 after its attributes': `Bag Attributes\n  localKeyID: 01\n${pkcs8}`,
      'PKCS8 and its public key': `${spki}${pkcs8}${spki}`,
      SEC1: sec1,
      'SEC1 with parameters': `${parameters}${sec1}`,
      'SEC1 in base64 of lines': base64(sec1).replaceAll(/(.{76})/g, '$1\n'),
      'SEC1 as DER': base64(key.export({ type: 'sec1', format: 'der' })),
      JWK: JSON.stringify(jwk),
      'JWK in base64': base64(JSON.stringify(jwk, null, 2)),
      'JSON of web-push': JSON.stringify(pair),
      'JSON of Pushpad': JSON.stringify({
        id: 1,
        name: 'x',
        vapid_private_key: pkcs8,
        vapid_public_key: pair.publicKey,
      }),
      'JSON with the private key only': JSON.stringify({ private_key: pair.privateKey }),
    },
    publicKeys: {
      base64url: pair.publicKey,
      base64: base64(point),
      hex: point.toString('hex'),
      'hex with colons': colons(point.toString('hex')),
      PEM: spki,
      DER: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
      JWK: JSON.stringify(publicJwk),
      'JSON with both': JSON.stringify(pair),
      '66 bytes': Buffer.concat([Buffer.of(0), point]).toString('base64url'),
      '64 bytes': point.subarray(1).toString('base64url'),
      compressed: createECDHCompressed(point),
    },
  };
}

function createECDHCompressed(point: Buffer): string {
  return Buffer.concat([Buffer.of(2 + (point.at(-1)! % 2)), point.subarray(1, 33)]).toString(
    'base64url',
  );
}

describe('readVapidPair', () => {
  // Of the first bytes, some start another form: 7b is the brace of JSON, 30 a sequence of DER, 20 a space.
  it('reads a private key whatever its first two bytes are', () => {
    const starts = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));
    const spaces = ['09', '0a', '0d', '20'].map((space) => `${space}7b`);
    for (const start of [...starts, ...spaces, '302f', '303e']) {
      const pair = pairFrom(start.padEnd(64, '5a'));
      for (const form of [pair.privateKey, hex(pair.privateKey)]) {
        expect([start, readVapidPair(pair.publicKey, form)]).toEqual([start, pair]);
      }
    }
  });

  const pair = newVapidPair();
  // Its private key starts with two zero bytes, and its x with one.
  const zeros = pairFrom('1db'.padStart(60, '7'));
  const other = pairFrom('fedcba9876543210');
  const forms = formsOf(pair);

  it.each(Object.entries(forms.privateKeys))('reads a private key: %s', (_, privateKey) => {
    expect(readVapidPair(undefined, privateKey)).toEqual(pair);
    expect(readVapidPair(pair.publicKey, privateKey)).toEqual(pair);
    expect(() => readVapidPair(other.publicKey, privateKey)).toThrow(/not a pair/);
  });

  it.each(Object.entries(forms.publicKeys))('reads a public key: %s', (_, publicKey) => {
    expect(readVapidPair(publicKey, pair.privateKey)).toEqual(pair);
    expect(() => readVapidPair(publicKey, other.privateKey)).toThrow(/not a pair/);
  });

  it.each(Object.entries({ ...formsOf(zeros).privateKeys }))(
    'reads leading zeros: %s',
    (_, key) => {
      expect(readVapidPair(undefined, key)).toEqual(zeros);
    },
  );

  it('reads private keys that have lost or gained leading zeros', () => {
    const scalar = Buffer.from(zeros.privateKey, 'base64url');
    const short = pairFrom('1db'.padStart(62, '7'));
    const extra = Buffer.concat([Buffer.alloc(3), scalar]);
    for (const text of [extra.toString('base64'), extra.toString('hex')]) {
      expect(readVapidPair(undefined, text)).toEqual(zeros);
    }
    const [, ...of31] = Buffer.from(short.privateKey, 'base64url');
    for (const encoding of ['base64url', 'base64', 'hex'] as const) {
      expect(readVapidPair(undefined, Buffer.from(of31).toString(encoding))).toEqual(short);
    }
    expect(
      readVapidPair(undefined, hex(pairFrom('1db'.padStart(63, '7')).privateKey).slice(1)),
    ).toEqual(pairFrom('1db'.padStart(63, '7')));
  });

  it('needs the public key of a private key that may be cut off', () => {
    const scalar = Buffer.from(zeros.privateKey, 'base64url').subarray(2).toString('base64url');
    expect(readVapidPair(zeros.publicKey, scalar)).toEqual(zeros);
    expect(() => readVapidPair(undefined, scalar)).toThrow(/has 30 bytes, not 32/);
  });

  it('pads coordinates of a JWK', () => {
    const jwk = JSON.parse(forms.privateKeys.JWK);
    const padded = Object.fromEntries(
      ['x', 'y', 'd'].map((name) => [
        name,
        Buffer.concat([Buffer.of(0), Buffer.from(jwk[name], 'base64url')]).toString('base64'),
      ]),
    );
    expect(readVapidPair(undefined, JSON.stringify({ ...jwk, ...padded }))).toEqual(pair);
  });

  const p384 = generateKeyPairSync('ec', { namedCurve: 'secp384r1' }).privateKey;
  const rsa = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey;
  const encrypted = { cipher: 'aes-128-cbc', passphrase: 'x' } as const;
  const ofPair = createPrivateKey(forms.privateKeys.PKCS8);

  it.each([
    ['keys of two pairs', pair.publicKey, other.privateKey, /not a pair/],
    [
      'keys of two pairs in one text',
      undefined,
      JSON.stringify({ ...other, publicKey: pair.publicKey }),
      /not a pair/,
    ],
    ['swapped keys', pair.privateKey, pair.publicKey, /public VAPID key/],
    ['the public key twice', pair.publicKey, pair.publicKey, /private .* 32 bytes/],
    ['a public key off the curve', `${pair.publicKey.slice(0, -2)}AA`, pair.privateKey, /public/],
    [
      'a private key that is cut off',
      undefined,
      pair.privateKey.slice(0, -2),
      /private .* 32 bytes/,
    ],
    ['a short private key', pair.publicKey, pair.privateKey.slice(2), /private .* 32 bytes/],
    ['a private key of 0', pair.publicKey, Buffer.alloc(32).toString('base64url'), /out of range/],
    [
      'a private key of 33 bytes',
      undefined,
      Buffer.alloc(33, 1).toString('base64'),
      /private .* 32 bytes/,
    ],
    ['no private key', undefined, '', /private .* 32 bytes/],
    ['a text', undefined, 'correct horse battery staple', /private .* 32 bytes/],
    ['JSON without a key', undefined, '{"a":1}', /private .* 32 bytes/],
    ['JSON that is cut off', undefined, '{"privateKey":"', /private .* 32 bytes/],
    ['a public PEM as private key', undefined, forms.publicKeys.PEM, /private .* 32 bytes/],
    [
      'PEM that is cut off',
      undefined,
      forms.privateKeys.PKCS8.slice(0, 100),
      /private .* 32 bytes/,
    ],
    [
      'P-384',
      undefined,
      p384.export({ type: 'sec1', format: 'pem' }).toString(),
      /EC P-384, not of P-256/,
    ],
    [
      'RSA',
      undefined,
      rsa.export({ type: 'pkcs8', format: 'pem' }).toString(),
      /RSA, not of P-256/,
    ],
    [
      'encrypted PKCS8',
      undefined,
      ofPair.export({ type: 'pkcs8', format: 'pem', ...encrypted }).toString(),
      /encrypted/,
    ],
    [
      'encrypted SEC1',
      undefined,
      ofPair.export({ type: 'sec1', format: 'pem', ...encrypted }).toString(),
      /encrypted/,
    ],
  ])('refuses %s', (_case, publicKey, privateKey, message) => {
    expect(() => readVapidPair(publicKey, privateKey)).toThrow(InvalidVapidPair);
    expect(() => readVapidPair(publicKey, privateKey)).toThrow(message);
  });
});
