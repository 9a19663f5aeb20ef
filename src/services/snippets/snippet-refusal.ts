import { type Fault, FaultError } from '../../base/fault.ts'

/**
 * What a snippet was refused for, where interfaces have a word of their own for it. `language` and `version`: nobody here
 * knows it; `no-worker`: known, but no live worker has it; `key`: the idempotency key stands for another request;
 * `callback`: not an address that is called from here; `network`: the operator does not grant one.
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
