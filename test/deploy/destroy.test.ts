import { sharedAssembly } from '../fixtures/assembly.ts';
import { useAccount } from './fixtures/account.ts';
import { physicalId } from './fixtures/cloudformation.ts';

const account = useAccount();
beforeEach(() => account.aws.deploy(sharedAssembly));

const destroy = 'npm run -s deploy -- --destroy';

test('the command says what goes and what stays before it deletes anything', async () => {
  const { aws, operator } = account;
  const stack = aws.cloudFormation.find('Carillon')!;
  const refused = await operator.run(destroy, { answers: [['eu-west-1? [y/N] ', 'n']] });
  expect(refused.code).toBe(1);
  expect(refused.output).toMatch(/Deletes \d+ resources: the API with its address/);
  // Also those on the second page of CloudFormation's list.
  const kept = Object.entries(stack.template.Resources).filter(([, { DeletionPolicy }]) =>
    DeletionPolicy?.startsWith('Retain'),
  );
  expect(refused.output).toContain(`Keeps ${kept.length} resources`);
  for (const [id] of kept) expect(refused.output).toContain(` ${physicalId(stack, id)} `);
  expect(refused.output).not.toContain('undefined');
  expect({ status: stack.status, isProtected: stack.isProtected }).toEqual({
    status: 'CREATE_COMPLETE',
    isProtected: true,
  });

  const { code, output } = await operator.run(destroy, { answers: [['eu-west-1? [y/N] ', 'y']] });
  expect(output).toContain('Carillon is deleted.');
  expect(code).toBe(0);
  expect(stack.status).toBe('DELETE_COMPLETE');
});

test('a deletion that fails says so', async () => {
  account.aws.cloudFormation.failures.Dashboard = 'It is in use.';
  const { code, output } = await account.operator.run(`${destroy} --yes`);
  expect(output).toContain('Carillon is DELETE_FAILED: It is in use.');
  expect(code).toBe(1);
});

test('the command says that a stage without retention loses its data', async () => {
  const { Resources } = account.aws.cloudFormation.find('Carillon')!.template;
  for (const resource of Object.values(Resources)) {
    Object.assign(resource, { DeletionPolicy: 'Delete' });
  }
  const { code, output } = await account.operator.run(`${destroy} --yes`);
  expect(output).toContain('Deletes all of it, with its tables');
  expect(code).toBe(0);
});

test('a stack that does not exist is not deleted', async () => {
  const { code, output } = await account.operator.run(`${destroy} --stage eu`);
  expect(output).toContain('Carillon-eu does not exist in eu-west-1.');
  expect(code).toBe(1);
});
