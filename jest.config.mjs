/** @type {import('jest').Config} */
export default {
  testEnvironment: 'node',
  roots: ['<rootDir>/test'],
  transform: { '^.+\\.(t|j|mj)s$': ['@swc/jest', { jsc: { target: 'es2023', parser: { syntax: 'typescript' } } }] },
  // middy is published as ES modules only.
  transformIgnorePatterns: ['/node_modules/(?!@middy/)'],
  // The sources import each other by their file's own name, as Node does.
  testTimeout: 30_000,
};
