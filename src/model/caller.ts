/**
 * The party that a request comes from. Every door passes one to every call of a service or of the engine; there is no
 * default, so code that omits it does not compile. Today the only caller is the local one: a client that
 * can reach the server may call everything. Users, tenants and tokens become further kinds of this union.
 */
export type Caller = LocalCaller

export interface LocalCaller {
  readonly kind: 'local'
  /** Shown in logs. */
  readonly name: string
}

export const LOCAL_CALLER: Caller = { kind: 'local', name: 'local' }
