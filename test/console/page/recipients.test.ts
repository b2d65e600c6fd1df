import fc from 'fast-check';
import { readTable, tableIssue } from '../../../console/page/send/recipients.ts';

const ada = { userId: 'ada', values: { name: 'Ada', note: '1, 2' } };
const bob = { userId: 'bob', values: { name: '', note: '7' } };

test.each([
  ['tabs', 'id\tname\tnote\n\nada\tAda\t1, 2\n bob \t\t7\n'],
  ['commas', 'id,name,note\nada,Ada,"1, 2"\nbob,,7'],
  ['semicolons', 'id;name;note\nada;Ada;1, 2\nbob;;7'],
  ['CR LF and a byte order mark', '\ufeffid,name,note\r\nada,Ada,"1, 2"\r\nbob,,7\r\n'],
  ['spaces around', '\n id , name , note \nada, Ada, "1, 2"\nbob, , 7'],
])('a table with %s has names in its first row and user ids in its first column', (_, table) => {
  expect(readTable(table)).toEqual({
    names: ['name', 'note'],
    idName: 'id',
    recipients: [ada, bob],
  });
});

test.each([
  ['id,name\nada,"Lovelace, Ada"', 'Lovelace, Ada'],
  ['id,name\nada,"say ""hi"""', 'say "hi"'],
  ['id,name\nada,"two\nlines"', 'two\nlines'],
  // Spreadsheets copy a quote as it is, and put quotes around a cell with a line break.
  ['id\tname\nada\t5" pipe', '5" pipe'],
  ['id\tname\nada\t"two\nlines"', 'two\nlines'],
  ['id\tname\nada\ta; b, c', 'a; b, c'],
])('in %j, the name is %j', (table, name) => {
  expect(readTable(table).recipients).toEqual([{ userId: 'ada', values: { name } }]);
  expect(tableIssue(table, ['name'])).toBeUndefined();
});

test.each([
  ['id,name\nada,Ada\nbob', 'Row 3 has 1 cell, and the first row has 2'],
  ['id,name\nada,Lovelace, Ada', 'Row 2 has 3 cells, and the first row has 2'],
  ['id,name\nada,Ada,', 'Row 2 has 3 cells, and the first row has 2'],
  ['id,name\nada,5" pipe', 'Put a cell with a quote between quotes'],
  ['id,name\nada,"Hi" she said', 'Put a cell with a quote between quotes'],
  ['id\tname\nada\t"Hi" she said', 'Put a cell with a quote between quotes'],
  ['id,name\nada,"Ada\nbob,Bob', 'A quote begins a cell, and none ends it'],
  ['id\tname\nada\t"Ada\nbob\tBob', 'A quote begins a cell, and none ends it'],
  ['id,name,name\nada,Ada,Lovelace', 'Two columns are called “name”'],
  ['id,,name\nada,1,Ada', 'Column 2 has no name in the first row'],
  ['ada\nbob', 'Add a column with a value, and its name in the first row'],
  // One customer would get another's order.
  [
    'referredBy,id,name\nada,1,Ada',
    '“referredBy” or “id”: call the column with the user ids “userId”',
  ],
  ['name,Customer ID\nAda,c1', '“name” or “Customer ID”'],
  ['order_id,email,name\n7,a@b.example,Ada', '“order_id” or “email”'],
  ['userId,name,User ID\nada,Ada,bob', '“userId” or “User ID”'],
  [',name,userId\n1,Ada,ada', 'Column 1 has no name in the first row'],
  // Of all who get it, one would read “Hi ,”.
  ['id,name\nada,Ada\nbob,', 'Row 3 has no “name”, which your texts use'],
  // Without a row of names, the first user would be left out.
  ['ada,Ada\nbob,Bob', 'No column is called “name”: the names are in the first row'],
])('%j is refused: %s', (table, issue) => {
  expect(tableIssue(table, ['name'])).toMatch(issue);
});

test.each([
  'referredBy,userId,name',
  'name,user_id',
  'customerId,User ID,name',
  'id,USERID,name',
  'orderId,name,"User  IDs"',
  'name,user-id',
])(
  'in a table with the columns %s, the user ids are those of the one that is called so',
  (header) => {
    const cells = header.split(',').map((name) => (/^"?user/i.test(name) ? 'ada' : 'x'));
    const { recipients, issue } = readTable([header, cells.join(',')].join('\n'));
    expect([issue, recipients[0]!.userId, Object.values(recipients[0]!.values!)]).toEqual([
      undefined,
      'ada',
      cells.filter((cell) => cell === 'x'),
    ]);
  },
);

test.each(['id,orderId', 'email,customerId', 'ada,name', 'Kunde,paid,grid', 'uid,external_id'])(
  'with the columns %s, the user ids are those of the first',
  (header) => {
    expect(
      readTable([header, 'ada,1,2'.slice(0, 2 * header.split(',').length + 1)].join('\n')),
    ).toMatchObject({
      idName: header.split(',')[0],
      recipients: [{ userId: 'ada' }],
    });
  },
);

test('an empty cell of a column that no text uses is no fault', () => {
  expect(tableIssue('id,name,note\nada,Ada,', ['name'])).toBeUndefined();
});

test('every table that is quoted as RFC 4180 has it is read as it is', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', '\t', ';', '\n', ' ', '{') });
  // Blanks around a cell mean nothing.
  const value = cell.map((text) => `x${text}x`);
  const rows = fc.array(fc.tuple(value, value), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(rows, (given) => {
      const quoted = given.map((cells) =>
        cells.map((text) => `"${text.replaceAll('"', '""')}"`).join(','),
      );
      expect(readTable(['id,name', ...quoted].join('\n')).recipients).toEqual(
        given.map(([userId, name]) => ({ userId, values: { name } })),
      );
    }),
  );
});
