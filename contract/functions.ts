import { type FunctionFacts, type OtherVariable, pushing, small } from './function-facts.ts';
import { type Route, type RouteName, routes } from './routes.ts';
import { type TableName, type TableVariable, tableVariables } from './tables.ts';
import { sliceTimeline } from './timeline.ts';

const ofEveryRoute = {
  tables: { projects: ['GetItem'], rateLimits: ['UpdateItem'] },
  variables: ['RATE_LIMIT_PER_MINUTE', 'ORIGIN_SECRET_HASHES', 'REQUIRE_ORIGIN_SECRET'],
} as const;

const others = {
  /** Only send invokes it. */
  deliver: {
    ...pushing,
    timeoutMs: sliceTimeline.timeoutMs,
    tables: { ...pushing.tables, usage: ['UpdateItem'] },
  },
  /** Its page is public, and calls the routes with the key of its user. */
  console: {
    ...small,
    tables: {},
    variables: ['ORIGIN_SECRET_HASHES', 'REQUIRE_ORIGIN_SECRET'],
  },
} as const satisfies Readonly<Record<string, FunctionFacts>>;

/** Every function: one for each route, deliver and console. */
export type FunctionName = RouteName | keyof typeof others;

function functionOf(route: Route): FunctionFacts {
  const {
    memoryMb,
    timeoutMs,
    reportsInvocations,
    tables,
    variables = [],
  } = { ...small, ...route };
  return {
    memoryMb,
    timeoutMs,
    ...(reportsInvocations && { reportsInvocations }),
    tables: { ...ofEveryRoute.tables, ...tables },
    variables: [...ofEveryRoute.variables, ...variables],
  };
}

const ofRoutes = Object.fromEntries(
  Object.values(routes).map((route) => [route.name, functionOf(route)]),
) as Readonly<Record<RouteName, FunctionFacts>>;

export const functions: Readonly<Record<FunctionName, FunctionFacts>> = { ...ofRoutes, ...others };

export const functionNames = Object.keys(functions) as readonly FunctionName[];

type Rows = typeof routes & typeof others;
type Named<Tables> = (typeof tableVariables)[keyof Tables & TableName];

/** The variables that the functions of all routes read. */
export type RouteVariable =
  | (typeof ofEveryRoute)['variables'][number]
  | Named<typeof ofEveryRoute.tables>;

type Listed<Row> = Row extends { readonly variables: readonly (infer Name extends OtherVariable)[] }
  ? Name
  : never;

/** The variables that a function reads. */
export type VariableOf<Name extends FunctionName> =
  | Listed<Rows[Name]>
  | (Rows[Name] extends { readonly tables: infer Tables } ? Named<Tables> : never)
  | (Name extends RouteName ? RouteVariable : never);

export function variablesOf<Name extends FunctionName>(name: Name): readonly VariableOf<Name>[] {
  const { tables, variables } = functions[name];
  const named = (Object.keys(tables) as TableName[]).map((table) => tableVariables[table]);
  const all: readonly (TableVariable | OtherVariable)[] = [...named, ...variables];
  return all as readonly VariableOf<Name>[];
}
