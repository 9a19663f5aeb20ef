/** A table of a settings file, or a layer of settings from another source. */
export type Table = { [name: string]: unknown }

/** Dates are objects, too, but not tables. */
export const isTable = (value: unknown): value is Table =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date)

/** The dotted keys that a layer sets, with their values. */
export function* leavesOf(table: Table, prefix = ''): Generator<readonly [key: string, value: unknown]> {
  for (const [name, value] of Object.entries(table)) {
    if (isTable(value)) yield* leavesOf(value, `${prefix}${name}.`)
    else yield [prefix + name, value]
  }
}

/** Merges the upper layer over the lower one; neither is changed. */
export function overlay(lower: Table, upper: Table): Table {
  const both: Table = { ...lower }
  for (const [name, value] of Object.entries(upper)) {
    const below = both[name]
    both[name] = isTable(below) && isTable(value) ? overlay(below, value) : value
  }
  return both
}

/** Sets a value under a dotted key. */
export function place(table: Table, key: string, value: unknown): void {
  const names = key.split('.')
  const last = names.pop() ?? key
  let at = table
  for (const name of names) {
    const next = at[name]
    const inner: Table = isTable(next) ? next : {}
    at[name] = inner
    at = inner
  }
  at[last] = value
}

/** The value under a dotted key. */
export function pickFields(table: Table, key: string): unknown {
  let at: unknown = table
  for (const name of key.split('.')) at = isTable(at) ? at[name] : undefined
  return at
}
