interface ChangeOptions {
  /** The map attribute that contains the changed ones. */
  readonly inMap?: string;
  /** Values that the condition of the update uses, by their names without the colon. */
  readonly conditionValues?: Readonly<Record<string, unknown>>;
}

/** Parameters of an `UpdateCommand` that set attributes, and remove undefined ones. */
export function attributeChanges(
  attributes: Readonly<Record<string, unknown>>,
  { inMap, conditionValues = {} }: ChangeOptions = {},
) {
  const names = Object.keys(attributes);
  const pathOf = (name: string) => (inMap === undefined ? `#${name}` : `#${inMap}.#${name}`);
  const set = names.filter((name) => attributes[name] !== undefined);
  const removed = names.filter((name) => attributes[name] === undefined);
  const clauses = [
    ...(set.length > 0
      ? [`SET ${set.map((name) => `${pathOf(name)} = :${name}`).join(', ')}`]
      : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.map(pathOf).join(', ')}`] : []),
  ];
  const used = inMap === undefined ? names : [inMap, ...names];
  const values = [
    ...set.map((name) => [`:${name}`, attributes[name]]),
    ...Object.entries(conditionValues).map(([name, value]) => [`:${name}`, value]),
  ];
  return {
    UpdateExpression: clauses.join(' '),
    ExpressionAttributeNames: Object.fromEntries(used.map((name) => [`#${name}`, name])),
    // DynamoDB refuses an empty object.
    ...(values.length > 0 && { ExpressionAttributeValues: Object.fromEntries(values) }),
  };
}
