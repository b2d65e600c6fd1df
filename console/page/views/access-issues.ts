import { identityKeyPrefix, projectIdPattern, secretKeyPrefix } from '../../../contract/formats.ts';

const memberKeyPrefix = 'carillon_mk_';
const keyLength = 43;

/** What is wrong with a project id that a person entered. */
export function projectIdIssue(projectId: string): string | undefined {
  if (projectId === '') return 'Enter the project id.';
  return projectIdPattern.test(projectId)
    ? undefined
    : 'Use 1 to 64 lowercase letters, digits or hyphens, not starting with a hyphen.';
}

/** What is wrong with a key that a person entered. It never contains the key. */
export function keyIssue(key: string): string | undefined {
  if (key === '') return 'Enter the key.';
  if (key.startsWith(identityKeyPrefix)) {
    return `This is the identity key, which signs user ids. A secret key starts with “${secretKeyPrefix}”.`;
  }
  const prefix = [secretKeyPrefix, memberKeyPrefix].find((start) => key.startsWith(start));
  if (prefix === undefined) {
    return `This is another text: a key is “${secretKeyPrefix}” or “${memberKeyPrefix}”, and ${keyLength} characters.`;
  }
  const length = key.length - prefix.length;
  if (length !== keyLength) {
    return `The key has ${keyLength} characters after “${prefix}”, this one ${length}. Copy it again.`;
  }
  return /^[\w-]+$/.test(key)
    ? undefined
    : 'The key has a character that no key has. Copy it again.';
}
