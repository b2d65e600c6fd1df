import { readFileSync } from 'node:fs';

/**
 * A self-signed certificate for 127.0.0.1, valid for 100 years, and its private key. Both are public
 * and protect nothing: they let tests use TLS without a tool that creates certificates.
 */
const pem = readFileSync('bench/certificate.pem', 'utf8');
export const certificate = { key: pem, cert: pem };
