/** DynamoDB's expressions, as far as the stores use them. */

export type Item = Record<string, unknown>;

export interface Names {
  readonly names?: Readonly<Record<string, string>> | undefined;
  readonly values?: Readonly<Record<string, unknown>> | undefined;
}

type Evaluate<Result> = (item: Item, names: Names) => Result;
type Condition = Evaluate<boolean>;
type Update = (item: Item, before: Item, names: Names) => void;

const conditions = new Map<string, Condition>();
const updates = new Map<string, Update>();

/** Whether an item matches a condition or a key condition. */
export function matches(expression: string, item: Item, names: Names): boolean {
  let condition = conditions.get(expression);
  if (condition === undefined) {
    condition = new Parser(expression).condition();
    conditions.set(expression, condition);
  }
  return condition(item, names);
}

/** Changes the item. */
export function update(expression: string, item: Item, names: Names): void {
  let change = updates.get(expression);
  if (change === undefined) {
    change = new Parser(expression).update();
    updates.set(expression, change);
  }
  change(item, { ...item }, names);
}

/** Less than, equal to or greater than 0. @throws if the values cannot be compared. */
export function compare(left: unknown, right: unknown): number {
  if (typeof left === 'number' && typeof right === 'number') return left - right;
  if (typeof left === 'string' && typeof right === 'string') {
    return left < right ? -1 : left > right ? 1 : 0;
  }
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  return Number.NaN;
}

class Parser {
  readonly #expression: string;
  readonly #tokens: readonly string[];
  #next = 0;

  constructor(expression: string) {
    this.#expression = expression;
    this.#tokens = expression.match(/[#:]?\w+(?:\.#?\w+)*|<=|>=|<>|[()=<>,+-]/g) ?? [];
  }

  condition(): Condition {
    const condition = this.#or();
    if (this.#next < this.#tokens.length) this.#fail();
    return condition;
  }

  update(): Update {
    const changes: Update[] = [];
    while (this.#next < this.#tokens.length) {
      const clause = this.#take();
      do {
        if (clause === 'SET') changes.push(this.#set());
        else if (clause === 'ADD') changes.push(this.#add());
        else if (clause === 'REMOVE') changes.push(this.#remove());
        else this.#fail();
      } while (this.#takeIf(','));
    }
    return (item, before, names) => {
      for (const change of changes) change(item, before, names);
    };
  }

  #or(): Condition {
    const parts = [this.#and()];
    while (this.#takeIf('OR')) parts.push(this.#and());
    return (item, names) => parts.some((part) => part(item, names));
  }

  #and(): Condition {
    const parts = [this.#comparison()];
    while (this.#takeIf('AND')) parts.push(this.#comparison());
    return (item, names) => parts.every((part) => part(item, names));
  }

  #comparison(): Condition {
    if (this.#takeIf('(')) {
      const inner = this.#or();
      this.#expect(')');
      return inner;
    }
    const next = this.#tokens[this.#next];
    if (next === 'attribute_exists' || next === 'attribute_not_exists') {
      this.#next += 1;
      const exists = next === 'attribute_exists';
      const [operand] = this.#arguments(1);
      return (item, names) => (operand!(item, names) !== undefined) === exists;
    }
    if (next === 'begins_with') {
      this.#next += 1;
      const [whole, start] = this.#arguments(2);
      return (item, names) => String(whole!(item, names)).startsWith(String(start!(item, names)));
    }
    if (next === 'contains') {
      this.#next += 1;
      const [list, element] = this.#arguments(2);
      return (item, names) => {
        const elements = (list!(item, names) ?? []) as readonly unknown[];
        return elements.includes(element!(item, names));
      };
    }
    const left = this.#operand();
    const operator = this.#take();
    const right = this.#operand();
    if (operator === 'BETWEEN') {
      this.#expect('AND');
      const most = this.#operand();
      return (item, names) =>
        compare(left(item, names), right(item, names)) >= 0 &&
        compare(left(item, names), most(item, names)) <= 0;
    }
    const test = comparisons[operator];
    if (test === undefined) this.#fail();
    return (item, names) => test(compare(left(item, names), right(item, names)));
  }

  #set(): Update {
    const attribute = this.#attribute();
    this.#expect('=');
    const first = this.#value();
    const sign = this.#takeIf('+') ? 1 : this.#takeIf('-') ? -1 : 0;
    const second = sign === 0 ? undefined : this.#value();
    return (item, before, names) => {
      const value = first(before, names);
      if (value === undefined) throw new Error(`${this.#expression}: an operand is missing.`);
      const { owner, name } = placeOf(item, attribute(names));
      owner[name] =
        second === undefined ? value : Number(value) + sign * Number(second(before, names));
    };
  }

  #add(): Update {
    const attribute = this.#attribute();
    const value = this.#value();
    return (item, before, names) => {
      const name = attribute(names);
      item[name] = Number(before[name] ?? 0) + Number(value(before, names));
    };
  }

  #remove(): Update {
    const attribute = this.#attribute();
    return (item, _, names) => {
      const { owner, name } = placeOf(item, attribute(names));
      delete owner[name];
    };
  }

  #value(): Evaluate<unknown> {
    if (!this.#takeIf('if_not_exists')) return this.#operand();
    const [present, otherwise] = this.#arguments(2);
    return (item, names) => present!(item, names) ?? otherwise!(item, names);
  }

  #arguments(number: number): Evaluate<unknown>[] {
    this.#expect('(');
    const operands = [this.#operand()];
    while (this.#takeIf(',')) operands.push(this.#operand());
    this.#expect(')');
    if (operands.length !== number) this.#fail();
    return operands;
  }

  #operand(): Evaluate<unknown> {
    const token = this.#tokens[this.#next];
    if (!token?.startsWith(':')) {
      const attribute = this.#attribute();
      return (item, names) => item[attribute(names)];
    }
    this.#next += 1;
    return (_, { values }) => {
      const value = values?.[token];
      if (value === undefined) throw new Error(`${this.#expression}: ${token} is missing.`);
      return value;
    };
  }

  #attribute(): (names: Names) => string {
    const token = this.#take();
    if (!/^#?\w+(\.#?\w+)*$/.test(token)) this.#fail();
    const parts = token.split('.');
    return ({ names }) =>
      parts
        .map((part) => (part.startsWith('#') ? (names?.[part] ?? this.#fail()) : part))
        .join('.');
  }

  #take(): string {
    const token = this.#tokens[this.#next];
    if (token === undefined) this.#fail();
    this.#next += 1;
    return token;
  }

  #takeIf(token: string): boolean {
    if (this.#tokens[this.#next] !== token) return false;
    this.#next += 1;
    return true;
  }

  #expect(token: string): void {
    if (!this.#takeIf(token)) this.#fail();
  }

  #fail(): never {
    throw new Error(`Not understood, at "${this.#tokens[this.#next]}": ${this.#expression}`);
  }
}

/** Where an attribute is stored: in the item, or in a map of it, which is copied before it changes. */
function placeOf(item: Item, path: string): { readonly owner: Item; readonly name: string } {
  const [first, second] = path.split('.');
  if (second === undefined) return { owner: item, name: first! };
  const owner = { ...(item[first!] as Item) };
  item[first!] = owner;
  return { owner, name: second };
}

const comparisons: Readonly<Record<string, (order: number) => boolean>> = {
  '=': (order) => order === 0,
  '<>': (order) => order !== 0,
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};
