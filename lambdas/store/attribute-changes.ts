/** Parameters of an `UpdateCommand` that set attributes, and remove those that are undefined. */
export function attributeChanges(attributes: Readonly<Record<string, unknown>>) {
  const names = Object.keys(attributes);
  const set = names.filter((name) => attributes[name] !== undefined);
  const removed = names.filter((name) => attributes[name] === undefined);
  const clauses = [
    ...(set.length > 0 ? [`SET ${set.map((name) => `#${name} = :${name}`).join(', ')}`] : []),
    ...(removed.length > 0 ? [`REMOVE ${removed.map((name) => `#${name}`).join(', ')}`] : []),
  ];
  return {
    UpdateExpression: clauses.join(' '),
    ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
    // DynamoDB refuses an empty object.
    ...(set.length > 0 && {
      ExpressionAttributeValues: Object.fromEntries(
        set.map((name) => [`:${name}`, attributes[name]]),
      ),
    }),
  };
}
