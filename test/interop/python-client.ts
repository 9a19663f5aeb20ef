import type { ListenAddress } from '../../src/grpc/address.ts'
import { type Fields, type InteropClient, type Outcome, type Trust, targetOf } from './conversation.ts'
import { pythonScript } from './python-script.ts'

interface PythonOutcome {
  readonly id: number
  readonly code: number
  readonly message: string
  readonly answers: readonly string[]
  readonly headers: Fields
  readonly trailers: Fields
  readonly details: string | null
}

export interface PythonClientOptions extends Partial<Trust> {
  readonly maxMetadataBytes?: number
}

/** A client on gRPC's C core. */
export function pythonClient(address: ListenAddress, options: PythonClientOptions = {}): InteropClient {
  const waiting = new Map<number, PromiseWithResolvers<Outcome>>()
  const script = pythonScript('client.py', { target: targetOf(address), ...options }, (words) => {
    const { id, answers, details, ...rest } = words as PythonOutcome
    const outcome = {
      ...rest,
      answers: answers.map(fromBase64),
      details: details === null ? undefined : fromBase64(details),
    }
    waiting.get(id)?.resolve(outcome)
    waiting.delete(id)
  })
  script.gone.finally(() => {
    for (const { reject } of waiting.values()) reject(new Error('client.py ended before the call did'))
  })
  let last = 0
  return {
    converse(conversation) {
      const messages = conversation.messages.map((message) => Buffer.from(message).toString('base64'))
      const outcome = Promise.withResolvers<Outcome>()
      waiting.set(++last, outcome)
      script.tell({ ...conversation, messages, id: last })
      return outcome.promise
    },
    close: () => script.close(),
  }
}

const fromBase64 = (text: string): Buffer => Buffer.from(text, 'base64')
