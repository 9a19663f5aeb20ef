/** The result of a port that a local driver returns at once and a remote driver returns later. Callers await it. */
export type Awaitable<T> = T | Promise<T>
