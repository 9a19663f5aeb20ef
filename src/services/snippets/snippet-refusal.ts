import { type Fault, FaultError } from '../../base/fault.ts'

/**
 * Reasons of a refusal that have their own code. `language` and `version`: unknown here; `no-worker`: known, but no
 * live worker offers it; `key`: the idempotency key belongs to another request; `callback`: the server must not call
 * the address; `network`: the operator does not grant it.
 */
export type RefusalReason = 'language' | 'version' | 'no-worker' | 'key' | 'callback' | 'network'

const KINDS = {
  language: 'invalid',
  version: 'invalid',
  'no-worker': 'unavailable',
  key: 'invalid',
  callback: 'invalid',
  network: 'denied',
} as const satisfies Record<RefusalReason, Fault['kind']>

export class SnippetRefusal extends FaultError {
  readonly reason: RefusalReason

  constructor(reason: RefusalReason, what: string) {
    super({ kind: KINDS[reason], what })
    this.reason = reason
  }
}
