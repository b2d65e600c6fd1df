import {
  identityKeyPrefix,
  projectIdPattern,
  secretKeyPattern,
  secretKeyPrefix,
} from '../../../contract/formats.ts';

const keyLength = 43;

/** What is wrong with a project id that a person entered. */
export function projectIdIssue(projectId: string): string | undefined {
  if (projectId === '') return 'Enter the project id from the API key card.';
  return projectIdPattern.test(projectId)
    ? undefined
    : 'Use 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen.';
}

/** What is wrong with a secret key that a person entered. It never contains the key. */
export function secretKeyIssue(secretKey: string): string | undefined {
  if (secretKeyPattern.test(secretKey)) return undefined;
  if (secretKey === '') return 'Enter the secret key from the API key card.';
  if (secretKey.startsWith(identityKeyPrefix)) {
    return `This is the identity key, which signs user ids. The secret key starts with “${secretKeyPrefix}”.`;
  }
  if (!secretKey.startsWith(secretKeyPrefix)) {
    return `This is another text: a secret key is “${secretKeyPrefix}” and ${keyLength} characters.`;
  }
  const length = secretKey.length - secretKeyPrefix.length;
  return length === keyLength
    ? 'The secret key has a character that no key has. Copy it again from the API key card.'
    : `The secret key has ${keyLength} characters after “${secretKeyPrefix}”, this one ${length}. Copy it again from the API key card.`;
}
